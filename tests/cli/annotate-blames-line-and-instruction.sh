#!/bin/sh
# ASSERTION: annotate counts each sample at the line and at the instruction
# that addr2line and objdump name for its address, also where the line is of
# an inlined function; the planted line and instruction are the hottest; its
# sums are those of report, to the unit; JSON and CSV have the same rows; and
# without the file, the source or objdump it says so, with the same sums.
# Hostile source stays text.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3 objdump addr2line "${CC:=gcc}"
need_perf
tmpdir
# A comment cannot change the code; it stands where there are samples.
evil=$(printf '</script><script>alert(1)</script> \033[31m\342\200\256')
sed "/the hot line/s%\$% /* $evil */%" "$SRC/tests/work/hot.c" >hot.c
"$CC" -w -O2 -g -no-pie -o hot hot.c || fail "compiling"
expect 0 "$DTPROF" record -q -e cpu-clock -e task-clock -c 500000 -o x.dtp \
    -- sh -c './hot 1500000; head -c 100000000 /dev/zero >/dev/null'
expect 0 "$DTPROF" script --json --no-symbols x.dtp
mv out script.json
cat >check.py <<'END'
import collections, csv, io, json, re, subprocess, sys
dtprof, function = sys.argv[1:3]

def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, check=True,
                          stderr=subprocess.DEVNULL).stdout.decode()

# What objdump and addr2line say, on their own.
code = [int(m, 16) for m in re.findall(r"(?m)^ +([0-9a-f]+):\t", run(
    "objdump", "-d", "--disassemble=" + function, "hot"))]
want = {}           # event -> address -> [weight, samples]
for line in open("script.json"):
    r = json.loads(line)
    if not r.get("user") or r.get("kernel"):
        continue
    at = int(str(r["user"][0]), 0)
    if code[0] <= at <= code[-1]:
        cell = want.setdefault(r["event"], collections.defaultdict(
            lambda: [0, 0]))[at]
        cell[0] += r["weight"]
        cell[1] += 1
assert set(sum((list(c) for c in want.values()), [])) <= set(code)

def line_of(at):
    text = run("addr2line", "-i", "-e", "hot", hex(at)).split("\n")
    return int(re.search(r":(\d+)", text[0]).group(1)), len(text) - 2

report = {r["event"]: r for r in json.loads(run(dtprof, "report", "--json",
    "x.dtp"))["functions"] if r["name"] == function}
