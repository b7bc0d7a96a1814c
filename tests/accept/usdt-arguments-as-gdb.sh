#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Arguments of static probes, a random choice by SEED of those of
# libstdc++, python3.11, postgres, libruby and php, are what gdb reads
# ($_probe_argN) in other runs of the same program, at each of the probe's
# places; those of libjvm, whose threads run in any order, are the classes that
# its log names and the threads that run.
# TIMEOUT: 900
#
# Easy to get wrong: narrow arguments have a sign; each place of a probe has
# other operands; a semaphore has to be raised before the program looks at it;
# gdb does not count the places that a library has twice.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gdb readelf setarch g++ java setpriv
[ "$(uname -m)" = x86_64 ] || skip "operands of another machine"
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -n "$bin" ] || skip "postgresql is not installed"
tmpdir
chmod 777 .
PYTHONPATH=$PYTHONPATH:$SRC/tests/accept

cat >throws.cc <<'END'
#include <cstdio>
#include <stdexcept>
#include <string>
struct mine { int n; };
static int
turn(int n)
{
	try {
		if (n % 3 == 0)
			throw mine { n };
		if (n % 3 == 1)
			throw std::runtime_error(std::to_string(n));
		throw n;
	} catch (const mine &one) {
		return (one.n);
	} catch (int) {
		throw;
	}
}
int
main()
{
	long sum = 0;

	for (int n = 0; n < 60; n++)
		try {
			sum += turn(n);
		} catch (const std::exception &e) {
			sum += e.what()[0];
		} catch (int other) {
			sum += other;
		}
	printf("%ld\n", sum);
}
END
g++ -O1 -o throws throws.cc || fail "g++"
cat >Work.java <<'END'
import java.util.*;
public class Work {
	static synchronized int mix(Map<String, Integer> map, int n)
	{
		return map.merge("k" + n % 50, n, Integer::sum);
	}
	public static void main(String[] args) throws Exception
	{
		Map<String, Integer> map = new HashMap<>();
		List<Thread> threads = new ArrayList<>();
		for (int t = 0; t < 4; t++) {
			Thread thread = new Thread(() -> {
				for (int n = 0; n < 500; n++)
					mix(map, n);
			}, "worker-" + t);
			threads.add(thread);
			thread.start();
		}
		for (Thread thread : threads)
			thread.join();
		System.gc();
		System.out.println(map.size());
	}
}
END
javac Work.java || fail "javac"
cat >do.rb <<'END'
3.times { [3, 1, 2].sort; GC.start }
eval("1 + 1")
begin; raise "x"; rescue; end
END
cat >do.php <<'END'
<?php function f($n) { return $n ? f($n - 1) : 0; }
f(5);
try { throw new Exception(1); } catch (Exception $e) { }
END
as="setpriv --reuid=postgres --regid=postgres --init-groups --inh-caps=-all"
$as "$bin/initdb" -D "$tmp/data0" -A trust >initdb.out 2>&1 ||
    fail "initdb: $(tail -n 3 initdb.out)"
py "${SEED:-42}" "$bin/postgres" <<'END'
import collections
import glob
import os
import random
import re
import shutil
import subprocess
import sys

import arguments
import recording as rec

SEED, POSTGRES = int(sys.argv[1]), sys.argv[2]
MOST = 40
PROBES = 12
here = os.getcwd()
draw = random.Random(SEED)
tally = arguments.Tally()
PYTHON = ("import gc,json\n"
          "def f(n): return n and f(n-1)\n"
          "for i in range(3): f(5); gc.collect(i)\n"
          "json.dumps({1:2})\n")
with open("probes.py", "w") as file:
    file.write(PYTHON)
SQL = ("create table t(a int, b text); insert into t select g, g::text from "
       "generate_series(1,500) g; create index i on t(b); vacuum t; "
       "checkpoint; select count(*) from t where b like '%7%'; "
       "drop table t;\n")
with open("script.sql", "w") as file:
    file.write(SQL)
USER = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups",
        "--inh-caps=-all"]


def data_again():
    """The same files for each run."""
    shutil.rmtree("data", ignore_errors=True)
    subprocess.run(["cp", "-a", "data0", "data"], check=True)


def key_of(file, probe):
    """Of a static probe."""
    return "%s:%s:%s" % (os.path.basename(file), *probe)


