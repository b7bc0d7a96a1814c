#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: record --ring writes nothing until a dump; each dump holds the
# newest samples and no gap, as the arguments of numbered system calls show;
# what is written, overwritten and lost adds up to what the program counted;
# the history that is printed is that of the samples; --keep-last bounds it;
# later dumps know stacks and functions of earlier ones; what counters brought
# is overwritten with the samples.
#
# Easy to get wrong: a stack that was given up with the samples that had it
# first, an accounting that is younger than its samples, the time before the
# oldest sample as elapsed time.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir

seed=${SEED:-$(date +%s)}
echo "seed $seed"
event=syscalls:sys_enter_lseek

# Random moments of a program that goes on; the last dump is of its end.
"$DTPROF" record --ring 256K --dump-after 0s --dump-max 99 -e $event \
    --with page-faults -o 'd.%n.%r.dtp' -- "$work/sequence" 0 made >out 2>err \
    </dev/null &
recorder=$!
kill_at_end $recorder
await_recording $recorder
[ -z "$(ls ./*.dtp 2>/dev/null)" ] || fail "a file without a dump"
ok "nothing is written until a dump"
python3 - "$recorder" "$seed" <<'END' || fail "no dump came"
import os
import random
import re
import signal
import struct
import sys
import time

random.seed(int(sys.argv[2]))
asked = []
for n in range(1, 4):
    time.sleep(random.uniform(0.05, 0.6))
    asked.append(struct.unpack("Q", open("made", "rb").read(8))[0])
    os.kill(int(sys.argv[1]), signal.SIGUSR2)
    while not re.search(r"dump %d \(" % n, open("err").read()):
        time.sleep(0.02)
open("asked", "w").write(" ".join(map(str, asked)))
END
pkill -TERM -P $recorder sequence
wait $recorder || fail "record: status $?"
py <<'END'
import glob
import re
import recording as rec

asked = [int(n) for n in open("asked").read().split()]
made = int(open("out").read())
said = re.findall(r"dump (\d+) \((\w+)\): ([0-9.]+) (m?s), (\d+) samples, "
                  r"(\S+) (\w+) in (\S+)", open("err").read())
rec.check(len(said) == len(asked) + 1, "dumps: %s" % open("err").read())
full = 0
for number, reason, history, unit, count, size, prefix, path in said:
    n = int(number)
    account = rec.accounting(path)["syscalls:sys_enter_lseek"]
    got = rec.samples(path)
    numbers = [s["args"]["offset"] & 0x7fffffff for s in got]
    rec.check(path == "d.%d.%s.dtp" % (n, reason), path)
    rec.check(len(numbers) == int(count), "%s: %d samples, %s said" %
              (path, len(numbers), count))
    rec.check(numbers == list(range(numbers[0], numbers[0] +
                                    len(numbers))), path + ": a gap")
    rec.check(account["overwritten"] == numbers[0] and
              account["stored"] == numbers[-1] + 1 and
              account["fired"] == account["stored"] +
              account["filtered"], "%s: %s" % (path, account))
    want = asked[n - 1] if reason == "SIGUSR2" else made
    rec.check(numbers[-1] + 1 >= want, "%s: ends at %d before %d" %
              (path, numbers[-1], want))
    lasted = (got[-1]["time_ns"] - got[0]["time_ns"]) / 1e9
    printed = float(history) / (1000 if unit == "ms" else 1)
    rec.check(lasted <= printed * 1.006, "%s: %s %s, not %.6f s" %
              (path, history, unit, lasted))
    info = rec.report(path)["recording"]["dump"]
    rec.check(info["reason"] == reason and
              info["overwritten"] == numbers[0], "%s: %s" % (path, info))
    if account["overwritten"]:
        full += 1
        rec.check(len(open(path, "rb").read()) > 0.8 * (256 << 10),
                  path + ": less than 0.8 of the ring")
    # A stack that is not in the file reads as one that could not be read.
    for status in {s["user_status"] for s in got}:
        ended = sum(s["user_status"] == status for s in got)
        rec.check(ended <= account["user_stacks"][status],
                  "%s: %d stacks end with %s, %s" % (path, ended, status,
                                                     account["user_stacks"]))
    # The first ones may come before the table that unwinds them.
    whole = [s for s in got if s["user_status"] == "ok"]
    other = [s for s in whole if not any(
        "first_half" in str(f) for f in s["user_frames"])]
    rec.check(whole and not other, "%s: %d of %d stacks without first_half" %
              (path, len(other), len(whole)))
    rec.check("balances" in rec.run("report", "--stats", path).decode(),
              path + " does not balance")
