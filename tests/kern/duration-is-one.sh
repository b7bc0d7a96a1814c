#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the duration of a recording is one: the last line of record, report
# --stats and its JSON say the time from start to stop, without pauses.
#
# Easy to get wrong: a pause is between start and stop, and a recorder that
# stops still has to detach its events and read its rings: what ends meanwhile,
# and is the file's last record, is of later.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
TMPDIR=$tmp
export TMPDIR
"$DTPROF" record -a -o a.dtp --call-graph none -e 'sched:*' -e cpu-clock \
    -- sh -c 'sleep 0.2
"$DTPROF" mark --pause && sleep 0.5 && "$DTPROF" mark --resume && sleep 0.2
' >out 2>err || fail "record: $(cat err)"
"$DTPROF" report --stats a.dtp >stats 2>&1 || fail "report --stats"
py <<'END'
import re
import recording as rec

every = rec.in_order("a.dtp")
at = {r["type"]: r["time_ns"] for r in every if r["type"] in
      ("start", "pause", "resume", "stop")}
paused = at["resume"] - at["pause"]
ran = at["stop"] - at["start"] - paused
rec.check(paused >= 500000000 and ran >= 400000000, "%r" % at)
late = [r for r in every if r["type"] == "sample" and
        r["time_ns"] > at["stop"]]
rec.check(not late, "after the stop: %r" % late[:3])
info = rec.report("a.dtp")["recording"]
rec.check(info["duration_ns"] == ran and info["paused_ns"] == paused,
          "JSON says %d and %d, not %d and %d" %
          (info["duration_ns"], info["paused_ns"], ran, paused))
text = open("stats").read()
said = re.search(r"^duration +([0-9.]+) s$", text, re.M).group(1)
rec.check(said == "%.3f" % (ran / 1e9), "--stats says %s, not %.3f" %
          (said, ran / 1e9))
said = re.search(r"lost.*, ([0-9.]+) s, .* in a.dtp",
                 open("err").read()).group(1)
rec.check(abs(float(said) - ran / 1e9) < 0.0501, "record says %s, not %.3f" %
          (said, ran / 1e9))
rec.ok("%.3f s, and %.3f s of pause, say record, --stats and JSON" %
       (ran / 1e9, paused / 1e9))
END
