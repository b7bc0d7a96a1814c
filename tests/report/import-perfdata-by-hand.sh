#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of perf.data an import says what was lost once, by event where
# perf knows, which stacks were cut where the limit of kernel and user frames
# together was met, and refuses weights and ids that cannot be.
# An event that is alone has its name without an id, and counters that were
# throttled one beside the other count each.  A stack that was copied and
# cannot be walked counts as one that is not whole.  It says that it was
# imported, and from what.
# Easy to get wrong: what a ring says it lost, perf counts once more at its
# end; a stack that is cut within its user part has fewer user frames than
# the limit.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >write.py <<'END'
import platform, struct

IP, TID, TIME, CHAIN, ID, PERIOD = 1, 2, 4, 32, 64, 256
KERNEL, USER = 2**64 - 128, 2**64 - 512
SAMPLE_ID_ALL = 1 << 18
LOST, LOST_SAMPLES, SAMPLE = 2, 13, 9
ENTRY = 144

def attr(config):
    return struct.pack("<IIQQQQQ", 1, 128, config, 1, IP | TID | TIME | ID |
                       PERIOD | CHAIN, 0, SAMPLE_ID_ALL) + \
        bytes(60) + struct.pack("<H", 4) + bytes(18)

def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def trailer(time, id):
    return struct.pack("<IIQQ", 1, 1, time, id)

def sample(time, id, kernel=0, user=1, period=1):
    chain = []
    if kernel:
        chain += [KERNEL] + [2**64 - 2**31 + n for n in range(kernel)]
    if user:
        chain += [USER] + [4096 + n for n in range(user)]
    return record(SAMPLE, struct.pack("<QIIQQQQ", 4096, 1, 1, time, id,
                                      period, len(chain)) +
                  b"".join(struct.pack("<Q", pc) for pc in chain), 2)

def lost(kind, n, time, id, misc=0):
    first = b"" if kind == LOST_SAMPLES else struct.pack("<Q", id)
    return record(kind, first + struct.pack("<Q", n) + trailer(time, id),
                  misc)

# Events 1 and 2 have those ids; whole: each claims all of the file as ids.
def write(name, *records, events=2, whole=False, called=None):
    at = 104
    ids = at + ENTRY * events
    begin = ids + 8 * events
    size = sum(map(len, records))
    with open(name + ".data", "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, ENTRY, at,
                ENTRY * events, begin, size) + bytes(16) +
                struct.pack("<Q", 1 << 12 if called else 0) + bytes(24))
        for n in range(events):
            f.write(attr(n) + struct.pack("<QQ", *(
                (0, begin + size) if whole else
                (ids + 8 * n, 0 if called else 8))))
        f.write(struct.pack("<%dQ" % events, *range(1, events + 1)))
        f.write(b"".join(records))
        if called:
            body = struct.pack("<II", 1, 128) + attr(0) + struct.pack(
                "<II", 0, 64) + called.encode().ljust(64, b"\0")
            f.write(struct.pack("<QQ", begin + size + 16, len(body)) + body)

# A copied stack of a process of which nothing is said.
def write_copied(name):
    regs = ((1 << 33) - 1 if platform.machine() == "aarch64" else
            0xff01ff)
    registers = bin(regs).count("1")
    sample = record(SAMPLE, struct.pack("<QIIQQQ%dQQQQ" % registers, 4096, 1,
                    1, 5, 1, 2, *[4096] * registers, 8, 0, 8), 2)
    with open(name + ".data", "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, ENTRY, 104, ENTRY,
                104 + ENTRY, len(sample)) + bytes(48) +
                struct.pack("<IIQQQQQ", 1, 128, 0, 1, IP | TID | TIME |
                            PERIOD | 1 << 12 | 1 << 13, 0, SAMPLE_ID_ALL) +
                bytes(32) + struct.pack("<QII", regs, 8, 0) + bytes(32) +
                bytes(16) + sample)

write_copied("copied")
# Two CPUs stand still for 2 of 10 us each, one of them with the other.
CPU, THROTTLE, UNTHROTTLE = 128, 5, 6

