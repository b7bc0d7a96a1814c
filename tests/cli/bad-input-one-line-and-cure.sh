#!/bin/sh
# ASSERTION: whatever is wrong with what one asks for, dtprof answers with
# one line of what and why, one line of cure and status 125 (record) or 2,
# before it opens anything, leaves no file behind and takes none, and never
# ends with what the kernel or its verifier said.  Easy to get wrong where a
# failure comes late, with the file already there.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
mkdir empty
cd empty || fail "no directory"

# status, pattern of what, pattern of cure, command
refused()
{
	want=$1 what=$2 cure=$3
	shift 3
	expect "$want" "$DTPROF" "$@"
	[ "$(wc -l <"$tmp/err")" -eq 2 ] ||
	    fail "not two lines for $*: $(cat "$tmp/err")"
	sed -n 1p "$tmp/err" | grep -Eq "^dtprof: $1: .*$what" ||
	    fail "what for $*: $(cat "$tmp/err")"
	sed -n 2p "$tmp/err" | grep -Eq "^dtprof: hint: .*$cure" ||
	    fail "cure for $*: $(cat "$tmp/err")"
	grep -Eq 'errno|E[A-Z]{4,}|libbpf|verifier|-[0-9]+$|R[0-9]+ (type|!)' \
	    "$tmp/err" && fail "raw words for $*: $(cat "$tmp/err")"
	[ ! -s "$tmp/out" ] || fail "something on standard output for $*"
	[ -z "$(ls -A)" ] || fail "left behind by $*: $(ls -A)"
	ok "$*"
}

