#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a dump that finds the disk full, read-only or without its directory
# fails, says so, and costs nothing else: older files stay as they are, the
# recorder goes on, and the next dump has no gap, is the newest, and balances.
# It does not count for --dump-max.
#
# Easy to get wrong: a name that is taken by a dump that came to nothing, what
# was kept given up for a dump that failed.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd mount unshare
# In a name space, so that nobody sees the mount.
[ -n "$INSIDE" ] || INSIDE=1 exec unshare -m sh "$0"
tmpdir
at_end()
{
	umount disk
}

event=syscalls:sys_enter_lseek
mkdir disk
mount -t tmpfs -o size=1M dtprof-test disk || skip "cannot mount a tmpfs here"
"$DTPROF" record --ring 256K --dump-after 0s --dump-on SIGUSR2 --dump-max 2 \
    -e $event -o 'disk/%n.dtp' -- "$work/sequence" 0 made 1000 \
    >number 2>said </dev/null &
recorder=$!
kill_at_end $recorder
await_recording $recorder

# Its line, once it has come; samples go on meanwhile.
dump()		# pattern
{
	kill -USR2 $recorder
	until grep -q "$1" said; do
		kill -0 $recorder 2>/dev/null ||
		    fail "the recorder ended: $(cat said)"
		nap
	done
}

sleep 1
dump 'dump 1 (SIGUSR2): .* in disk/1.dtp$'
sum=$(sha256sum disk/1.dtp)
# Room for a part of it.
head -c "$(($(df --output=avail -B1 disk | tail -n 1) - 100000))" /dev/zero \
    >disk/hog
dump '^dtprof: record: disk/2.dtp: no space left$'
rm -f disk/hog disk/2.dtp
mount -o remount,ro disk
dump '^dtprof: record: disk/3.dtp: not writable$'
mount -o remount,rw disk
expect 1 "$DTPROF" ctl --recorder $recorder dump -o gone/4.dtp
expect_err 'gone/4.dtp: no such directory'
dump 'dump 5 (SIGUSR2): .* in disk/5.dtp$'
dump '^dtprof: record: warning: no more dumps .* --dump-max 2 is reached$'
pkill -TERM -P $recorder sequence
wait $recorder
[ $? -eq 125 ] || fail "dumps failed, and status $?"
grep -q ', 2 dumps, 3 failed$' said || fail "summary: $(tail -n 1 said)"
[ "$(sha256sum disk/1.dtp)" = "$sum" ] || fail "an older dump has changed"
[ "$(echo disk/*)" = 'disk/1.dtp disk/5.dtp' ] || fail "left: $(ls disk)"
py <<'END'
import recording as rec

for path in "disk/1.dtp", "disk/5.dtp":
    row = rec.accounting(path)["syscalls:sys_enter_lseek"]
    numbers = [s["args"]["offset"] & 0x7fffffff for s in
               rec.samples(path, None, "--no-symbols")]
    rec.balance_row(path, row)
    rec.check(numbers == list(range(numbers[0], numbers[0] + len(numbers))),
              path + ": a gap")
    rec.check(row["overwritten"] == numbers[0] and row["stored"] ==
              numbers[-1] + 1 and not rec.report(path)["recording"]["cut"],
              "%s: %s" % (path, row))
rec.ok("full, read-only, gone: 3 dumps failed; the next one has calls %d to "
       "%d of %s" % (numbers[0], numbers[-1], open("number").read().strip()))
END
