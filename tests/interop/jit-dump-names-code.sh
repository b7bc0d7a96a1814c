# SPDX-License-Identifier: ISC
# ASSERTION: code that a JIT made and told of in a dump (jit-PID.dump, which it
# maps) has its name, in a container, too, where the file lies elsewhere; the
# shares of two functions are those of the program.  A place that had two
# functions one after the other has neither's name, and without the mapping no
# place has one.  Dumps are counted that are more than the recorder keeps open.
#
# Easy to get wrong: a dump that somebody else left, a file that still grows
# while the process runs.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "the program makes code of x86-64"
need_cmd gcc unshare
tmpdir

gcc -O1 -o jit_dump "$SRC/tests/work/jit_dump.c" || fail gcc
names()		# recording: names of code without a file, with their shares
{
	"$DTPROF" report --json $1 >report.json || fail "report $1"
	python3 - report.json <<'E'
import json, sys
for row in json.load(open(sys.argv[1]))["functions"]:
    if row["module"] in ("[jit]", "[anon]"):
        print(row["name"], round(100 * row["self_share"]))
E
}
"$DTPROF" record -q -F 997 -o x.dtp -- ./jit_dump || fail record
names x.dtp >x.names
python3 - x.names <<'E' || fail "$(cat x.names)"
import sys
share = {name: int(n) for name, n in (line.rsplit(None, 1) for line in
                                      open(sys.argv[1]))}
nameless = share.pop("[anonymous memory]")
assert set(share) == {"hot", "cold"}, share
assert 50 < 100 * share["hot"] / (share["hot"] + share["cold"]) < 88, share
assert nameless > 3, nameless
E
ok "code has names: $(tr '\n' ' ' <x.names)"

# A root of its own, where /dump is what is $PWD/root/dump here.
mkdir -p root/dump
for dir in bin lib lib64 usr proc; do
	mkdir -p root/$dir
done
"$DTPROF" record -q -F 997 -o y.dtp -- unshare --mount --pid --fork \
    sh -c 'mount --make-rprivate / && mount --rbind /usr root/usr &&
    mount --rbind /lib root/lib && mount --rbind /lib64 root/lib64 &&
    cp jit_dump root/dump && chroot root sh -c "cd /dump && ./jit_dump"' \
    2>y.err || skip "no namespace can be made: $(cat y.err)"
names y.dtp >y.names
grep -q '^hot ' y.names || fail "in a container: $(cat y.names)"
ok "and in a container"

"$DTPROF" record -q -F 997 -o z.dtp -- ./jit_dump old || fail record
names z.dtp >z.names
! grep -qE '^(hot|cold) ' z.names || fail "a dump that was not mapped: \
$(cat z.names)"
ok "a dump that was not mapped is not read"

cat >many.py <<'E'
import mmap, signal
dumps = []
for n in range(70):
    with open("jit-%d.dump" % n, "w+b") as f:
        f.write(bytes(40))
        f.flush()
        dumps.append(mmap.mmap(f.fileno(), 40,
                               prot=mmap.PROT_READ | mmap.PROT_EXEC))
open("ready", "w").close()
signal.pause()
E
python3 many.py &
many=$!
kill_at_end $many
await "all are mapped" test -e ready
"$DTPROF" record -o many.dtp -F 997 -p $many -- true 2>many.err ||
    fail "record: $(cat many.err)"
grep -q ' 6 JIT dumps were not read' many.err ||
    fail "too many dumps: $(cat many.err)"
ok "$(grep -o '[0-9]* JIT dumps were not read.*' many.err)"