r='record -q'
# shellcheck disable=SC2086 # words
{
refused 125 'cpu-clok.: no such' 'mean .cpu-clock' $r -e cpu-clok -- true
refused 125 "cannot open event 'nonsense_event_x'" 'list' \
    $r -e nonsense_event_x -- true
refused 125 'freq 0: out of range' 'default 999' $r -F 0 -- true
refused 125 'Hz.*kernel.perf_event_max_sample_rate' 'sysctl' \
    $r -e cpu-clock -F 900000000 -- true
refused 125 'period of 1 ns' '10us' $r -e cpu-clock -c 1 -- true
refused 2 'from 5q: not a time' 'use a time, e.g. 10s, 500ms or -10s' \
    report --from 5q
refused 125 'count 0: out of range' '1 or more' $r -c 0 -- true
refused 125 'max-overhead 0: out of range' '0.001 to 100' \
    $r --max-overhead 0 -- true
refused 125 '999999999: out of range' 'each from 1 to' $r -p 999999999
refused 125 'pid init: not a list' 'pgrep -d, NAME' $r -p init
refused 125 'no process 4194304' 'ps' $r -e cpu-clock -p 4194304
refused 125 'no thread 4194304' 'ps' $r -e cpu-clock -t 4194304
refused 125 'filter column 4' '==' $r -e cpu-clock --filter pid=1 -- true
refused 125 'filter column 1' 'pid' $r -e cpu-clock --filter no==1 -- true
refused 125 'filter column 1' 'pid' $r -e cpu-clock --comm x --filter no==1 \
    -- true
refused 125 'cgroup' 'cgroup2' $r -e cpu-clock --cgroup /nonexistent
refused 125 'cpu 65535 is not online' 'online' $r -e cpu-clock -a -C 65535
refused 125 'no such directory' 'directory' \
    $r -e cpu-clock -o /nonexistent/x.dtp -- true
refused 125 'no space left' 'space' $r -e cpu-clock -o /dev/full -- true
refused 125 'directory cannot be written' 'directory' \
    $r --ring 1M -o /nonexistent/%n.dtp -- true
refused 125 'dump cannot be written to standard output' 'file' \
    $r --ring 1M --dump-max 1 -o - -- true
refused 125 'max-size cannot be used with --ring' 'leave out' \
    $r --ring 1M --max-size 1M -- true
refused 125 'ring 10m: not a size' '8M' $r --ring 10m -- true
refused 125 'max-stall 1s: out of range' '2s to 365d, e.g. 10s \(default' \
    $r --max-stall 1s -- true
refused 125 'how a process ended is not known without BPF' 'leave out' \
    $r --backend perf --dump-on crash -e cpu-clock -- false
refused 125 'nothing to record' '-a' $r
refused 125 "invalid time '5'" 'min=TIME' $r -e off-cpu/min=5/ -- true
refused 125 "lock: no setting 'x'" 'use lock, ' $r -e lock/x=1/ -- true
refused 125 'off-cpu has no modifier' 'counters' $r -e off-cpu:u -- true
refused 125 'off-cpu: .* not on a CPU' 'leave -C out' $r -e off-cpu -a -C 0
refused 125 'off-cpu: counters do not' '--with' \
    $r -e off-cpu --with task-clock -- true
refused 125 "wall: a wall event has no setting 'min'" 'freq=HZ' \
    $r -e wall/min=5ms/ -- true
refused 125 "wall: invalid frequency '1001'" '1 to 1000' \
    $r -e wall/freq=1001/ -- true
refused 125 'wall: only one event' 'or one -e wall' \
    $r --wall -e cpu-clock -e wall/freq=5/ -- true
refused 125 'exclude each other' 'one of these' $r -a -p 1
refused 125 '-C' '-a' $r -C 0 -- true
refused 125 '-F and -c exclude' 'one of these' $r -F 99 -c 99 -- true
refused 125 '-g and --call-graph none' 'leave' $r -g --call-graph none -- true
refused 125 'unknown method' 'auto, fp, none, dwarf' \
    $r --call-graph magic -- true
refused 125 'invalid size' '1K to 63K' $r --call-graph dwarf,1G -- true
refused 125 '--verify' 'leave' $r --verify --call-graph fp -- true
refused 125 'buffer 1K: out of range' '64K to 1024M|64K to 1G' \
    $r --buffer 1K -- true
refused 125 'cgroup-switches.*neither of the two threads' 'stat' \
    $r -e cpu-clock --with cgroup-switches -- true
refused 125 "duplicate event 'cpu-clock'" 'once' \
    $r -e cpu-clock,cpu-clock -- true
refused 125 'empty event name' 'list' $r -e cpu-clock,, -- true
refused 125 'missing argument' '-o FILE' record -o
refused 125 'duratoin: no such option' 'did you mean --duration' \
    $r --duratoin 1s
refused 127 'nosuchcommand: command not found' 'PATH' \
    $r -e cpu-clock -- nosuchcommand
refused 126 'cannot execute ./etc/passwd' 'path' $r -e cpu-clock -- /etc/passwd
refused 1 'no such file' 'record' script nosuch.dtp
refused 1 'not a dtprof recording' 'name' report /etc/passwd
refused 2 "too many operands: 'b'" 'dtprof import --help' import a b
refused 1 'a: no such file' 'record' report a b
refused 2 'no output file' '-o FILE' merge a b
refused 2 'format svg: invalid' 'dtprof flamegraph -o x.svg' \
    export --format svg
refused 2 '--stats cannot.*CSV' '--json' report --stats --csv
refused 2 '--plot excludes --json' 'tsv' report --stats --plot heatmap
for choice in '-e cycles' '--filter pid==1' '--between m,n' '--from 1s' \
    '--callers f' '--limit 5'; do
	# shellcheck disable=SC2086 # an option and its value
	refused 2 '--stats cannot be limited' 'whole recording' \
	    report --stats $choice
done
for choice in --callers --callees; do
	refused 2 'plot excludes --callers' 'filter' \
	    report --plot rates $choice f
done
refused 2 'plot excludes --callers' 'filter' report --plot rates --limit 5
echo 'main;work 5' >"$tmp/inlined.folded"
refused 1 '--callers zzzzzz: no such function' 'dtprof report --inline' \
    report --callers zzzzzz "$tmp/inlined.folded"
for kind in --json --csv --stats --children; do
	refused 2 '-o requires --plot' '> FILE' report $kind -o x.out
done
for kind in --json --source; do
	refused 2 '-o requires --html' '> FILE' annotate $kind -o x.out f
done
[ ! -e x.out ] || fail "a refused command leaves a file"
refused 2 'unknown output format' '[.]svg, [.]png or [.]tsv' \
    report --plot heatmap -o x.gif a
refused 2 'unknown output format' '[.]svg or [.]png' \
    compare --plot x.gif a -- b
refused 2 'separate base and new' 'BASE -- NEW' compare a -- b -- c
refused 2 "--rename x: missing '='" 'OLD=NEW' compare --rename x a -- b
refused 2 "--rename x: missing '='" 'OLD=NEW' \
    flamegraph --rename x --base a b
for command in report script export flamegraph; do
	refused 2 'two input files' 'only one' "$command" -i a b
done
refused 2 'two input files' 'only one' annotate -i a main b
for command in report export flamegraph script; do
	refused 2 'between excludes --from' 'markers or by time' \
	    "$command" --between m,n --from 1s a
	refused 2 '--to is not after' 'relative to the start' \
	    "$command" --from 2s --to 1s a
done
refused 2 '--to is not after' 'relative to the start' \
    flamegraph --base-from 2s --base-to 1s a
refused 2 'limit 0: out of range' '1 or more' script --limit 0
refused 2 'show all,none: invalid argument' 'samples,markers' \
    script --show all,none
refused 1 'no such probe' 'list' list 'nonsense:*'
refused 2 'missing marker text' 'give a text' mark
refused 1 '4194304 is not a recorder of this user' 'record' \
    mark --recorder 4194304 x
}
expect 2 "$DTPROF" recrod
expect_err 'did you mean record'
expect 2 "$DTPROF"
expect_err 'no command given'
expect 2 "$DTPROF" ./a.out
expect_err 'dtprof record PROGRAM'
ok "a command that is misspelt or missing, or a program"

cd "$tmp" || fail "no way back"
printf 'main;work 5\n' >x.folded
expect 0 "$DTPROF" import -q -o x.dtp x.folded
expect 1 "$DTPROF" import -o y.dtp x.dtp
expect_err 'already a recording'
expect_err 'hint: .*dtprof report'
rm x.folded x.dtp
ok "a recording is not imported"

# The recording that is there, and the one before, outlive what fails.
mkdir two
for n in 1 2; do
	echo "main $n" >folded
	expect 0 "$DTPROF" import -q -o two/x.dtp folded
done
echo 'buy bread' >notes
before=$(cksum two/*)
spares()	# status argument ...
{
	want=$1
	shift
	expect "$want" "$DTPROF" "$@"
	[ "$(cksum two/*)" = "$before" ] || fail "$*: was $before;
is $(cksum two/*)"
}
spares 1 import -o two/x.dtp notes
spares 127 record -q -e cpu-clock -o two/x.dtp -- ./typo
spares 126 record -q -e cpu-clock -o two/x.dtp -- /etc/passwd
spares 125 record -q -e cpu-clok -o two/x.dtp -- true
ok "both recordings that were there are there after what failed"
