#!/bin/sh
# ASSERTION: a function's name comes from the binary that ran, never from
# another one at the same address or at the same path.  Easy to get wrong:
# exec puts other functions where the last program's were, a path may lead to
# another file by the time it is read, and into a file that the recorder holds
# open another may be copied.  Names are checked against nm.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd nm
tmpdir
cat >spin.c <<'END'
#include <time.h>
#include <unistd.h>
volatile unsigned long sum;
#define FN(n) __attribute__((noinline)) void NAME(n)(void) \
	{ for (int i = 0; i < 20000; i++) sum += i * n; }
#define CAT(a, b) a##b
#define CAT2(a, b) CAT(a, b)
#define NAME(n) CAT2(WHO, _##n)
FN(1) FN(2) FN(3)
int main(int argc, char **argv)
{
	struct timespec ts, from;
	(void)argc;
	/* CPU time goes on through an exec. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &from);
	do {
		NAME(1)(); NAME(2)(); NAME(3)();
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	} while ((ts.tv_sec - from.tv_sec) * 1000000000L + ts.tv_nsec -
	    from.tv_nsec < 20000000);
	if (argv[1] != NULL)
		execv(argv[1], argv + 1);
	return 0;
}
END
for who in alpha beta; do
	cc -O1 -no-pie -fno-pie -Wl,--build-id -DWHO=$who -o $who spin.c ||
	    fail "cc"
done
[ "$(nm alpha | sed 's/alpha//' | grep ' T _[123]')" = \
    "$(nm beta | sed 's/beta//' | grep ' T _[123]')" ] ||
    fail "the two do not lie at the same addresses"
# Each exec another binary in the same process, many times over.
set --
n=0
while [ $n -lt 20 ]; do set -- "$@" ./beta ./alpha; n=$((n + 1)); done
record 0 -o a.dtp -F 4999 --call-graph fp -- ./alpha "$@"
"$DTPROF" script --json --show samples a.dtp >before.json || fail "script"
nm -S alpha >alpha.nm
cp alpha kept
cp beta new && mv new alpha		# another build at the path
"$DTPROF" script --json --show samples a.dtp >after.json || fail "script"
cat >check.py <<'END'
import json
import bisect
from recording import check, ok

# What has no size, as the stubs of the linker, has no name to compare.
symbols = {}
for line in open("alpha.nm"):
    words = line.split()
    if len(words) == 4 and words[2] in "tT":
        symbols[int(words[0], 16)] = int(words[1], 16), words[3]
starts = sorted(symbols)


def by_nm(pc):
    at = bisect.bisect_right(starts, pc) - 1
    if at < 0 or pc >= starts[at] + symbols[starts[at]][0]:
        return None, None
    return symbols[starts[at]][1], pc - starts[at]


def leaves(path):
    for line in open(path):
        r = json.loads(line)
        if r.get("user_frames"):
            yield r["comm"], int(r["user"][0], 16), r["user_frames"][0]


seen = {"alpha": 0, "beta": 0}
for comm, pc, frame in leaves("before.json"):
    if not frame["module"].endswith(("/alpha", "/beta")):
        continue
    other = "beta" if comm == "alpha" else "alpha"
    check(frame["module"].endswith("/" + comm),
          "%s ran in %s" % (comm, frame["module"]))
    name = frame["function"]
    check(other not in (name or ""), "%s in a sample of %s" % (name, comm))
    right, offset = by_nm(pc)
    if comm == "alpha" and right is not None:
        check((name, frame["offset"]) == (right, offset),
              "%x is %s+%d for nm, %s+%d for us" % (pc, right, offset, name,
                                                   frame["offset"]))
    seen[comm] += (name or "").startswith(comm + "_")
check(min(seen.values()) > 50, "few samples: %s" % seen)
ok("40 execs, two binaries at the same addresses: %s, all named as nm "
   "does" % seen)
gone = named = 0
for comm, pc, frame in leaves("after.json"):
    if not frame["module"].endswith("/" + comm):
        continue
    if comm == "alpha":
        name = frame["function"] or ""
        check("beta" not in name, "alpha's %x is called %s" % (pc, name))
        gone += 1
    else:
        named += (frame["function"] or "").startswith("beta_")
check(gone > 50 and named > 50, "few samples: %d, %d" % (gone, named))
ok("replaced: %d samples of the old build, none named by the new" % gone)
END
python3 check.py

# Another build is copied into the file while it is recorded, so that it is the
# same inode with other functions.  What is but unlinked keeps its names.
cat >inplace.py <<'END'
import collections
import sys
from recording import check, ok, samples

how = sys.argv[1]
seen, own = collections.Counter(), collections.Counter()
for s in samples("i.dtp"):
    if s["comm"] not in ("v1", "v2", "gone") or not s.get("user_frames"):
        continue
    frame = s["user_frames"][0]
    if not frame["module"].endswith(("/prog", "/gone")):
        continue
    who = "beta" if s["comm"] == "v2" else "alpha"
    name = frame["function"] or ""
    other = "alpha" if who == "beta" else "beta"
    check(not name.startswith(other), "%s: %s, which is %s, is called %s" %
          (how, s["comm"], who, name))
    seen[s["comm"]] += 1
    own[s["comm"]] += name.startswith(who)
check(len(seen) == 3 and min(seen.values()) > 10, "few samples: %s" % seen)
check(own["gone"] > 10, "%s: unlinked: %s of %s named" % (how, own, seen))
# By device and inode the two builds are one file, and which is not known.
check(own["v2"] > 10 or "none" in how, "%s: %s of %s named" %
      (how, own, seen))
ok("%s, written in place: of %s samples named %s, none by the other build" %
   (how, dict(seen), dict(own)))
END
for id in --build-id --build-id=none; do
	for who in alpha beta; do
		cc -O1 -no-pie -fno-pie -Wl,$id -DWHO=$who -o $who spin.c ||
		    fail "cc"
	done
	rm -f prog gone v1 v2
	cp alpha prog
	cp alpha gone
	ln -s prog v1
	ln -s prog v2
	inode=$(stat -c %i prog)
	nap		# what is older than its first mapping can be believed
	record_begin -a -o i.dtp -F 4999 --call-graph fp
	./v1 || fail "v1"
	./gone || fail "gone"
	# Three marks later what was mapped before has been looked at.
	for n in 1 2 3; do await_recording "$recorder"; done
	rm gone
	cp beta prog
	[ "$(stat -c %i prog)" = "$inode" ] || fail "it is another inode"
	./v2 || fail "v2"
	for n in 1 2 3; do await_recording "$recorder"; done
	record_end 0
	python3 inplace.py "$id" || fail "$id"
done