def compare(file, program, argv, env, **more):
    """A program with some of the probes of a file, by gdb."""
    found = arguments.notes(file)
    some = draw.sample(sorted(found), min(len(found), PROBES))
    loaded = arguments.segments(file)
    ask = {"program": program, "argv": argv, "env": env, "most": MOST,
           "places": [], **more}
    events = {}
    for probe in some:
        key = key_of(file, probe)
        events[key] = "usdt:%s:%s:%s" % (file, *probe)
        count = max(len(args) for _, _, args in found[probe])
        place = {"key": key, "file": file, "names": [],
                 "nargs": min(count, arguments.MOST_ARGS)}
        # gdb raises semaphores for those that it looks up itself.
        if file == program:
            ask["places"].append(dict(place, offset=0,
                                      probe="%s:%s" % probe))
        else:
            ask["places"] += [dict(place, probe=None,
                                   offset=arguments.offset_of(loaded, at),
                                   address=at, semaphore=semaphore)
                              for at, semaphore, _ in found[probe]]
    before = ask.get("before", lambda: None)
    ask.pop("before", None)
    sides = []
    for n in (1, 2):
        before()
        sides.append(arguments.gdb(ask, "calls%d" % n))
    ours = []
    for n in (1, 2):
        before()
        ours.append(arguments.dtprof(ask, events))
    fired = 0
    for key in events:
        first, second = (side.get(key, []) for side in sides)
        fired += len(first) > 0
        tally.place(key, MOST, ours, first, second)
    print("%s: %d of %d probes with %d places, %d fired: %s" %
          (file, len(some), len(found), len(ask["places"]), fired,
           " ".join("%s %d" % (key, len(side)) for key, side in
                    sorted(sides[0].items()))))
    rec.check(fired > 0, "%s: no probe fired: %s" %
              (file, open("gdb.err").read()[-500:]))


compare(os.path.realpath("/usr/lib/x86_64-linux-gnu/libstdc++.so.6"),
        here + "/throws", [], {})
python = os.path.realpath("/usr/bin/python3.11")
compare(python, python, ["-I", "-S", "-B", here + "/probes.py"],
        {"PYTHONHASHSEED": "0"})
compare(POSTGRES, POSTGRES, ["--single", "-D", here + "/data", "postgres"],
        {}, stdin=here + "/script.sql", before=data_again, **{"as": USER})
for command, library, argv in [
        ("ruby", "/usr/lib/*/libruby-*.so.*",
         ["--disable=gems", here + "/do.rb"]),
        ("php", None, ["-n", here + "/do.php"])]:
    program = shutil.which(command, path="/usr/bin")
    if program is None:
        print("note: %s is not installed" % command)
        continue
    program = os.path.realpath(program)
    paths = glob.glob(library) if library else [program]
    file = os.path.realpath(paths[0])
    if arguments.notes(file):
        compare(file, program, argv, {})
    else:
        print("%s has no static probes in this release" % file)
tally.end("seed %d" % SEED)

# Threads of Java run in any order: the JVM has a log of its own.
java = os.path.realpath(shutil.which("java", path="/usr/bin"))
libjvm = os.path.realpath(glob.glob(os.path.dirname(java) +
                                    "/../lib/server/libjvm.so")[0])
CLASS, THREAD = ("usdt:%s:hotspot:%s/%s/" % (libjvm, name, args)
                 for name, args in [
                     ("class__loaded", "str(arg0),arg1,arg3"),
                     ("thread__start", "str(arg0),arg1,arg3")])
done = subprocess.run([rec.DTPROF, "record", "-q", "-o", "jvm.dtp", "-e",
                       CLASS, "-e", THREAD, "--call-graph", "none", "--",
                       java, "-Xlog:class+load:file=load.log", "-cp", here,
                       "Work"], stdin=subprocess.DEVNULL, check=False,
                      stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                      text=True)
rec.check(done.returncode == 0, done.stderr)
logged = collections.Counter()
for line in open("load.log"):
    name, source = re.search(r"\] (\S+) source: (.*)", line).groups()
    # What is made while it runs has a name with an address.
    logged[(name.split("/0x")[0].replace(".", "/")[:60],
            source.startswith("shared objects file"))] += 1
loaded, threads = collections.Counter(), {}
for sample in rec.samples("jvm.dtp", None, "--no-symbols"):
    text, length, last = sample["args"].values()
    if sample["event"] == THREAD:
        threads[text[:length]] = (last, sample["tid"])
    else:
        name = text[:length].split("+0x")[0].split("/0x")[0]
        loaded[(name[:60], bool(last & 1))] += 1
rec.check(loaded == logged and len(loaded) > 300, "only ours %r, only the "
          "JVM's %r" % (list((loaded - logged).items())[:5],
                        list((logged - loaded).items())[:5]))
workers = {name: tids for name, tids in threads.items()
           if name.startswith("worker-")}
rec.check(sorted(workers) == ["worker-%d" % n for n in range(4)] and
          all(told == tid for told, tid in workers.values()),
          "threads %r" % threads)
rec.ok("libjvm: %d classes and %d threads are what its log and the kernel say"
       % (sum(loaded.values()), len(threads)))
END
