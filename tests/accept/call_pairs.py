# SPDX-License-Identifier: ISC
"""call_pairs.py make python|javascript SEED FILE GRAPH: write a random program,
and who may call whom in it, a line "caller callee" each.

call_pairs.py judge GRAPH < FOLDED: in each stack that "export --format folded
--frames script" has, each function of the program is called by one that calls
it there.  Functions that are not the program's are left out, and samples that
have none of its; a frame without a name ends what can be said.
"""
import random
import re
import sys

OURS = re.compile(r"(?:.*[.\s])?(fn\w+)(?: .*)?")

HEADS = {
    "javascript": """'use strict';
const { Worker, isMainThread } = require('worker_threads');
function* fnOnce(v) {
	yield v % 7;
}
""",
    "python": """import sys, threading, time
def fnOnce(v):
    yield v % 7
""",
}
TAILS = {
    "javascript": """function fnMain(ms) {
	const end = Date.now() + ms;
	let s = 1;
	while (Date.now() < end)
		for (let i = 0; i < 20; i++)
			s = fn0(s, 1);
	return s;
}
setTimeout(fnMain, 1000, Number(process.argv[2]) * 1000);
if (isMainThread)
	new Worker(__filename, { argv: [process.argv[2]] });
""",
    "python": """def fnMain():
    end = time.monotonic() + float(sys.argv[1])
    s = 1
    while time.monotonic() < end:
        for _ in range(20):
            s = fn0(s, 1)
time.sleep(1)
other = threading.Thread(target=fnMain)
other.start()
fnMain()
other.join()
""",
}
# How a function calls another one, and whether by one of its own.
WAYS = {
    "javascript": [
        ("s += {to}(s, 1);", False),
        ("s = [s].map(function {own}(v) {{ return {to}(v, 1); }})[0];", True),
        ("[s].forEach(function {own}(v) {{ s += {to}(v, 1); }});", True),
        ("s += Reflect.apply({to}, null, [s, 1]);", False),
        ("try {{ s += {to}(s, 1); throw s; }} catch (e) {{ s = e | 0; }}",
         False),
        ("for (const v of fnOnce(s)) s += {to}(v, 1);", False),
        ("JSON.stringify([1], function {own}(k, v) "
         "{{ s += {to}(s, 1); return v; }});", True),
    ],
    "python": [
        ("s += {to}(s, 1)", False),
        ("s = list(map({to}, [s], [1]))[0]", False),
        ("def {own}(v): return {to}(v, 1)\n    s += max([s], key={own})", True),
        ("try:\n        s += {to}(s, 1)\n        raise ValueError\n"
         "    except ValueError:\n        s += 1", False),
        ("for v in fnOnce(s): s += {to}(v, 1)", False),
        ("s += sum({to}(v, 1) for v in [s])", None),
    ],
}
BODIES = {
    "javascript": (
        "function {name}(s, d) {{",
        "	for (let i = 0; i < {n}; i++)\n"
        "		s = (s * 31 + i) % 1000003;",
        "	if (d > 0 && d < {depth})\n		s += {name}(s, d + 1);",
        "	{way}",
        "	return s % 1000003;\n}}"),
    "python": (
        "def {name}(s, d):",
        "    for i in range({n}):\n        s = (s * 31 + i) % 1000003",
        "    if 0 < d < {depth}:\n        s += {name}(s, d + 1)",
        "    {way}",
        "    return s % 1000003"),
}


def function(of, count, language, draw, pairs):
    """One that calls some with higher numbers, and perhaps itself."""
    head, loop, recurse, call, tail = BODIES[language]
    name = "fn%d" % of
    lines = [head.format(name=name),
             loop.format(n=draw.choice([1, 3, 20, 100, 400]))]
    if draw.random() < 0.2 and of > count // 2:
        lines.append(recurse.format(name=name, depth=draw.randint(2, 5)))
        pairs.add((name, name))
    for n in range(draw.randint(1, 2) if of < count - 1 else 0):
        to = "fn%d" % draw.randint(of + 1, min(count - 1, of + 8))
        own = "fn%dx%d" % (of, n)
        way, by_own = draw.choice(WAYS[language])
        pairs.add((name, own if by_own else to))
        if by_own:
            pairs.add((own, to))
        if "fnOnce" in way:
            pairs.add((name, "fnOnce"))
        lines.append(call.format(way=way.format(to=to, own=own)))
    return "\n".join(lines + [tail.format()])


def make(language, seed, path, graph):
    draw = random.Random(seed)
    count = draw.randint(12, 24)
    pairs = {("fnMain", "fn0")}
    with open(path, "w", encoding="utf-8") as file:
        file.write(HEADS[language])
        for of in range(count):
            file.write(function(of, count, language, draw, pairs) + "\n")
        file.write(TAILS[language])
    with open(graph, "w", encoding="utf-8") as file:
        for caller, callee in sorted(pairs):
            file.write("%s %s\n" % (caller, callee))


def judge(graph):
    pairs = {tuple(line.split()) for line in open(graph, encoding="utf-8")}
    known = {name for pair in pairs for name in pair}
    samples = seen = bad = cut = 0
    for line in sys.stdin:
        stack, n = line.rsplit(" ", 1)
        caller = None
        is_ours = False
        for name in stack.split(";"):
            if name.startswith("[") or name.startswith("0x"):
                caller, cut = None, cut + int(n)
                continue
            match = OURS.fullmatch(name)
            if match is None:
                continue
            callee = match.group(1)
            if callee not in known:
                print("FAIL: %s is no function of it" % callee)
                bad += int(n)
            if caller is not None and (caller, callee) not in pairs:
                print("FAIL: %s calls %s: %s" % (caller, callee, stack))
                bad += int(n)
            is_ours = True
            seen += (caller is not None) * int(n)
            caller = callee
        samples += is_ours * int(n)
    if bad or samples < 1000 or seen < samples:
        print("FAIL: of %d samples %d are impossible; %d pairs, %d frames "
              "without a name" % (samples, bad, seen, cut))
        sys.exit(1)
    print("ok: %d samples, %d pairs, all of them possible; %d frames without "
          "a name" % (samples, seen, cut))


if sys.argv[1] == "make":
    make(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5])
else:
    judge(sys.argv[2])