checked = 0
SCALE = {"": 1, "k": 1e3, "M": 1e6, "ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
assert len(want) == 2, want
for event in want:
    text = run(dtprof, "annotate", "-e", event, function, "x.dtp")
    row = r"^(\*| )  *\d+\.\d\d +([\d.]+) ?([a-zA-Z]*) +(\d+) +"
    asm, lines, hot = {}, collections.Counter(), []
    for l in text.split("\n"):
        m = re.match(row + r"([0-9a-f]+):  (\S+)", l)
        if m:
            asm[int(m[5], 16)] = [float(m[2]) * SCALE[m[3]], int(m[4])]
            if m[1] == "*":
                hot.append(("asm", int(m[4]), int(m[5], 16)))
            continue
        m = re.match(row + r"(\d+)  (.*)", l)
        if m:
            lines[int(m[5]), "  <- slow, inlined at " in l] += int(m[4])
            if m[1] == "*":
                hot.append(("line", int(m[4]), int(m[5])))
    assert asm.keys() == want[event].keys() and all(
        asm[at][1] == want[event][at][1] and
        abs(asm[at][0] / want[event][at][0] - 1) < .005 for at in asm), (
        asm, want[event])
    asm = want[event]
    told = json.loads(run(dtprof, "annotate", "--json", function, "x.dtp"))
    rows = [(r, e) for r in told["rows"] for e in r["events"]
            if e["event"] == event]
    assert {r["address"]: [e["weight"], e["samples"]] for r, e in rows
            if r["kind"] == "code"} == asm
    by_line = collections.Counter()
    for r, e in rows:
        if r["kind"] == "source":
            assert r["file"].endswith("hot.c"), r
            by_line[r["line"], "slow, inlined" in r.get("inlined_at", "")] \
                += e["samples"]
    assert by_line == lines, (by_line, lines)
    table = [r for r in csv.DictReader(io.StringIO(run(dtprof, "annotate",
        "--csv", function, "x.dtp"))) if r["event"] == event]
    assert [(int(r["line"]), int(r["samples"])) for r in table
            if r["line"]] == [(r["line"], e["samples"]) for r, e in rows
                              if "line" in r]
    assert {int(r["address"], 0): [int(r["weight"]), int(r["samples"])]
            for r in table if r["address"]} == asm
    sums = [e for e in told["events"] if e["event"] == event]
    assert sums[0]["weight"] == report[event]["self"], sums
    wanted = collections.Counter()
    for at, (_, samples) in want[event].items():
        number, inlined = line_of(at)
        wanted[number, inlined > 0] += samples
    assert lines == wanted, (lines, wanted)
    assert sum(s[0] for s in asm.values()) == report[event]["self"]
    assert sum(s[1] for s in asm.values()) == report[event]["samples"]
    checked += len(asm)
    if event != "cpu-clock":
        continue
    planted = [n for n, l in enumerate(open("hot.c"), 1)
               if "the hot line" in l]
    # What stands next to it may be marked as well, by samples that came late.
    hottest = {h[0]: h[2] for h in sorted(hot)}
    assert [hottest["line"]] == planted, hot
    # The division, or what waits for it: nothing precise is used here.
    divisions = [code.index(int(m, 16)) for m in re.findall(
        r"(?m)^ +([0-9a-f]+):\t.*\bu?div", run("objdump", "-d",
        "--disassemble=" + function, "hot"))]
    near = {code[d + k] for d in divisions for k in (0, 1)}
    assert divisions and hottest["asm"] in near, hot
    assert sum(s[0] for s in asm.values()) > 100 * 500000
print(checked)
END
name=$(nm hot | sed -n 's/.* t \(work[.a-z0-9]*\)$/\1/p')
n=$(python3 check.py "$DTPROF" "$name") || fail "not what others say"
ok "$n places as addr2line and objdump have them; the planted ones are hot"

total()		# FUNCTION option ...: samples of its first event
{
	expect 0 "$DTPROF" annotate -e cpu-clock "$@" x.dtp
	sed -n 's/^.* of CPU time, .*% of all, \([0-9]*\) samples$/\1/p' out
}
self=$(total work)
[ "${self:-0}" -gt 100 ] || fail "no samples of work: $(cat out)"
expect 0 "$DTPROF" report --json -e cpu-clock x.dtp
whole=$(json out '[r["total_samples"] for r in j["functions"]
    if r["name"] == "main"][0]')
[ "$(total main --total)" = "$whole" ] || fail "--total of main"
# What binds strtoull and printf at their first use may have samples, too.
expect_out "^\*  *(9.|100)\... .*work\(n\)" "nearly all of main is at the call"
ok "a name without what the compiler added; --total at the call: $whole"

expect 0 "$DTPROF" annotate --html -o x.html work x.dtp
python3 - <<'END' || fail "the page"
import html.parser
class Page(html.parser.HTMLParser):
    tags, text = set(), ""
    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
    def handle_data(self, data):
        self.text += data
page, raw = Page(), open("x.html", encoding="utf-8").read()
page.feed(raw)
assert "script" not in page.tags and "\x1b" not in raw, page.tags
assert "default-src 'none'" in raw
assert "the hot line" in page.text and "slow, inlined at" in page.text
END
stays_text()	# file, what stands there for the escape and the override
{
	! LC_ALL=C grep -q "$(printf '\033\\|\342\200\256')" "$1" ||
	    fail "$1: an escape gets through"
	grep -Fq "$2" "$1" || fail "$1: no $2"
}
for form in '' --json; do
	# shellcheck disable=SC2086 # a word or none
	expect 0 "$DTPROF" annotate --source $form work x.dtp
	stays_text out '</script> \u001b[31m\u202e'
done
expect 0 "$DTPROF" annotate --source --csv work x.dtp
stays_text out '</script> \x1b[31m\xe2\x80\xae'
expect 2 "$DTPROF" annotate --json --csv main x.dtp
stays_text x.html '&#60;/script&#62; \u001b[31m\u202e'
! grep -q '<script' x.html || fail "a script gets through"
ok "page and terminal show hostile source, and it stays text"

# Of the kernel there is no text, where its names may be seen at all.
expect 0 "$DTPROF" report --json x.dtp
kernel=$(json out '([r["name"] for r in j["functions"]
    if r["module"] == "[kernel]" and r["self"] > 0] or [""])[0]')
if [ -n "$kernel" ]; then
	expect 0 "$DTPROF" annotate "$kernel" x.dtp
	expect_out 'code of the recorded kernel' "$kernel"
	ok "says why $kernel has no text"
fi

# Two functions of one name: it says which, and takes what it said.
for f in a b; do
	printf '%s\n' "__attribute__((noinline)) static int same(int n)" \
	    "{ volatile int s = $(printf %d "'$f"); while (n-- > 0) s += n;" \
	    "return (s); }" "int $f(int n) { return (same(n)); }" >$f.c
done
echo 'int a(int); int b(int);
int main(void) { return ((a(40000000) + b(40000000)) * 0); }' >main.c
"$CC" -O1 -g -o ab a.c b.c main.c || fail "compiling"
expect 0 "$DTPROF" record -q -e cpu-clock -c 1000000 -o ab.dtp -- ./ab
expect 1 "$DTPROF" annotate same ab.dtp
expect_err "ambiguous name 'same': it matches 2 functions"
grep -o ' /.*:same@0x.*' err >which
[ "$(wc -l <which)" -eq 2 ] || fail "which two?"
while read -r one; do
	expect 0 "$DTPROF" annotate --source "$one" ab.dtp
	grep -o '^/.*/[ab]\.c$' out >>files
done <which
[ "$(sort -u files | wc -l)" -eq 2 ] || fail "not one of each file"
ok "of two functions of one name each can be named"

expect 1 "$DTPROF" annotate wurk x.dtp
expect_err "did you mean"
mkdir bin && ln -s "$(command -v python3)" bin/
expect 0 env PATH="$tmp/bin" "$DTPROF" annotate work x.dtp
expect_out 'install binutils'
rm hot.c
[ "$(total work)" = "$self" ] || fail "without the source"
expect_out 'only line numbers are shown'
mv hot gone
# Whether the recording kept its name or not.
expect 0 "$DTPROF" report --json -e cpu-clock x.dtp
set -- "$(json out 'j["functions"][0]["name"]')" \
    "$(json out 'j["functions"][0]["samples"]')"
[ "$(total "$1")" = "$2" ] && [ "$2" -gt 100 ] || fail "without the file"
expect_out 'since the recording, the file with this code was removed'
ok "says so without objdump, source and file, with the same sums"
