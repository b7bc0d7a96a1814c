#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a recorder with --rotate whose disk becomes full goes on: what is
# on the disk stays, it says once that samples are dropped, and goes on in
# another file when there is room again.  With --rotate-keep the oldest file
# makes room, as it would anyway.  The numbers of system calls show it: each
# file has no gap, the gap after one is as wide as that file says, and all that
# was stored is in a file or counted as not written.
#
# Easy to get wrong: the end of a file that has no room left, a chunk that
# refers to one that was not written, a failure of the file before that passes
# for one of the next, files that are removed for nothing.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd mount unshare
# In a name space, so that nobody sees the mount.
[ -n "$INSIDE" ] || INSIDE=1 exec unshare -m sh "$0"
tmpdir

event=syscalls:sys_enter_lseek
at_end()
{
	umount disk
}

mkdir disk
mount -t tmpfs -o size=1200K dtprof-test disk ||
	skip "cannot mount a tmpfs here"

# A recorder, and a program that fills the disk.
begin()		# option ...
{
	"$DTPROF" record -e $event --rotate 200K "$@" -o 'disk/%n.dtp' -- \
	    "$work/sequence" 0 made 1000 >out 2>err </dev/null &
	recorder=$!
	kill_at_end $recorder
	await_recording $recorder
}

said()		# pattern
{
	until grep -q "$1" err; do
		kill -0 $recorder 2>/dev/null ||
		    fail "the recorder ended: $(cat err)"
		nap
	done
}

end()
{
	pkill -TERM -P $recorder sequence
	wait $recorder
	[ $? -eq 125 ] || fail "samples are missing, and status $?"
	[ "$(grep -c 'samples are dropped' err)" -eq 1 ] ||
	    fail "not said once: $(cat err)"
}

begin
said 'disk/[0-9]*.dtp: no space left; samples are dropped until'
# It lives, and nothing older is touched.
mkdir there
cp disk/*.dtp there
"$DTPROF" mark --recorder $recorder full >/dev/null || fail "no marker"
cut=$(find disk -name '*.dtp' | wc -l)
sleep 1
for file in disk/*.dtp; do
	cmp "$file" "there/${file#disk/}" || fail "$file has changed"
done
mount -o remount,size=64M disk
said "file $((cut + 1)): "
end
cp disk/*.dtp there
py <<'DONE'
import glob
import re
import recording as rec

made = int(open("out").read())
said = dict(re.findall(r" in disk/(\d+)\.dtp, (\d+) not written", open(
    "err").read()))
n = len(glob.glob("there/*.dtp"))
missing = stored = written = 0
expected = 0
for number in range(1, n + 1):
    path = "there/%d.dtp" % number
    row = rec.accounting(path)["syscalls:sys_enter_lseek"]
    rec.balance_row(path, row)
    numbers = [s["args"]["offset"] & 0x7fffffff for s in rec.samples(
        path, None, "--no-symbols")]
    rec.check(numbers == list(range(expected, expected + len(numbers))),
              "%s: %d samples, a gap after %d" % (path, len(numbers),
                                                  expected))
    gone = int(said.get(str(number), 0))
    rec.check(row["in_file"] == len(numbers) and row["stored"] ==
              len(numbers) + gone, "%s: %s, %d not written" %
              (path, row, gone))
    rec.check(bool(rec.report(path)["recording"]["cut"]) == (gone > 0),
              path + ": is it cut?")
    expected += len(numbers) + gone
    missing += gone
    stored += row["stored"]
    written += len(numbers)
rec.check(said and expected == stored == made, "%d stored of %d calls" %
          (stored, made))
rec.check(re.search(r"%d of %d samples written, %d not written" %
                    (written, stored, missing), open("err").read()),
          open("err").read())
rec.ok("%d calls: %d in %d files, %d not written, as files %s say" %
       (made, written, n, missing, ", ".join(said)))
DONE

# The oldest goes first: others leave room for three files or four.
rm disk/*
mount -o remount,size=2M disk
begin --rotate-keep 4
said 'file 9: '
pkill -TERM -P $recorder sequence
wait $recorder
status=$?
ls disk >files
[ "$(wc -l <files)" -le 4 ] || fail "kept: $(cat files)"
py $status <<'DONE'
import re
import sys
import recording as rec

last = 0
files = sorted(int(name.split(".")[0]) for name in open("files"))
rec.check(files == list(range(files[0], files[-1] + 1)), "kept: %s" % files)
err = open("err").read()
said = dict(re.findall(r" in disk/(\d+)\.dtp, (\d+) not written", err))
for n in files:
    numbers = [s["args"]["offset"] & 0x7fffffff for s in
               rec.samples("disk/%d.dtp" % n, None, "--no-symbols")]
    rec.check(numbers == list(range(numbers[0], numbers[0] + len(numbers))),
              "%d: a gap" % n)
    rec.check(last in (0, numbers[0]), "%d: a gap before" % n)
    last = numbers[-1] + 1 + int(said.get(str(n), 0))
rec.check(last == int(open("out").read()), "the newest are missing")
rec.check((125 if said else 0) == int(sys.argv[1]), "status " + sys.argv[1])
rec.ok("--rotate-keep: files %s, %d of all cut short" % (files, len(said)))
DONE