def write_throttled(name):
    def at(time, cpu):
        return struct.pack("<IIQII", 1, 1, time, cpu, 0)
    records = b"".join(
        record(kind, struct.pack("<QQQ", time, 1 + cpu, 1 + cpu) +
               at(time, cpu)) if kind != SAMPLE else
        record(kind, struct.pack("<Q", 4096) + at(time, cpu) +
               struct.pack("<Q", 1), 2)
        for kind, time, cpu in ((SAMPLE, 1000, 0), (THROTTLE, 2000, 0),
                                (THROTTLE, 3000, 1), (UNTHROTTLE, 4000, 0),
                                (UNTHROTTLE, 5000, 1), (SAMPLE, 11000, 1)))
    with open(name + ".data", "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, ENTRY, 104, ENTRY,
                104 + ENTRY + 16, len(records)) + bytes(48) +
                struct.pack("<IIQQQQQ", 1, 128, 0, 1, IP | TID | TIME | CPU |
                            PERIOD, 0, SAMPLE_ID_ALL) + bytes(80) +
                struct.pack("<QQQQ", 104 + ENTRY, 16, 1, 2) + records)

write_throttled("throttled")
work = [sample(10 + n, 1 + n % 2) for n in range(10)]
ring = work + [lost(LOST, 20, 25, 1), sample(30, 1), lost(LOST, 3, 40, 1)]
write("killed", *ring)
write("whole", *ring, lost(LOST_SAMPLES, 12, 0, 1),
      lost(LOST_SAMPLES, 13, 0, 2), lost(LOST_SAMPLES, 100, 0, 1, 1 << 15))
write("stacks", sample(1, 1, 1, 2), sample(2, 1, 2, 2), sample(3, 1, 0, 4),
      sample(4, 1, 4, 0), sample(5, 1, 0, 3))
write("heavy", sample(1, 1, 0, 1, 2**63), sample(2, 1, 0, 1, 2**63))
write("alone", sample(1, 0), events=1, called="my:event")
write("ids", *work, events=3000, whole=True)
END
python3 write.py || fail "cannot write"

stats()		# name, expression over the accounting of both events
{
	expect 0 "$DTPROF" import -o "$1.dtp" "$1.data"
	"$DTPROF" report --json "$1.dtp" >"$1.json" 2>/dev/null ||
	    fail "report $1"
	json "$1.json" "' '.join(str(($2)) for a in j['accounting'][1:])"
}
is()		# what, wanted
{
	[ "$1" = "$2" ] || fail "$1, not $2"
}
is "$(stats whole "a['fired'], a['full']")" "(18, 12) (18, 13)"
expect_err 'perf lost 25 records'
is "$(stats killed "a['fired'], a['full']")" "(29, 23) (5, 0)"
expect_err 'perf lost 23 records of unknown events'
is "$(json killed.json '(j["recording"]["sideband_lost"],
    j["recording"]["gaps"])')" "(0, 2)"
ok "what was lost is lost once, by event where perf knows"

is "$(stats stacks "[a[s + '_stacks'][w] for s in ('kernel', 'user')
    for w in ('ok', 'deep')]")" "[2, 1, 2, 2] [0, 0, 0, 0]"
ok "a stack is cut where both parts together are"

is "$(stats throttled "a['stored']")" 2
is "$(json throttled.json '[q["throttled"] for q in
    j["quality_by_event"]]')" "[0.2]"
ok "what stood still counts for each of the counters"
is "$(stats copied "a['user_stacks']['noproc'], a['stored']")" "(1, 1)"
ok "a stack that nobody could walk is not none at all"
is "$(stats alone "a['event'], a['stored']")" "('my:event', 1)"
ok "an event that is alone has its name"

for name in heavy ids; do
	expect 1 "$DTPROF" import -o "$name.dtp" "$name.data"
	[ ! -e "$name.dtp" ] || fail "a recording of $name"
	cat err
done >said
grep -q 'exceeds 64 bits' said || fail "heavy: $(cat said)"
grep -q 'more event ids' said || fail "ids: $(cat said)"
ok "weights that no number holds and ids that lie on others are refused"

printf 'main;a 1\n' >folded.data
printf '\012\004\010\001\020\002\022\005\012\001\001\022\000' >pprof.data
printf '\062\000\062\001c\062\005count' >>pprof.data
for name in perf.data folded pprof; do
	file=${name%.data}
	[ "$file" != perf ] || cp alone.data perf.data
	expect 0 "$DTPROF" import -q -o "$file.dtp" "$file.data"
	expect 0 "$DTPROF" report --stats -v "$file.dtp"
	expect_out "^backend +import from $name\$" 'where it is from'
	! grep -E 'BPF|path' out || fail "$name: not made by us"
	expect 0 "$DTPROF" report --stats --json "$file.dtp"
	is "$(json out '(j["recording"]["backend"],
	    j["recording"]["info"]["import"])')" "('import', '$name')"
done
ok "what was imported is not said to be recorded"
