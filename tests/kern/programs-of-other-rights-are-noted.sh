#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: an ordinary user who records a command that executes a program
# with other rights (set-user-ID) is told that the kernel has removed its
# events, and how many programs that were; the processes before and after it
# have their samples, and the program has not exited in the recording, because
# it runs on.  The same program without that bit has samples and no note.  stat
# says how much of the command's CPU time it has not counted.
#
# Easy to get wrong: the kernel says only that the task has ended.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_root
need_cmd python3
need_perf
tmpdir
chmod 777 .

cp "$work/spin" before && cp "$work/spin" other || fail "no copy"
record_it()	# file
{
	as_user "$DTPROF" record --backend perf -o "$1" -F 999 -e cpu-clock:u \
	    -- sh -c './before 100; ./other 100; ./before 100' \
	    >"$tmp/out" 2>"$tmp/err" </dev/null || {
		cat "$tmp/err"
		fail "status $? of a recording as an ordinary user"
	}
}

stat_it()
{
	as_user "$DTPROF" stat -o counted -e task-clock:u -- sh -c \
	    './before 100; ./other 100; ./before 100' 2>"$tmp/err" </dev/null ||
	    fail "status $? of stat as an ordinary user: $(cat "$tmp/err")"
}

stat_note='counted for .* of CPU time of the command'
note='removed the events of 1 set-user-ID'
record_it plain.dtp
grep -q "$note" "$tmp/err" && fail "said without cause: $(cat "$tmp/err")"
stat_it
grep -q "$stat_note" "$tmp/err" &&
	fail "stat: said without cause: $(cat "$tmp/err")"
chown 0 other && chmod 4755 other
record_it bared.dtp
if ! grep -q "$note" "$tmp/err"; then
	as_user ./other 1 >/dev/null
	findmnt -n -o OPTIONS -T . 2>/dev/null | grep -q nosuid &&
	    skip "set-user-ID has no effect in $tmp"
	fail "not said: $(cat "$tmp/err")"
fi
py <<'END'
import recording as rec

def of(path):
    rows = rec.records(path)
    samples = [r["comm"] for r in rows if r["type"] == "sample"]
    names = {r["pid"]: r["comm"] for r in rows if r["type"] == "exec"}
    ended = [names.get(r["pid"]) for r in rows if r["type"] == "exit"]
    return samples, ended

for path, expected in ("plain.dtp", True), ("bared.dtp", False):
    samples, ended = of(path)
    rec.check(samples.count("before") >= 20, "%s: %r" % (path, samples))
    rec.check((samples.count("other") >= 20) == expected and
              ("other" in ended) == expected,
              "%s: %d samples of the program, exits %r" %
              (path, samples.count("other"), ended))
    rec.ok("%s: %d samples before and after, %d of the program" %
           (path, samples.count("before"), samples.count("other")))
END
stat_it
sed -n "s/.*counted for \([0-9.]*\) s of the \([0-9.]*\) s of CPU .*/\1 \2/p" \
    "$tmp/err" >said
read -r counted ran <said || fail "stat does not say so: $(cat "$tmp/err")"
# Of three equal parts one is missing.
python3 -c "assert 0.5 < $counted / $ran < 0.8" ||
	fail "counted $counted of $ran"
ok "stat: $counted s of $ran s of CPU time were counted"
