#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: a recording whose functions, thread, program and source files are
# named to be markup, script, commands, escapes, formulas or several lines
# comes out of every command in each form as text: UTF-8 without a character
# that acts, JSON, CSV and XML that are what they should be, no tag but our
# own, nothing run; and a pipe in the place of a program or of a source stops
# nothing.
# Easy to get wrong: the one form that nobody thought of.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 gnuplot objdump objcopy readelf mkfifo timeout "${CC:=gcc}"
tmpdir
evil=$(printf '<script>a<img src=x onerror=a>"`touch pwned`$(touch pwned)')
evil=$evil$(printf '\033[2J\033]0;t\007\342\200\256\302\205%%n;=1,b\n\t\377')
mkdir "$evil" || fail "no such name here"
mkfifo pipe
{
	printf '#line 1 "%s.c"\n' "$(printf %s "$evil" | tr '\n"\\' '   ')"
	cat "$SRC/tests/work/hot.c"
	printf '#line 1 "%s/pipe"\nint piped(void) { return (3); }\n' "$tmp"
} >a.c
"$CC" -w -O2 -g -no-pie -Wl,--build-id -o a a.c || fail "compiling"
work=$(nm a | sed -n 's/.* t \(work[.a-z0-9]*\)$/\1/p')
objcopy --redefine-sym "$work==$evil" --redefine-sym \
    'main=</script><script>main' a "$evil/prog" || fail "renaming"
# perf.data with a sample at each instruction, and one where the pipe is.
cat >write.py <<'END'
import os, re, struct, subprocess, sys

def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout

def record(kind, body, misc=2):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body

def text(s):
    return s + b"\0" * (8 - len(s) % 8)

path, pipe = map(os.fsencode, sys.argv[1:])
# As many bytes as the kernel lets a thread's name have.
threads = b'=<b>\033[2J\n\t"\302\205', b"\"`touch pwned`"
code = [int(m, 16) for m in re.findall(rb"(?m)^ +([0-9a-f]+):\t", run(
    "objdump", "-d", "-j", ".text", path))]
build_id = bytes.fromhex(re.search(rb"Build ID: (\w+)", run(
    "readelf", "-n", path)).group(1).decode())
when = struct.pack("<IIQQ", 1, 1, 5, 1)
out = b"".join(record(3, struct.pack("<II", 1, n + 1) + text(name) + when)
               for n, name in enumerate(threads))
for at, file in (0x400000, path), (0x700000, pipe):
    out += record(10, struct.pack("<IIQQQBBH20sII", 1, 1, at, 0x100000,
        0, len(build_id), 0, 0, build_id, 5, 2) + text(file) + when,
        2 | 1 << 14)
for n, pc in enumerate(code + [0x700100]):
    chain = (2**64 - 512, pc, code[0] + 1)
    out += record(9, struct.pack("<QIIQQQQ3Q", pc, 1, 1 + n % 2, 10 + n, 1, 1,
        len(chain), *chain))
attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1, 1 | 2 | 4 | 32 | 64 | 256, 0,
    1 << 18 | 1 << 34) + bytes(60) + struct.pack("<H", 4) + bytes(18)
with open("x.data", "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<QQQQQQ", 104, 144, 104, 144, 256,
        len(out)) + bytes(48) + attr + struct.pack("<QQQ", 248, 8, 1) + out)
END
python3 write.py "$tmp/$evil/prog" "$tmp/pipe" || fail "writing"
cat >check.py <<'END'
import csv, html.parser, io, json, os, subprocess, sys, unicodedata
import xml.etree.ElementTree as xml
dtprof, evil = sys.argv[1:]
outputs = 0

