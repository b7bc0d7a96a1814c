#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: compare --junit writes XML that a strict parser and the rules of
# the stricter of JUnit's schemas accept, whatever names are in it; a test case
# fails just where the exit status says so, and is skipped where there is no
# verdict.  compare --github prints one annotation for each command that is
# slower, an error where the status is 3 or 4, and appends tables in Markdown
# to what GITHUB_STEP_SUMMARY names, never through a link, or prints them.
# Easy to get wrong: elements in another order; a control character or ]]> in a
# name; a line break in a name that begins a command of the runner.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
unset GITHUB_STEP_SUMMARY
cat >make.py <<'END'
import json, random, sys
random.seed(1)
names = [f"c<&\"'>]]>%\n\r::error::{i}\u0001\u001b[2J\ufffe\u202e"
         for i in range(4)]
for file, means in ("base", (1, 1, 1, 1)), ("new", (1, 1.5, 0.5, 1.03)):
    with open(file, "w") as out:
        json.dump({"results": [{"command": n, "times": [
            mean * random.gauss(1, 0.1 if i == 3 else 0.001)
            for _ in range(8)]} for i, (n, mean) in
            enumerate(zip(names, means))]}, out)
END
python3 make.py
# Elements in their order, attributes that must and may be there, what they
# look like: Ant's schema as Windy Road wrote it down, which is the strictest.
cat >junit.py <<'END'
import re, sys, xml.parsers.expat
number, when, some = r"\d+", r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", r"(?s).+"
decimal, line = r"\d+\.\d{3}", r"[^\t\n\r]+"
rules = {    # parents, attributes, children as a pattern, may it have text
    "testsuites": ([None], {}, "(testsuite )*", False),
    "testsuite": (["testsuites"], {"name": line, "package": line,
        "id": number, "timestamp": when, "hostname": line, "tests": number,
        "failures": number, "errors": number, "skipped": number,
        "time": decimal},
        "properties (testcase )*system-out system-err ", False),
    "properties": (["testsuite"], {}, "", False),
    "testcase": (["testsuite"], {"name": line, "classname": line,
        "time": r"\d+\.\d+"}, "(skipped |failure )?", False),
    "failure": (["testcase"], {"type": line, "message": some}, "", True),
    "skipped": (["testcase"], {"message": some}, "", True),
    "system-out": (["testsuite"], {}, "", True),
    "system-err": (["testsuite"], {}, "", True)}
stack, cases, suite = [], [], {}
def begin(name, attributes):
    parents, wanted, _, _ = rules[name]
    parent = stack[-1][0] if stack else None
    assert parent in parents, (name, parent)
    assert set(attributes) == set(wanted), (name, attributes)
    for key, value in attributes.items():
        assert re.fullmatch(wanted[key], value), (name, key, value)
    if stack:
        stack[-1][1] += name + " "
    stack.append([name, "", ""])
    if name == "testsuite":
        suite.update(attributes)
    if name == "testcase":
        cases.append([attributes["name"], "passed"])
    if name in ("failure", "skipped"):
        cases[-1][1] = name + " " + attributes.get("type", "")
def end(name):
    _, children, text = stack.pop()
    assert re.fullmatch(rules[name][2], children), (name, children)
    assert rules[name][3] or not text.strip(), (name, text)
def data(text):
    stack[-1][2] += text
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202e]", text)
parser = xml.parsers.expat.ParserCreate()
parser.StartElementHandler, parser.EndElementHandler = begin, end
parser.CharacterDataHandler = data
parser.Parse(open(sys.argv[1], "rb").read(), True)
assert not stack
for what, key in ("", "tests"), ("failure", "failures"), ("skipped", "skipped"):
    assert int(suite[key]) == sum(c[1].startswith(what) for c in cases), key
assert suite["errors"] == "0"
print(" / ".join(c[1].strip() for c in cases))
END
junit()		# status, cases, arguments
{
	junit_want=$1 junit_cases=$2
	shift 2
	expect "$junit_want" "$DTPROF" compare --junit x.xml "$@"
	python3 junit.py x.xml >cases || fail "$(cat cases x.xml)"
	[ "$(cat cases)" = "$junit_cases" ] || fail "$*: $(cat cases)"
}
junit 0 'passed / passed / passed / skipped' base -- new
junit 3 'passed / failure slower / passed / skipped' --fail-on slower \
    base -- new
junit 0 'passed / passed / passed / skipped' --fail-on slower:80 base -- new
junit 4 'passed / passed / passed / failure inconclusive' --strict base -- new
junit 3 'passed / failure slower / passed / failure inconclusive' --strict \
    --fail-on slower base -- new
grep -q 'x1b' x.xml || fail "the names are not there"
for n in 0 1 2 3 4 5 6 7; do
	printf 'main;<a&]]>%s %d\nmain;b 50\n' x $((90 + n % 3)) >90-$n
	printf 'main;<a&]]>%s %d\nmain;b 50\n' x $((120 + n % 3)) >120-$n
done
junit 3 'failure costs more' --fail-on slower:5 90-? -- 120-?
grep -q '&#60;a&#38;' x.xml || fail "no functions in it"
expect 1 "$DTPROF" compare --junit nosuch/x.xml base -- new
ln -s victim x.link
expect 1 "$DTPROF" compare --junit x.link base -- new
[ ! -e victim ] || fail "it went through a link"
ok "JUnit XML, by a strict parser and schema"

annotations()
{
	grep '^::' out | sed 's/ title=dtprof compare%3A /,/;s/::c<.*//' |
	    tr '\n' ' '
}
github()	# status, annotations, arguments
{
	github_want=$1 github_lines=$2
	shift 2
	expect "$github_want" "$DTPROF" compare --github "$@"
	[ "$(annotations)" = "$github_lines" ] ||
	    { cat out; fail "$*: $(annotations)"; }
}
github 0 '::warning,slower ' base -- new
grep -c '^### ' out | grep -qx 4 || fail "no Markdown: $(cat out)"
grep '^::' out | grep -q '%25.*u000a.*u000d' || fail "escapes: $(cat out)"
! grep '^::' out | grep -q '%[^0-9]' || fail "a bare %: $(cat out)"
github 3 '::error,slower ' --fail-on slower base -- new
github 4 '::warning,slower ::error,inconclusive ' --strict base -- new
echo before >summary
GITHUB_STEP_SUMMARY=$tmp/summary
export GITHUB_STEP_SUMMARY
github 3 '::error,slower ' --fail-on slower base -- new
[ "$(head -n 1 summary)" = before ] || fail "the summary was not appended to"
grep -c '^### ' summary | grep -qx 4 || fail "$(cat summary)"
grep -q '^base  c<' out || fail "not the usual table"
! grep -q '^###' out || fail "Markdown twice"
! grep -q '^::' summary || fail "annotations in the summary"
GITHUB_STEP_SUMMARY=$tmp/new.md
github 0 '::warning,slower ' base -- new
grep -q '^### ' new.md || fail "no summary where there was none"
ln -s victim link.md
mkfifo pipe.md
for GITHUB_STEP_SUMMARY in $tmp/link.md $tmp/pipe.md $tmp/nosuch/x.md $tmp; do
	expect 1 "$DTPROF" compare --github base -- new
	expect_err "compare: $GITHUB_STEP_SUMMARY: " 'which file'
done
[ ! -e victim ] || fail "it went through a link"
expect 2 "$DTPROF" compare --github --json base -- new
ok "annotations and a summary for GitHub"