rec.check(numbers[-1] + 1 == made, "the last is %d of %d" %
          (numbers[-1] + 1, made))
rec.check(full > 0, "no dump was full")
rec.ok("%d dumps, %d of a full ring: no gap, newest, exact accounting" %
       (len(said), full))
END

# What changes meanwhile: the second half has a function of its own.
"$DTPROF" record --ring 64M --keep-last 300ms --dump-on exit -o e.dtp \
    --dump-max 1 -e $event -- "$work/sequence" 100000 made >out 2>err \
    </dev/null || fail "record: $(cat err)"
py <<'END'
import recording as rec

got = rec.samples("e.dtp")
account = rec.accounting("e.dtp")["syscalls:sys_enter_lseek"]
rec.check(account["overwritten"] + len(got) == 100000 == account["stored"],
          "%d written, %s" % (len(got), account))
late = got[-1]["time_ns"]
names = {f["function"] for f in got[-1]["user_frames"]
         if "function" in f}
rec.check("second_half" in names, "names: %s" % names)
whole = rec.report("e.dtp")["recording"]["dump"]["history_ns"]
# Chunks go as a whole, and are of a second at most.
rec.check(late - got[0]["time_ns"] <= 1.3e9 and whole <= 2e9,
          "history %d" % whole)
rec.ok("--keep-last: %d of 100,000 kept" % len(got))
END

# For as long that it has to give samples up, far from the ring's size.
"$DTPROF" record --ring 64M --keep-last 300ms --dump-on exit -o k.dtp \
    --dump-max 1 -e $event -- sh -c '"$0" 0 made & sleep 4; kill $!; wait' \
    "$work/sequence" >out 2>err </dev/null || fail "record: $(cat err)"
py <<'END'
import recording as rec

account = rec.accounting("k.dtp")["syscalls:sys_enter_lseek"]
whole = rec.report("k.dtp")["recording"]["dump"]["history_ns"]
rec.check(account["overwritten"] > 0 and whole <= 2e9, "%d ns, %s" %
          (whole, account))
rec.ok("--keep-last 300ms: %d ms of 4 s" % (whole // 1000000))
END

# A dump that fails costs nothing of the next one.
mkdir no
"$DTPROF" record --ring 256K --dump-after 0s -e $event -o 'no/%n.dtp' \
    -- "$work/sequence" 0 made >out 2>err </dev/null &
recorder=$!
kill_at_end $recorder
await_recording $recorder
rmdir no
kill -USR2 $recorder
until grep -q 'no/1.dtp: no such directory' err; do
	kill -0 $recorder 2>/dev/null || fail "record: $(cat err)"
	sleep 0.1
done
mkdir no
pkill -TERM -P $recorder sequence
wait $recorder
[ $? = 125 ] || fail "a dump failed, and the status does not say so"
grep -q ', 1 dump, 1 failed$' err || fail "summary: $(cat err)"
"$DTPROF" report --stats no/2.dtp | grep -q 'accounting balances' ||
	fail "no/2.dtp does not balance"
ok "a failed dump is told, and the next one is whole"
# Cut short, it still says since when samples are in it.
sh -c 'ulimit -f 4000; exec "$0" record --ring 4M --dump-on exit --dump-max 1 \
    -o cut.dtp -e '$event' -- "$1" 300000 made' "$DTPROF" "$work/sequence" \
    >out 2>err </dev/null
grep -q 'cut.dtp: file size limit reached' err || fail "cut.dtp: $(cat err)"
py <<'END'
import recording as rec

got = rec.samples("cut.dtp")
about = rec.report("cut.dtp")["recording"]
rec.check(0 < len(got) < 300000 and got[-1]["time_ns"] - got[0]["time_ns"] <=
          about["duration_ns"] <= about["dump"]["history_ns"],
          "%d samples, %s" % (len(got), about))
rec.ok("a dump that was cut short lasts no longer than its history")
END

# SIGUSR2 alone, which nobody sends.
expect 0 "$DTPROF" record --ring 1M --dump-on SIGUSR2 -o 'f.%n.dtp' -- true
[ -z "$(ls f.* 2>/dev/null)" ] || fail "a dump that nobody asked for"
ok "no trigger, no file"
expect 125 "$DTPROF" record --ring 1M -o one.dtp -- true
expect_err 'all dumps would have the same name'
expect 125 "$DTPROF" record --dump-on moon -- true
expect_err '^dtprof: record: --dump-on moon: unknown trigger'
