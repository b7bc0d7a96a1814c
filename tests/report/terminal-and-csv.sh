#!/bin/sh
# ASSERTION: report is coloured and paged on a terminal alone, without colour
# where NO_COLOR or a dumb terminal asks for that, no wider than it with its
# numbers whole, and a pager that ends early harms nothing; hostile names
# reach neither the terminal nor CSV as they are.  Easy to get wrong: the
# width of a name is that of its escaped form.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cp "$SRC"/tests/report/*.dtp . || fail "no recordings"
cat >check.py <<'PY'
import csv, io, os, re, subprocess, sys
dtprof = sys.argv[1]
sys.path.append(os.environ["SRC"] + "/tests/cli")
import term

def on_terminal(columns, *options, recording="known.dtp", ends=0, **env):
    env = {"TERM": "xterm", "PAGER": "cat", "NO_COLOR": None, **env}
    unset = [word for name in env if env[name] is None
             for word in ("-u", name)]
    status, out = term.run(
        ["env", *unset, *("%s=%s" % pair for pair in env.items()
                          if pair[1] is not None),
         dtprof, "report", *options, recording], columns, echo=False)
    assert status == ends, (status, out)
    return out.decode().replace("\r\n", "\n")

colour = re.compile(r"\x1b\[[0-9;]*m")
assert colour.search(on_terminal(100))
for env in {"NO_COLOR": "1"}, {"TERM": "dumb"}:
    assert "\x1b" not in on_terminal(100, **env), env
print("ok: colour on a terminal, none with NO_COLOR")
for recording in "known.dtp", "hostile.dtp":
    for columns in 60, 80, 100, 132:
        for by in "function", "comm,function":
            text = colour.sub("", on_terminal(columns, "--by", by,
                              "--event", "cpu-clock", recording=recording))
            assert "\x1b" not in text and "\u202e" not in text
            wide = [r for r in text.split("\n") if len(r) > columns]
            assert not wide, (recording, columns, by, wide)
            rows = text.partition("\n\n")[2].strip("\n").split("\n")[1:]
            assert len(rows) > 4, text
            for row in rows:
                assert re.match(r" *\d+\.\d\d ", row), row
print("ok: rows are no wider than the terminal, and numbers whole")
text = on_terminal(100, PAGER="sed s/^/paged:/")
assert all(l.startswith("paged:") for l in text.split("\n") if l), text
assert on_terminal(100, PAGER="head -n 1").count("\n") == 1
on_terminal(100, PAGER="true")
assert on_terminal(100, PAGER="kill -INT $PPID; cat") == on_terminal(100,
    PAGER="cat -")
piped = subprocess.run([dtprof, "report", "known.dtp"], check=True,
    env={**os.environ, "PAGER": "sed s/^/paged:/", "TERM": "xterm"},
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
assert b"paged:" not in piped and b"\x1b" not in piped and piped
assert "cannot execute the pager" in on_terminal(100, PAGER="no-such-pager",
                                                 ends=1)
os.mkdir("bin")
assert on_terminal(100, PAGER=None, PATH="bin") == on_terminal(100)
with open("bin/less", "w") as less:
    less.write("#!/bin/sh\nexec /usr/bin/sed s/^/less:/\n")
os.chmod("bin/less", 0o755)
assert "less:" in on_terminal(100, PAGER=None, PATH="bin")
print("ok: without less no pager, and one that cannot be run is told of")
print("ok: a pager on a terminal alone; it may end early, and has Ctrl-C")

def run(*options):
    return subprocess.run([dtprof, "report", *options], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()

rows = list(csv.DictReader(io.StringIO(run("--csv", "--by", "comm,function",
    "hostile.dtp"), newline=""), strict=True))
assert len(rows) > 10
assert all(None not in r and None not in r.values() for r in rows)
assert all(re.fullmatch(r"\d+", r["self"]) for r in rows)
calls = list(csv.DictReader(io.StringIO(run("--csv", "--callees", "main",
    "known.dtp"), newline=""), strict=True))
assert calls and all(r["self"] == r["self_share"] == r["self_high"] ==
    r["self_samples"] == "" and r["total"] for r in calls), calls
print("ok: callees have no self")
names = {r["comm"] for r in rows} | {r["module"] for r in rows}
assert not any(c < " " or c in "\x7f\u202e" for n in names for c in n)
assert any('"' in n for n in names)
assert any(n.startswith("'=") for n in names), names
assert not any(n[:1] in "=+-@" for n in names if n)
print("ok: hostile names are fields of CSV, and obeyed nowhere")
PY
python3 check.py "$DTPROF" || fail "see above"
