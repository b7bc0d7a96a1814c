#!/bin/sh
# ASSERTION: nothing that was measured is lost: after Ctrl-C, kill -9 with
# half a line written, a command that failed once, or a full disk, the same
# command makes just the runs that are missing, and what there is can be
# compared; commands that are missing or fail end it with the right status.
# Runs of two builds of a program never become one series.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
lines()	# directory
{
	# shellcheck disable=SC2015 # no file: no lines
	[ -e "$1/runs.jsonl" ] && grep -c . "$1/runs.jsonl" || echo 0
}
whole()	# directory runs
{
	json_lines "$1/runs.jsonl" 'sorted(sum(r["command"] == c
	    for r in j) for c in (0, 1))' >got
	[ "$(cat got)" = "[$2, $2]" ] || fail "$1: runs $(cat got)"
}
made_five()
{
	[ "$(lines d)" -ge 5 ]
}
# Begun, and ended by a signal when it has made at least 5 runs; so many are to
# come then that a look that is late by seconds still comes before the last.
begin_and()	# signal
{
	"$DTPROF" bench -w 0 -r 60 -o d 'sleep 0.01' 'sleep 0.011' >o 2>e &
	pid=$!
	kill_at_end $pid
	await "five runs were made" made_five
	kill "-$1" $pid
	wait $pid
	status=$?
	n=$(lines d)
	[ "$n" -ge 5 ] && [ "$n" -lt 120 ] || fail "$n runs before the signal"
	head -n "$n" d/runs.jsonl >before
}
begin_and INT
[ $status -eq 1 ] || fail "status $status after Ctrl-C"
grep -q "interrupted: $n of 120 runs are saved in d" e ||
    { cat e; fail "no word"; }
expect 0 "$DTPROF" compare d
expect_out 'base .*sleep 0.01' 'the runs so far'
expect 0 "$DTPROF" bench -o d
whole d 60
head -n "$n" d/runs.jsonl | cmp - before || fail "what was there has changed"
ok "Ctrl-C after $n of 120 runs, then the rest"

rm -rf d
begin_and KILL
printf '{"command":1,"blo' >>d/runs.jsonl
expect 0 "$DTPROF" bench -w 0 -r 60 -o d 'sleep 0.01' 'sleep 0.011'
expect_err 'the last line is incomplete' 'half a line'
whole d 60
head -n "$n" d/runs.jsonl | cmp - before || fail "what was there has changed"
ok "kill -9 after $n runs and half a line"

expect 0 "$DTPROF" bench -o d -r 61
whole d 61
expect 0 "$DTPROF" bench -w 0 -r 2 -o d true /bin/true
expect_err 'renamed the existing d to d.old' 'another bench makes room'
whole d 2
whole d.old 61
expect 0 "$DTPROF" bench -o d true /bin/true
expect_err 'renamed the existing d to d.old' 'one that is through makes room'
whole d 15
ok "more runs; another bench keeps the old one"

cp "$B/tests/work/spin" prog
expect 0 "$DTPROF" bench -w 0 -r 2 -o b './prog 1' './prog 2'
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
expect 0 "$DTPROF" compare --json b
[ -n "$id" ] && [ "$(json out 'j["comparisons"][0]["build_ids"]')" = \
    "['$id', '$id']" ] || fail "build-ids: $id"
cp "$B/tests/work/can" prog
expect 1 "$DTPROF" bench -r 4 -o b
expect_err 'was rebuilt since' 'another build under the same name'
expect 0 "$DTPROF" bench -w 0 -r 2 --ignore-failure -o b './prog 1' './prog 2'
expect_err 'renamed the existing b to b.old' 'another build makes room'
whole b 2
ok "another build of the program is another bench"

expect 127 "$DTPROF" bench -o n true ./nosuch
expect 126 "$DTPROF" bench -o n true "$tmp"
expect 2 "$DTPROF" bench -o n 'a | b' true
expect 2 "$DTPROF" bench -o n
[ ! -e n ] || fail "a bench that never ran left something behind"
# Fails in its third run, once.
cat >once <<'END'
#!/bin/sh
echo x >>count
[ "$(wc -l <count)" -ne 3 ] || { echo "out of luck" >&2; exit 7; }
END
chmod +x once
expect 1 "$DTPROF" bench -w 0 -r 4 -o f ./once true
expect_err 'status 7: out of luck' 'its last words'
[ "$(lines f)" -ge 2 ] || fail "the runs before are lost"
expect 0 "$DTPROF" bench -o f
whole f 4
rm count
expect 0 "$DTPROF" bench --ignore-failure -w 0 -r 4 -o g ./once true
whole g 4
[ "$(json_lines g/runs.jsonl '[r["status"] for r in j].count(7)')" = 1 ] ||
    fail "the status is not kept"
expect 1 "$DTPROF" bench -o p --prepare 'exit 5' true /bin/true
expect 0 "$DTPROF" bench -S -w 0 -r 2 -o s 'true | true' 'x=1; true $x'
ok "missing, not executable, failing once; -i, -S, --prepare"

if "$B/tests/work/can" perf >/dev/null 2>&1; then
	rm -f count
	cp "$B/tests/work/spin" .
	expect 1 "$DTPROF" bench --record -S -w 0 -r 4 -o r \
	    './once && ./spin 50' './spin 50'
	expect 0 "$DTPROF" bench -o r
	whole r 4
	# The description, the runs, and a profile of each of these.
	[ "$(ls r | wc -l)" -eq 10 ] || fail "in it there are: $(ls r)"
	ok "a run that failed leaves no profile"
fi

expect 0 "$DTPROF" bench -w 0 -r 500 -o many true /bin/true
whole many 500
ok "1000 runs"

[ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null ||
    { ok "no small disk can be mounted here"; exit 0; }
cat >full.sh <<'END'
mkdir small && mount -t tmpfs -o size=16k none small || exit 77
"$1" bench -w 0 -r 50 -o small/d true /bin/true >o 2>e
[ $? -eq 1 ] && grep -q 'No space left' e || { cat e; exit 1; }
n=$(grep -c . small/d/runs.jsonl)
[ "$n" -ge 10 ] && [ -z "$(tail -c 1 small/d/runs.jsonl)" ] ||
    { echo "$n runs, or half a line"; exit 1; }
mount -o remount,size=1m small
"$1" bench -o small/d >o 2>e || { cat e; exit 1; }
[ "$(grep -c . small/d/runs.jsonl)" -eq 100 ] || exit 1
echo "$n"
END
n=$(unshare -m sh full.sh "$DTPROF") || fail "a full disk: $n"
ok "a disk that was full after $n of 100 runs, and then was not"
