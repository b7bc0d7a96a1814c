#!/bin/sh
# ASSERTION: of a stack of more frames than a record holds, the innermost and
# the outermost are kept, in order, with a boundary frame between them, and it
# is complete; beyond the frames that a walk takes it is "deep".  Easy to get
# wrong: a caller and a callee that are none, where frames were left out.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3
tmpdir

# Its innermost frames, the boundary, its outermost frames, and how it ended.
deep()		# depth
{
	"$DTPROF" record -q -e cpu-clock -c 2000000 --user-only -o x.dtp -- \
	    timeout -s INT 0.7 "$work/deep" "$1" 2>err
	"$DTPROF" script --json x.dtp >x.json || fail "script"
	python3 - "$1" <<'END' || fail "depth $1"
import json, sys
depth, seen = int(sys.argv[1]), 0
for line in open("x.json"):
    sample = json.loads(line)
    frames = sample.get("user_frames", [])
    names = [f["function"] for f in frames]
    # Until its tables are there a walk goes on in a copy, which is short.
    if not names or names[0] != "inner" or sample["user_status"] not in (
            "ok", "deep"):
        continue
    seen += 1
    gaps = [n for n, f in enumerate(frames) if f["kind"] == "boundary"]
    kept = names.count("outer")
    if depth < 1000:
        assert not gaps and kept == depth + 1, (gaps, kept)
    else:
        assert gaps == [511] and names[511] == "[truncated here]", gaps
        assert len(frames) == 1024, len(frames)
        # What is left out is outer alone, on either side.
        assert names[510] == names[512] == "outer"
    if depth < 4080:
        assert sample["user_status"] == "ok", sample["user_status"]
        assert "main" in names[-5:], names[-5:]
        assert set(names[512:names.index("main")]) <= {"outer"}
    else:
        assert sample["user_status"] == "deep", sample["user_status"]
        assert "main" not in names
print("ok: depth %d: %d samples" % (depth, seen))
sys.exit(seen < 20)
END
}

deep 900
deep 3000
deep 4040
deep 9000
