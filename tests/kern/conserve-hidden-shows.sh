#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What a foreign BPF program of the old kind hides from the timer
# shows as unaccounted: at least half of the time it hid, and without it
# there is far less; the identity holds all the same.
#
# Easy to get wrong: the kernel skips a program on a perf event while another
# BPF program runs on that CPU and counts that nowhere.  Only the event's own
# count, read beside the firings, can tell.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
"$work/hide" true >/dev/null 2>err || skip "cannot hide: $(cat err)"

# The command is the hider, so its child is a target as well.
set -- -q --call-graph none -e cpu-clock -c 100000 -C 0 -a
record 0 "$@" -o hidden.dtp -- taskset -c 0 "$work/hide" "$work/calls" 1500
grep hidden_ns out >hidden.json || fail "nothing was hidden"
record 0 "$@" -o plain.dtp -- taskset -c 0 "$work/spin" 1000
py <<'END'
import json
import recording as rec

hidden = json.load(open("hidden.json"))["hidden_ns"]
rows = rec.balance("hidden.dtp", ["cpu-clock"])
plain = rec.balance("plain.dtp", ["cpu-clock"])["cpu-clock"]
row = rows["cpu-clock"]
rec.check(row["unaccounted"] == row["count"] - row["weight"] -
          row["outside_weight"], "unaccounted is not count - weights")
rec.check(row["unaccounted"] > hidden / 2, "%d ns were hidden, %d ns are "
          "unaccounted" % (hidden, row["unaccounted"]))
share = row["unaccounted"] / row["count"]
usual = plain["unaccounted"] / plain["count"]
rec.check(share > 2 * usual, "unaccounted: %.3f of the time with hiding, "
          "%.3f without" % (share, usual))
rec.ok("%d ns were hidden, %d ns are unaccounted (%.1f %% of the time; "
       "without hiding %.1f %%)" % (hidden, row["unaccounted"], 100 * share,
                                    100 * usual))
END
