#!/bin/sh
# ASSERTION: a hundred command lines of perf, typed as they are with dtprof in
# perf's place, either do what they say or name the line to type, and every
# command that is named exists.  Easy to get wrong: a hint that names an option
# that was renamed.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
PATH=$B:$PATH
export PATH
expect 0 dtprof record -q -o dtprof.dtp -- seq 200000
expect 0 dtprof record -q -o old.dtp -- seq 200000

# "works", or a part of the hint.
cat >lines <<'END'
record -g -- true | works
record -F 99 -g -- true | works
record -F99 -ag -- true | works
record -z -- true | works
record -R -T -s -N -- true | works
record -i -- true | works
record --all-user -- true | works
record --exclude-perf --timestamp -- true | works
record -e cpu-clock -c 1000000 -- true | works
record --call-graph dwarf -- true | works
record --call-graph=fp -- true | works
record -D 100 -- true | works
record -m 512 -- true | --buffer SIZE
record -u root | pgrep -d, -u USER
record -b -- true | -g records stacks
record -d -- true | does not record
record --all-kernel -- true | cpu-clock:k
record --overwrite -- true | works
record --switch-output=1s -- true | works
record --switch-output=signal -o plain -- true | works
record --overwrite --switch-output=signal -o plain -- true | works
record --overwrite --switch-output=1s -- true | --dump-on
report --stdio | works
report --stdio --no-children -g none | works
report -n --stdio | works
report --no-children | works
report --call-graph=none | works
report -g caller | --callers or --callees
report --sort comm,dso | --by
report -s symbol | --by
report --percent-limit 1 | --limit N
report --comms sh | --filter
report -F overhead,sym | --by
report -i dtprof.dtp | works
script | works
script -i dtprof.dtp | works
script -F comm,pid,ip,sym | --json
annotate --stdio -s main | dtprof annotate NAME
stat -e page-faults -- true | works
stat -r 2 -- true | works
stat -x, -e page-faults -- true | works
stat -x ';' -- true | --csv
stat -d -- true | dtprof list --counters
stat -a -e page-faults -- true | works
stat --timeout 100 -a | --duration TIME
list | works
list 'sched:*' | works
top | dtprof record -a
sched record | dtprof record -e sched:sched_switch
lock record | lock:contention_begin
probe -a do_sys_open | dtprof list
mem record | counters
c2c record | dtprof report
diff old.dtp dtprof.dtp | dtprof compare
timechart | dtprof report --plot timeline
evlist | dtprof report --stats
kmem record | kmem:*
ftrace | dtprof script
record -B -T -P --sample-cpu -- true | works
record --no-buffering --running-time -- true | works
record --affinity cpu --aio -- true | works
record -k mono -- true | works
record -k boottime -- true | CLOCK_MONOTONIC
record -j any,u -- true | -g records stacks
record --user-regs=ip -- true | registers
record -n -- true | dtprof stat
record --max-size=10M -- true | works
record --off-cpu --off-cpu-thresh 500 -- true | works
record --per-thread -p 1 | --attach tasks
record -r 10 -- true | chrt
record --switch-events -- true | sched:sched_switch
record --control fd:3 -- true | dtprof ctl
record --user-callchains -- true | --user-only
record -e '{page-faults,task-clock}:S' -- true | --with COUNTER
report -f -i old.dtp | works
report --show-total-period --group | works
report --header-only | dtprof report --stats
report --hierarchy | --tree
report -G | --tree
report -C 0 | --filter cpu==N
report --pid 1 | --filter pid==N
report --time 0,1 | --from TIME and --to TIME
report -T | --by tid
report -t ';' | --csv
report -D | dtprof script --show all
report -k vmlinux | contains its symbols
report -b | does not record branches
report -S main | --callers
report -U | leave out this option
report --max-stack 5 | --tree
script --ns -f | works
script -G | --no-symbols
script -c sh | --filter
script --time 0,1 | --from TIME and --to TIME
script --show-task-events | --show samples,process-events
script --show-mmap-events | --show samples,mapping-events
script -s x.py | --json
script --header | dtprof report --stats
script flamegraph | dtprof flamegraph
script record syscall-counts | dtprof record
annotate -M intel main | objdump
annotate -d libc.so.6 main | MODULE:FUNCTION
stat --no-big-num -e page-faults -- true | works
stat -B -e page-faults -- true | no separators
stat -j -e page-faults -- true | works
stat --per-core -a true | -C CPU
stat --topdown -a true | cycles,instructions
stat -n -- true | task-clock
stat --pre true -- true | --prepare CMD
stat -g -e page-faults -- true | braces
stat -D 100 -- true | dtprof stat -p PID
stat --interval-count 3 -- true | --duration TIME
stat -v -- true | leave out this option
stat record -- true | dtprof stat --json
bench sched messaging | dtprof bench 'OLD' 'NEW'
list --long-desc 'sched:*' | works
list hw | pmc:::*
list tracepoint | static:*
test | dtprof doctor
inject -j | not needed
data convert --to-json x | dtprof export
kvm stat | kvm:*
kwork report | workqueue:*
iostat | block:*
kallsyms do_exit | /proc/kallsyms
END
n=0
while IFS='|' read -r line want; do
	want=${want# }
	eval "dtprof $line" >out 2>err </dev/null
	status=$?
	if [ "$want" = works ]; then
		[ $status -eq 0 ] || {
			cat err
			fail "perf $line: status $status"
		}
	else
		[ $status -ne 0 ] || fail "perf $line: succeeds"
		grep -qF -e "$want" err || {
			cat err
			fail "perf $line: does not name '$want'"
		}
	fi
	n=$((n + 1))
done <lines
[ "$n" -ge 100 ] || fail "only $n lines"
ok "$n lines of perf: $(grep -c 'works$' lines) work, the others name ours"

# What the hints name is there.
grep -ohE '(use|then|see|or)( "$|) dtprof [a-z]+( --[a-z-]+)?' \
    "$SRC/cmd/dtprof/opt/habits.c" | sed 's/.*dtprof/dtprof/' | sort -u >named
[ "$(wc -l <named)" -ge 7 ] || fail "hints name only $(cat named)"
while read -r _ command option; do
	dtprof "$command" --help >help 2>&1 || fail "no command $command"
	[ -z "$option" ] || grep -q -e "$option" help ||
	    fail "dtprof $command has no $option"
done <named || exit 1
ok "the commands and options that hints name are there"

# Of two recordings they are whole command lines.
for name in OLD NEW; do
	expect 0 dtprof record -q -o $name.dtp -- "$B/tests/work/spin" 100
done
dtprof diff 2>&1 | grep -oE 'dtprof (compare|flame)[^,]*NEW.dtp' >whole
[ "$(wc -l <whole)" -eq 2 ] || fail "diff names only $(cat whole)"
while read -r line; do
	# shellcheck disable=SC2086 # a command line
	expect 0 $line </dev/null
done <whole
ok "the hint for diff works as it is"
