#!/bin/bash
# ASSERTION: every command that the README, the manual and --help show does
# something and exits with 0: the README's in one session, in their order,
# the others each where what they name is there.  Easy to get wrong: a
# command that nobody has typed since an option was renamed.
# Times and numbers of runs are shortened; a counter of hardware is a clock
# where there is none; what opens a browser is not there.
# TIMEOUT: 600
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gcc make perf gnuplot objdump
need_root
need_bpf
tmpdir
ulimit -c 0
commands=$("$DTPROF" help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

# What is not installed everywhere, and what must not open anything.
mkdir bin work
cp "$DTPROF" bin/dtprof
for c in xdg-open:true jq:cat zstd:gzip 'sudo:"$@"'; do
	printf '#!/bin/sh\nexec %s\n' "${c#*:}" >"bin/${c%:*}"
done
chmod +x bin/*
PATH=$tmp/bin:$PATH

shorter()
{
	sed -E -e 's/(--duration) [0-9]+s/\1 400ms/' \
	    -e 's/-r (10|15|20)/-r 1/' -e 's/-I 1000/-I 100/' \
	    -e 's,\./tour 1000000$,./tour 60000,' \
	    -e '/ -r /!s/^dtprof bench (.*[^h])$/dtprof bench -r 2 \1/'
}

# --- the README: lines after "$ ", but for those that other tests run
sed -n 's/^\t\$ //p' "$SRC/README.md" >readme
grep -vxF -e 'sh mk/run.sh demo' -e 'sh mk/run.sh check' \
    -e "PATH=\$PWD/build:\$PATH" readme | shorter >session
[ $(($(wc -l <readme) - $(wc -l <session))) -eq 3 ] ||
    fail "the README begins otherwise than this test knows"
[ "$(wc -l <session)" -ge 12 ] || fail "commands: $(cat readme)"
grep -q "'sh mk/run.sh demo'" "$SRC/tests/accept/bare-root.sh" &&
    grep -q "'sh mk/run.sh check'" "$SRC/tests/accept/bare-root.sh" ||
    fail "nothing runs the two commands on a bare machine"
mkdir -p work/doc
ln -s "$SRC/doc/examples" work/doc/examples
cd work || fail "cd"
while IFS= read -r line; do
	eval "$line" >"$tmp/out" 2>&1 </dev/null || {
		cat "$tmp/out"
		fail "README: $line"
	}
	case $line in
	*'&')	kill_at_end $! ;;
	*'report --limit 2'*) grep -q ' find  ' "$tmp/out" ;;
	*touch*)	grep -q 'fill_cache' "$tmp/out" ;;
	*script*)	grep -q 'wait_for_disk' "$tmp/out" ;;
	*annotate*)	grep -q 'if (keys\[n\] == key)' "$tmp/out" ;;
	*bench*)	grep -q ' find$' "$tmp/out" ;;
	esac || {
		cat "$tmp/out"
		fail "README: $line: shows something else than it says"
	}
done <../session
cd ..
ok "README: $(wc -l <session) commands, and they show what they say"
grep -o '`dtprof [a-z]*' "$SRC/README.md" | sed 's/.* //' | sort -u |
while read -r c; do
	echo "$commands" | grep -qx "$c" || fail "README: dtprof $c"
done || exit 1

# --- the manual and --help: what they name, and then each of them
cat >work/program.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned long sum;
static __attribute__((noinline)) void
parse(unsigned long n)
{
	while (n-- > 0)
		sum += n;
}
static __attribute__((noinline)) void
f(unsigned long n)
{
	while (n-- > 0)
		sum ^= n;
}
int
main(void)
{
	char *page = malloc(1 << 22);
	for (int i = 0; i < 60; i++) {
		parse(4000000);
		f(4000000);
		page[i * 65536] = 1;
	}
	return (page[0] != 1);
}
END
cd work || fail "cd"
gcc -g -O1 -o program program.c || fail "gcc"
ln -s program old
ln -s program new
ln -s program prog
printf 'all:\n\t./program\n' >Makefile
printf '#!/bin/sh\ndtprof mark "warm-up done"\n' >benchmark.sh
chmod +x benchmark.sh
seq 1000 >f
events='-e cpu-clock -e page-faults'
# shellcheck disable=SC2086 # words
for file in dtprof x old new; do
	expect 0 dtprof record -q $events -o $file.dtp -- ./program
done
# Where a filter asks for a field that only system calls have.
expect 0 dtprof record -q -e syscall -o ../calls.dtp -- ./program
for side in old new; do
	expect 0 dtprof bench -r 2 -n prog -o $side.bench ./$side
done
expect 0 dtprof bench -r 2 -o dtprof.bench ./old ./new
expect 0 dtprof bench -r 2 --save main ./prog
expect 0 dtprof bench -r 2 -o ../prog.bench ./prog
expect 0 dtprof bench -r 2 --save main ./old
expect 0 perf record -q --buildid-mmap -e cpu-clock -o perf.data ./program
expect 0 dtprof export -o x.folded x.dtp
expect 0 dtprof export --format pprof -o cpu.pb.gz x.dtp
strict_pprof cpu.pb.gz
cp -r . ../fresh

sleep 1000 &
target=$!
kill_at_end $target
dtprof record -q -o ../background.dtp -e cpu-clock -p $target &
recorder=$!
kill_at_end $recorder
until dtprof mark --recorder $recorder ready >/dev/null 2>&1; do
	kill -0 $recorder 2>/dev/null || fail "nothing records"
done

for c in $commands; do
	dtprof "$c" --help | sed -n '/^examples:/,/^$/p' |
	    sed -n 's/^  \([^ ].*\)/\1/p' | sed 's/   *[^ ].*//'
done >shown
mandoc -T ascii "$SRC/cmd/dtprof/dtprof.1" | col -b | expand |
    sed -n '/^EXAMPLES/,/^DIAGNOSTICS/s/^ \{8,\}\(dtprof .*\)/\1/p' >>shown
[ "$(wc -l <shown)" -ge 45 ] || fail "only: $(cat shown)"
pmu=
"$B/tests/work/can" pmu >/dev/null 2>&1 ||
    pmu='s/cycles,instructions/cpu-clock,task-clock/
	s,cycles/instructions,cpu-clock/page-faults,; s/cycles/cpu-clock/'
sort -u shown | shorter |
    sed "s/mark --recorder 4711/mark --recorder $recorder/" |
    sed "$pmu" >run
# A command; what goes on until Ctrl-C gets it, a recorder when it records.
run_shown()	# line
{
	case $1 in
	*'-p 4711'* | 'dtprof record -a '*--comm*)
		trap '' INT
		eval "exec ${1//4711/$target}" &
		trap 'exit 130' INT
		until [[ $1 != *record* ]] || dtprof mark --recorder $! now; do
			kill -0 $! || break
		done
		while kill -INT $!; do
			sleep 0.2
		done
		wait $! ;;
	# Two runs leave it undecided.
	*--bisect*)
		eval "$1"
		[ $? -eq 125 ] ;;
	*)	eval "$1" ;;
	esac
}

n=0
while IFS= read -r line; do
	# Each finds what was there in the beginning.
	cp -r ../fresh/. .
	case $line in
	*"'ret "* | *"'duration "*) cp ../calls.dtp dtprof.dtp ;;
	*--against*)
		rm -r dtprof.bench
		cp -r ../prog.bench dtprof.bench ;;
	esac
	run_shown "$line" >"$tmp/out" 2>&1 </dev/null || {
		status=$?
		# So few runs are not decided, which is what it says.
		[[ $line = *--bisect* && $status -eq 125 ]] || {
			tail -n 5 "$tmp/out"
			fail "status $status: $line"
		}
	}
	n=$((n + 1))
done <run
ok "manual and --help: $n commands"
