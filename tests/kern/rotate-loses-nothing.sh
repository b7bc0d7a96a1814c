#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: record --rotate makes files of which each is readable alone, with
# the processes, mappings and symbols of a program that began before it, and
# with an accounting that balances; the arguments of numbered system calls go on
# from file to file without a gap; --rotate-keep leaves the newest; where no
# file can be made, the recording goes on in the one before, and says so; no
# file takes the name of the one before.
#
# Easy to get wrong: stacks and mappings that only the first file has, samples
# that are stored while files change, an accounting since the start.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

event=syscalls:sys_enter_lseek

expect 0 "$DTPROF" record --rotate 128K -e $event -o 'r.%n.dtp' -- \
    "$work/sequence" 80000 made 1000
py <<'END'
import re
import recording as rec

said = re.findall(r"file (\d+): \S+ \S+, (\d+) samples, .* in (\S+)",
                  open("err").read())
rec.check(len(said) >= 3, "files: %s" % open("err").read())
paths = [path for _, _, path in said] + ["r.%d.dtp" % (len(said) + 1)]
expected = 0
resolved = 0
ended = None
for n, path in enumerate(paths):
    every = rec.records(path)
    got = [r for r in every if r["type"] == "sample"]
    ends = [r for r in every if r["type"] in ("start", "stop")]
    rec.check([r["type"] for r in ends] == ["start", "stop"] and ended in
              (None, ends[0]["time_ns"]), "%s: %s" % (path, ends))
    ended = ends[1]["time_ns"]
    numbers = [s["args"]["offset"] & 0x7fffffff for s in got]
    rec.check(numbers == list(range(expected, expected + len(numbers))),
              "%s: a gap after %d: %s" % (path, expected, numbers[:3]))
    rec.check(n == len(said) or len(got) == int(said[n][1]),
              "%s: %d samples, %s said" % (path, len(got), said[n:n + 1]))
    expected += len(numbers)
    rec.check("balances" in rec.run("report", "--stats", path).decode(),
              path + " does not balance")
    row = rec.accounting(path)["syscalls:sys_enter_lseek"]
    rec.check(row["stored"] == len(got), "%s: %s" % (path, row))
    # The first ones may come before the table that unwinds them.
    whole = [s for s in got if s["user_status"] == "ok"]
    named = [s for s in whole if any(
        f.get("function") in ("first_half", "second_half")
        for f in s["user_frames"])]
    rec.check(named == whole, "%s: %d of %d stacks name the caller" %
              (path, len(named), len(whole)))
    rec.check(n == 0 or len(whole) == len(got), "%s: %d of %d complete" %
              (path, len(whole), len(got)))
    rec.check(all(s["comm"] == "sequence" for s in got), path + ": comm")
    resolved += len(named)
rec.check(expected == 80000, "%d of 80000 samples" % expected)
rec.ok("%d files: 80000 calls without a gap, %d stacks named" %
       (len(paths), resolved))
END

# The newest stay.
expect 0 "$DTPROF" record --switch-output 64K --rotate-keep 2 -e $event \
    -o 'k.%n.dtp' -- "$work/sequence" 60000 made 1000
last=$(sed -n 's/.* in k\.\([0-9]*\)\.dtp$/\1/p' err | tail -n 1)
[ "$last" -gt 2 ] || fail "files: $(cat err)"
for file in k.*; do
	[ "$file" = "k.$last.dtp" ] || [ "$file" = "k.$((last - 1)).dtp" ] ||
		fail "kept: $(ls k.*) of $last"
done
[ "$(find . -name 'k.*' | wc -l)" -eq 2 ] || fail "kept: $(ls k.*)"
ok "--rotate-keep 2: $(echo k.*)"

# Names of a second, for files that follow each other faster.
expect 0 "$DTPROF" record --rotate 100ms -e $event -o 't.%t.dtp' -- \
    "$work/sequence" 40000 made 5000
py <<'END'
import glob
import recording as rec

paths = sorted(glob.glob("t.*"))
numbers = [s["args"]["offset"] & 0x7fffffff for path in paths
           for s in rec.samples(path)]
rec.check(len(paths) > 1 and numbers == list(range(40000)), "%d of 40000 in %s"
          % (len(numbers), paths))
rec.check("warning" not in open("err").read(), open("err").read())
rec.ok("names of a second: %d files, no call lost" % len(paths))
END

# A directory that is gone, and comes back.
mkdir d
"$DTPROF" record --rotate SIGUSR2 -e $event -o 'd/%n.dtp' -- \
    "$work/sequence" 0 made 1000 >out 2>err </dev/null &
recorder=$!
kill_at_end $recorder
await_recording $recorder
mv d gone
kill -USR2 $recorder
until grep -q 'no such directory; recording goes on in' err; do
	kill -0 $recorder || fail "the recorder ended: $(cat err)"
	nap
done
mv gone d
# One after another, also while a file is still being ended.
until grep -q 'file 4: ' err; do
	kill -USR2 $recorder || fail "the recorder ended: $(cat err)"
	nap
done
pkill -TERM -P $recorder sequence
wait $recorder || fail "record: status $?: $(cat err)"
py <<'END'
import glob
import recording as rec

paths = ["d/%d.dtp" % (n + 1) for n in range(len(glob.glob("d/*.dtp")))]
numbers = [s["args"]["offset"] & 0x7fffffff for path in paths
           for s in rec.samples(path)]
rec.check(numbers == list(range(int(open("out").read()))), "a gap")
rec.ok("no directory for a while, then one after another: %d files, %d calls "
       "without a gap" % (len(paths), len(numbers)))
END

expect 125 "$DTPROF" record --rotate 1M -o one.dtp -- true
expect_err 'all files would have the same name'
expect 125 "$DTPROF" record --rotate 3x -- true
expect_err '^dtprof: record: --rotate 3x: invalid time'
expect 125 "$DTPROF" record --rotate-keep 3 -- true
expect_err 'requires --rotate'
