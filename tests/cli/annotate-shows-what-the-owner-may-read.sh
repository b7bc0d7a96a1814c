#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: annotate as root shows of a source only what the owner of the
# program could read, of a program of root's only what everybody may: debug
# information may name any file of the machine, and what reads it may be a
# hostile program's by then; and a source that is a pipe or a device is not
# opened.
# Easy to get wrong: root reads everything, its group's files too.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_perf
need_cmd setpriv
tmpdir
chmod 755 .
mkfifo pipe
secret()	# file mode
{
	for n in 1 2 3 4 5 6 7 8 9; do
		echo "secret line $n"
	done >"$1"
	chmod "$2" "$1"
}
secret private 600
secret group 640
secret open 644
build()		# name: a program whose lines are of that file
{
	cat >work.c <<-END
	#include <time.h>
	#line 1 "$tmp/$1"
	int main(void)
	{
		volatile unsigned n = 0;
		while (n < 60000000) n++;
		return (0);
	}
	END
	${CC:-cc} -g -O0 -Wl,--build-id -o "of-$1" work.c || fail cc
}
shown()		# name owner: prints how many of its lines are shown
{
	chown "$2" "of-$1"
	"$DTPROF" record -q -e cpu-clock -c 1000000 -o x.dtp -- "./of-$1" \
	    >out 2>err </dev/null || fail "record: $(cat err)"
	timeout 60 "$DTPROF" annotate --source main x.dtp >out 2>err \
	    </dev/null || fail "annotate of $1: $(cat err)"
	grep -c 'secret line' out
}
for name in private group open; do
	build $name
done
[ "$(shown open 0:0)" -gt 0 ] || fail "root's own program: $(cat out)"
for name in private group; do
	[ "$(shown $name 0:0)" -eq 0 ] ||
	    fail "a file of mode $name is shown of root's program"
done
ok "sources of root's programs are shown where all may read them"
for name in private group; do
	[ "$(shown $name 65534:65534)" -eq 0 ] ||
	    fail "a file of mode $name is shown of another's program"
done
[ "$(shown open 65534:65534)" -gt 0 ] || fail "what all may read: $(cat out)"
ok "of another's program only what he could read"
build pipe
[ "$(shown pipe 65534:65534)" -eq 0 ] && [ "$(shown pipe 0:0)" -eq 0 ] ||
    fail "a pipe"
ok "a pipe is not waited for"

# Its instructions, as objdump sees them: here it tells who and what it is.
mkdir bin
cat >bin/objdump <<'END'
#!/bin/sh
for word; do
	case $word in
	--start-address=0x*) at=${word#*=0x} ;;
	esac
done
printf '  %s:\tuid %s memory %s seconds %s\n' "$at" "$(id -u)" \
    "$(ulimit -v)" "$(ulimit -t)"
END
chmod 755 bin bin/objdump
shown open 65534:65534 >/dev/null
PATH=$tmp/bin:$PATH "$DTPROF" annotate --asm main x.dtp >out 2>err ||
    fail "annotate --asm: $(cat err)"
grep -Eq 'uid 65534 memory [0-9]+ seconds [0-9]+' out ||
    fail "objdump runs as: $(cat out)"
ok "objdump runs as the program's owner, with limits"