def plain(what, data):
    """UTF-8 in which nothing but newline and tab is not to be seen."""
    global outputs
    text = data.decode().replace("\r\n", "\n")     # CSV ends lines so
    bad = {repr(c) for c in text if c not in "\n\t" and
           unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
    assert not bad, (what, bad)
    outputs += 1
    return text

def run(*words, output=None):
    done = subprocess.run(["timeout", "60", dtprof, *words],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    plain(words + ("messages",), done.stderr)
    if output is None:
        return plain(words, done.stdout)
    with open(output, "rb") as file:
        return plain(words, file.read())

def is_csv(text):
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert len(rows) > 1 and len({len(row) for row in rows}) == 1, rows
    assert not any(cell[:1] in list("=+-@\t") for row in rows
                   for cell in row), rows

def is_json(text):
    assert json.loads(text)

def are_json(text):
    assert [json.loads(line) for line in text.splitlines()]

def is_xml(text):
    tags = {e.tag.split("}")[1] for e in xml.fromstring(text).iter()}
    assert not tags & {"script", "img", "image", "a", "foreignObject"}, tags

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.names = [], set()
        self.feed(text)
    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.names |= {name for name, _ in attributes}

def is_page(scripts):
    def check(text):
        page = Page(text)
        assert page.tags.count("script") == scripts, page.tags
        assert "img" not in page.tags, page.tags
        assert not any(n.startswith("on") for n in page.names), page.names
    return check

def anything(text):
    assert text

run("import", "-o", "x.dtp", "x.data")
for words, check in [((), anything), (("--json",), is_json),
                     (("--csv",), is_csv)]:
    for by in "function", "line", "module", "comm", "comm,pid,tid,cpu,line":
        check(run("report", *words, "--by", by, "x.dtp"))
    check(run("report", *words, "--tree", "--by", "comm", "x.dtp"))
for name in "=" + evil, "</script><script>main":
    for side in "--callers", "--callees":
        run("report", side, name, "x.dtp")
    for words, check in [((), anything), (("--source",), anything),
                         (("--json",), is_json), (("--csv",), is_csv)]:
        check(run("annotate", *words, name, "x.dtp"))
    is_page(0)(run("annotate", "--html", "-o", "a.html", name, "x.dtp",
                   output="a.html"))
assert "pipe:1" in run("annotate", "piped", "x.dtp")
for words, check in [(("--stats", "-v"), anything),
                     (("--stats", "--json"), is_json)]:
    check(run("report", *words, "x.dtp"))
for words, check in [((), anything), (("--lines",), anything),
                     (("--no-symbols",), anything),
                     (("--show", "all", "--lines", "--json"), are_json)]:
    check(run("script", *words, "x.dtp"))
for words in (), ("--lines",):
    for line in run("export", *words, "x.dtp").splitlines():
        assert line.rsplit(" ", 1)[1].isdigit(), line
    is_json(run("export", "--format", "speedscope", *words, "x.dtp"))
    for more in (), ("--reverse",):
        is_page(2)(run("flamegraph", *words, *more, "-o", "f.html", "x.dtp",
                       output="f.html"))
        is_xml(run("flamegraph", *words, *more, "-o", "f.svg", "x.dtp",
                   output="f.svg"))
run("export", "--format", "pprof", "--lines", "-o", "x.pb.gz", "x.dtp")
run("import", "-o", "again.dtp", "x.pb.gz")
run("report", "again.dtp")
for what in "heatmap", "timeline", "rates":
    for name, check in ("p.tsv", anything), ("p.svg", is_xml):
        check(run("report", "--plot", what, "-o", name, "x.dtp",
                  output=name))
is_json(run("compare", "--json", "x.dtp", "--", "again.dtp"))
run("compare", "x.dtp", "--", "again.dtp")
is_page(0)(run("compare", "-o", "c.html", "x.dtp", "--", "again.dtp",
               output="c.html"))
for name, first in ("old.json", 10), ("new.json", 20):
    with open(name, "w") as file:
        json.dump({"command": [evil], "runs": [], "events": [{"name": evil,
            "unit": evil, "values": list(range(first, first + 8))}]}, file)
for words, check in [((), anything), (("--markdown",), anything),
                     (("--json",), is_json)]:
    check(run("compare", *words, "old.json", "--", "new.json"))
is_page(0)(run("compare", "-o", "m.html", "old.json", "--", "new.json",
               output="m.html"))
is_page(2)(run("flamegraph", "--base", "x.dtp", "-o", "d.html", "again.dtp",
               output="d.html"))
assert not os.path.exists("pwned")
print("%d outputs and messages are text" % outputs)
END
python3 check.py "$DTPROF" "$evil" >said 2>&1 || fail "$(cat -v said)"
ok "$(cat said)"
