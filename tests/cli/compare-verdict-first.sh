#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: compare begins with the verdict; verdicts are slower, faster, costs
# more, costs less, no change, inconclusive, and on a terminal red, green,
# yellow and nothing, which --color and NO_COLOR decide and which say nothing
# that the words do not; shares stand as base -> new; build-ids are short unless
# that would make the sides look alike, and whole with -v, as reasons of notes
# are.
# Easy to get wrong: color that a file or a pipe gets.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >check.py <<'PY'
import json, os, random, re, subprocess, sys
dtprof = sys.argv[1]
sys.path.append(os.environ["SRC"] + "/tests/cli")
import term
ESCAPE = re.compile(r"\x1b\[(\d+)m")
RED, GREEN, YELLOW = "31", "32", "33"

def run(*words, **env):
    return subprocess.run([dtprof, "compare", *words], text=True, check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        env={**os.environ, "TERM": "xterm", **env}).stdout

def on_terminal(columns, *words, env=()):
    status, out = term.run(["env", "-u", "NO_COLOR", "TERM=xterm", "PAGER=cat",
        *env, dtprof, "compare", *words], columns, echo=False)
    assert status == 0, out
    return out.decode().replace("\r\n", "\n").lstrip("\n")

rng = random.Random(7)
def folded(name, f, g):
    with open(name, "w") as file:
        file.write("main;%s %d\nmain;%s %d\nmain;same 5000\n" % (
            "f", f + rng.randint(0, 20), "g", g + rng.randint(0, 20)))

for n in range(10):
    folded("a%d" % n, 3000, 2000)
    folded("b%d" % n, 4600, 1000)
    folded("c%d" % n, 3000, 2000)
base, new, same = ([s + str(n) for n in range(10)] for s in "abc")
text = run(*base, "--", *new)
first = text.split("\n")[0]
assert re.match(r"profile costs more: total \+6\.\d% \(", first), first
rows = {line.split()[-1]: line for line in text.split("\n")
        if re.search(r"\d% -> ", line)}
assert "costs more" in rows["f"] and "costs less" in rows["g"], text
assert re.search(r" 30\.\d% -> 43\.\d%", rows["f"]), rows["f"]
assert "no change" in rows["same"], rows["same"]
assert ">" not in re.sub("->", "", text), text
print("ok: the verdict first, base -> new, words for each")
assert "\x1b" not in text + run(*base, "--", *new, NO_COLOR="1")
always = run("--color", "always", *base, "--", *new, NO_COLOR="1")
assert ESCAPE.sub("", always) == text, always
def colors(text, word):
    """Of such cells."""
    return {m[1] for m in re.finditer(r"\x1b\[(\d+)m *" + word, text)}
assert RED in colors(always, "costs more"), always
assert GREEN in colors(always, "costs less"), always
assert not colors(always, "no change") & {RED, GREEN, YELLOW}, always
few = run("--color=always", "a0", "--", "b0")
assert YELLOW in colors(few, "too few runs"), few
shown = on_terminal(80, *base, "--", *new)
assert RED in colors(shown, "costs more"), shown
for env in ["NO_COLOR=1"], ["TERM=dumb"]:
    assert "\x1b" not in on_terminal(80, *base, "--", *new, env=env), env
assert "\x1b" not in on_terminal(80, "--color", "never", *base, "--", *new)
assert "\x1b" not in run("--json", "--color", "always", *base, "--", *new)
print("ok: red, green and yellow, where they are asked for")
for columns in 60, 80, 120:
    lines = ESCAPE.sub("", on_terminal(columns, *base, "--", *new)).split("\n")
    assert max(map(len, lines)) <= columns, lines
    assert any(line.split()[-1:] == ["f"] and "costs more" in line and
               "->" in line for line in lines), lines
print("ok: 60, 80 and 120 columns")
note = "the test assumes no drift"
assert "-v: more" in text and note in text and "looks like" not in text
assert "looks like" in run("-v", *base, "--", *new)
PY
python3 check.py "$DTPROF" || fail "see above"
printf 'int main(void) { return (0); }\n' >a.c
printf 'int main(int argc, char **argv) { return (argc - 1); }\n' >b.c
for f in a b; do
	"${CC:-cc}" -O1 -Wl,--build-id -o $f $f.c || fail "compiling"
done
expect 0 "$DTPROF" bench -r 5 -w 0 -o d ./a ./b
expect 0 "$DTPROF" compare d
id=$(readelf -n b | sed -n 's/.*Build ID: //p')
short=$(printf %.8s "$id")
expect_out "^new   \./b, 5 runs, build $short\.\.$" 'a short build-id'
expect 0 "$DTPROF" compare -v d
expect_out "^new   \./b, 5 runs, build $id$" 'a whole build-id'
expect 0 "$DTPROF" compare --json d
expect_out "$id" 'the whole build-id in JSON'
# As if both began alike.
other=$(readelf -n a | sed -n 's/.*Build ID: //p')
sed -i "s/$other/$short${other#????????}/" d/bench.json
expect 0 "$DTPROF" compare d
expect_out "^new   \./b, 5 runs, build $id$" 'ids that begin alike'
expect_out "^base  \./a, 5 runs, build $short${other#????????}$" 'of both sides'
ok "short build-ids, whole ones with -v, in JSON, and where they begin alike"
