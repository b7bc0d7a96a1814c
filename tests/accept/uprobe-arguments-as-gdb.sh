#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Arguments of functions are what gdb reads in other runs of the same
# program: of at least 1,000 calls of 50 functions, drawn by SEED from nm -D of
# what programs of Debian load, each register of the ABI, and each parameter of
# which debug information (libc6-dbg) says name and type, text too.
# TIMEOUT: 900
#
# Easy to get wrong: a parameter is not in the register that its number says; a
# narrow one has no more than its own bits; the first calls of a library are
# made before its program begins.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gdb nm ldd setarch sqlite3 xz perl git
[ "$(uname -m)" = x86_64 ] || skip "registers of another machine"
tmpdir
PYTHONPATH=$PYTHONPATH:$SRC/tests/accept

seq 20000 >numbers
git init -q tree && cp numbers tree && git -C tree add numbers &&
    git -C tree -c user.name=a -c user.email=a@b commit -q -m one ||
    fail "git"

cat >do.py <<'END'
import json,zlib,re,math
d = [{"n": i, "s": math.sin(i), "t": str(i) * 3} for i in range(200)]
j = json.dumps(d)
print(len(j), len(re.findall("[0-9]+", j)), zlib.crc32(zlib.compress(
    j.encode())), len(json.loads(j)))
END
cat >do.pl <<'END'
my %h;
$h{$_ % 97} .= "x$_" for 1..999;
print join ",", map { length $h{$_} } sort keys %h;
END
cat >do.sql <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<300)
    insert into t select x, hex(x*x) from c;
select count(*), max(b), sum(length(b)) from t where b like '%3%';
END

py "${SEED:-42}" "${CALLS:-1000}" "${FUNCTIONS:-50}" <<'END'
import json
import os
import random
import shutil
import sys

import arguments
import recording as rec

SEED, CALLS, FUNCTIONS = (int(word) for word in sys.argv[1:])
MOST = 25
here = os.getcwd()
# gdb divides arguments at spaces.
PROGRAMS = [
    ("sqlite3", [":memory:"], {}, here + "/do.sql"),
    ("python3.11", ["-I", "-S", "-B", here + "/do.py"],
     {"PYTHONHASHSEED": "0"}, "/dev/null"),
    ("xz", ["-T1", "-c", here + "/numbers"], {}, "/dev/null"),
    ("perl", [here + "/do.pl"], {"PERL_HASH_SEED": "0"}, "/dev/null"),
    ("git", ["-C", here + "/tree", "log", "--stat", "-p"], {"HOME": here},
     "/dev/null"),
]
draw = random.Random(SEED)
tally = arguments.Tally()
seen, named = 0, 0


def parameters(path, name):
    """What dtprof names, (name, type)."""
    rows = json.loads(rec.run("list", "--json", "uprobe:%s:%s" %
                              (path, name)))["probes"]
    return [(arg["name"], arg["type"]) for arg in rows[0]["args"]
            if not arg["name"].startswith("arg")] if len(rows) == 1 else None


def event_of(place, types):
    """Names first, then text, then registers, as far as there is room."""
    words = [name for name, _ in types]
    words += ["str(%s)" % name for name, kind in types if "char *" in kind]
    words = (words + ["arg%d" % n for n in range(6)])[:arguments.MOST_ARGS]
    return "uprobe:%s:%s/%s/" % (place["file"], place["name"],
                                 ",".join(words))


for number, (program, argv, env, stdin) in enumerate(PROGRAMS, 1):
    path = os.path.realpath(shutil.which(program, path="/usr/bin"))
    every = [(file, name, offset) for file in arguments.libraries(path)
             for name, offset in arguments.functions(file)]
    some = draw.sample(every, min(len(every), 600))
    ask = {"program": path, "argv": argv, "env": env, "most": MOST,
           "stdin": stdin,
           "places": [{"key": "%s:%s" % (os.path.basename(file), name),
                       "file": file, "name": name, "offset": offset,
                       "names": [], "probe": None, "nargs": 0}
                      for file, name, offset in some]}
    called = arguments.gdb(ask, "calls")
    rec.check(called, "%s calls none of them: %s" %
              (program, open("gdb.err").read()[-500:]))
    places, events = [], {}
    # What one has too few of the next ones have more of.
    wanted = CALLS * number / len(PROGRAMS) - tally.calls
    calls = 0
    for place in ask["places"]:
        if place["key"] not in called:
            continue
        if len(places) >= FUNCTIONS / len(PROGRAMS) and calls >= wanted:
            break
        types = parameters(place["file"], place["name"])
        if types is None:
            continue
        place["names"] = [name for name, _ in types]
        named += len(types) > 0
        places.append(place)
        calls += len(called[place["key"]])
        events[place["key"]] = event_of(place, types)
    ask["places"] = places
    first, second = (arguments.gdb(ask, "calls%d" % n) for n in (1, 2))
    ours = [arguments.dtprof(ask, events) for n in (1, 2)]
    before = tally.calls
    for place in places:
        key = place["key"]
        tally.place(key, MOST, ours, first[key], second[key])
    seen += len(places)
    print("%s: %d calls of %d functions: %s" %
          (program, tally.calls - before, len(places), " ".join(events)))
rec.check(seen >= FUNCTIONS and tally.calls >= CALLS, "%d calls of %d" %
          (tally.calls, seen))
rec.check(named >= 5 or not os.path.isdir("/usr/lib/debug/.build-id"),
          "%d functions have parameters with names" % named)
tally.end("seed %d: %d functions, %d with names" % (SEED, seen, named))
END
