#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a recording that ends behind any of its chunks, or within one, is
# shown by each command as far as it goes and said to be cut, or refused in two
# lines; nothing crashes.
# Easy to get wrong: what has a header and nothing else has no event, not even
# the lives of processes.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC/tests/report/known.dtp" . || fail "no recording"
cat >check.py <<'END'
import gzip, struct, subprocess, sys
sys.path.insert(0, sys.argv[2])
from pprof_rules import Profile
dtprof = sys.argv[1]
whole = open("known.dtp", "rb").read()
cuts, at = [], struct.unpack_from("<I", whole, 16)[0]
while at < len(whole):
    assert whole[at:at + 4] == b"\xd7TPC", at
    cuts += [at, at + 33]
    at += 32 + struct.unpack_from("<I", whole, at + 8)[0]
assert at == len(whole) and len(cuts) > 10, cuts
shown = 0
for cut in cuts:
    with open("cut.dtp", "wb") as file:
        file.write(whole[:cut])
    for words in ["report", "report --stats -v", "report --stats --json",
                  "report --json --by line", "report --csv",
                  "report --callers work", "report --plot timeline -o x.tsv",
                  "script --show all", "script --json", "export",
                  "export --format pprof -o x.pb.gz", "flamegraph",
                  "flamegraph -o x.svg", "flamegraph --base cut.dtp",
                  "flamegraph --base known.dtp", "annotate work",
                  "annotate --base known.dtp work",
                  "compare known.dtp --"]:
        done = subprocess.run([dtprof, *words.split(), "cut.dtp"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        said = done.stderr.decode().splitlines()
        assert done.returncode in (0, 1), (cut, words, done)
        if done.returncode == 1:
            assert [l for l in said if
                    " note: " not in l and " warning: " not in l][1:] == [
                l for l in said if l.startswith("dtprof: hint: ")], (
                cut, words, said)
        else:
            assert b"cut short" in done.stdout.lower() + done.stderr or \
                b'"cut":"' in done.stdout, (cut, words, done)
            if "pprof" in words:
                with open("x.pb.gz", "rb") as file:
                    rules = Profile(gzip.decompress(file.read())).bad
                assert not rules, (cut, rules)
            shown += 1
assert shown > len(cuts), shown
print("%d cuts, shown %d times" % (len(cuts), shown))
END
python3 check.py "$DTPROF" "$SRC/tests/interop" >said 2>&1 ||
    fail "$(tail -n 3 said)"
ok "$(cat said)"
