#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: EVENT{EXPR} stores just those firings of this event that match, by
# an evaluation of the raw stream by hand and by bpftrace's predicates: numbers
# and their signs, bits, sets, two arguments, text, names of threads; --comm and
# --filter hold as well, and all events are accounted for.  trace prints those
# events, of system calls, too, and stat counts them.
#
# Easy to get wrong: the text that an argument points to is read before anything
# is stored, a longer text begins with a shorter one, each event of one run has
# another filter, and the arguments that a filter needs are not always recorded.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd gcc bpftrace
tmpdir

cat >calls.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
static const char *const words[] = { "GET", "PUT", "GETS", "", "a/b,c}d" };
__attribute__((noinline)) long
f(long n, unsigned flags, const char *word, long m)
{
	__asm__ volatile("" : : "r"(n), "r"(flags), "r"(word), "r"(m) :
	    "memory");
	return (n - m);
}
int
main(int argc, char **argv)
{
	int n = atoi(argv[argc - 1]);
	struct stat st;

	for (int i = 0; i < 5; i++)
		puts(words[i]);
	for (int i = 0; i < n; i++) {
		if (i == n / 2)
			prctl(PR_SET_NAME, "second");
		f(i % 97 - 40, i & 0xff, words[i % 5], i % 13);
		if (i % 10 == 0)
			stat(words[i / 10 % 5], &st);
	}
	return (0);
}
END
gcc -O1 -o calls calls.c || fail "gcc"
cat >filters <<'END'
arg0 > arg3
arg0 in (1, 2, 3) || arg1 & 0x80
str(arg2) == "GET" && arg0 < -3
str(arg2) in ("GET", 'a/b,c}d') && !(arg1 == arg0)
str(arg2) != "GETS" && comm == "second"
str(arg2) == "" && arg0 <= arg1
END
set --
while read -r filter; do
	set -- "$@" -e "uprobe:./calls:f{$filter}"
done <filters
record 0 -o a.dtp -e 'uprobe:./calls:f/arg0,arg1,str(arg2),arg3/' "$@" -- \
    ./calls 1000
record 0 -o b.dtp --comm second --filter 'arg3 > 2' \
    -e 'uprobe:./calls:f/arg3/{arg0 >= 0}' -e 'uprobe:./calls:f/arg0,arg3/' \
    -- ./calls 1000
cat >count.bt <<'END'
uprobe:./calls:f /(int64)arg0 > (int64)arg3/ { @a = count(); }
uprobe:./calls:f /arg0 == 1 || arg0 == 2 || arg0 == 3 || arg1 & 0x80/ {
	@b = count();
}
uprobe:./calls:f /str(arg2) == "GET" && (int64)arg0 < -3/ { @c = count(); }
uprobe:./calls:f {
	if ((str(arg2) == "GET" || str(arg2) == "a/b,c}d") &&
	    !(arg1 == arg0)) {
		@d = count();
	}
}
uprobe:./calls:f /str(arg2) != "GETS" && comm == "second"/ { @e = count(); }
uprobe:./calls:f /str(arg2) == "" && (int64)arg0 <= (int64)arg1/ {
	@f = count();
}
END
bpftrace -f json -o theirs -c "./calls 1000" count.bt >out 2>err ||
    fail "bpftrace: $(cat err)"
py <<'END'
import json
import recording as rec

WORDS = ["GET", "PUT", "GETS", "", "a/b,c}d"]
NAMES = ["arg0", "arg1", "str(arg2)", "arg3"]
HANDS = [
    lambda a, b, s, d, comm: a > d,
    lambda a, b, s, d, comm: a in (1, 2, 3) or b & 0x80,
    lambda a, b, s, d, comm: s == "GET" and a < -3,
    lambda a, b, s, d, comm: s in ("GET", "a/b,c}d") and b != a,
    lambda a, b, s, d, comm: s != "GETS" and comm == "second",
    lambda a, b, s, d, comm: s == "" and a <= b,
]
filters = open("filters").read().splitlines()
rows = rec.balance("a.dtp")
raw = rec.samples("a.dtp", "uprobe:./calls:f/arg0,arg1,str(arg2),arg3/")
made = [(i % 97 - 40, i & 0xff, WORDS[i % 5], i % 13,
         "second" if i >= 500 else "calls") for i in range(1000)]
rec.check([tuple(r["args"][k] for k in NAMES) + (r["comm"],)
           for r in raw] == made, "the raw stream: %r" % raw[:1])
theirs = {}
for line in open("theirs"):
    line = json.loads(line)
    if line["type"] == "map":
        theirs.update(line["data"])
for name, text, hand in zip("abcdef", filters, HANDS):
    event = "uprobe:./calls:f{%s}" % text
    ours = rec.samples("a.dtp", event)
    wanted = [m for m in made if hand(*m)]
    used = [k for k in NAMES if k in text]
    rec.check([[r["args"][k] for k in used] for r in ours] ==
              [[m[NAMES.index(k)] for k in used] for m in wanted],
              "%s: %d, by hand %d" % (text, len(ours), len(wanted)))
    rec.check(len(ours) == theirs["@" + name], "%s: %d, bpftrace %d" %
              (text, len(ours), theirs["@" + name]))
    later = rec.samples("a.dtp", raw[0]["event"], "--filter", text, "-e",
                        raw[0]["event"])
    rec.check(len(later) == len(wanted), "%s: %d of the recording" %
              (text, len(later)))
    rec.check(rows[event]["filtered"] == 1000 - len(wanted), "filtered")
    rec.ok("%s: %d of 1000" % (text, len(ours)))
rec.balance("b.dtp")
for event, least in (("uprobe:./calls:f/arg3/{arg0 >= 0}", 0),
                     ("uprobe:./calls:f/arg0,arg3/", -40)):
    ours = [(r["args"]["arg0"], r["args"]["arg3"])
            for r in rec.samples("b.dtp", event)]
    rec.check(ours == [(a, d) for a, b, s, d, comm in made if a >= least and
                       d > 2 and comm == "second"], "%s: %d" %
              (event, len(ours)))
rec.ok("with --comm and --filter")
END

call='syscall:newfstatat{filename in ("GET", "a/b,c}d") && ret == -2}'
[ "$(uname -m)" = x86_64 ] || call='uprobe:./calls:f{arg0 == 7}'
"$DTPROF" trace --json -e "$call" -- ./calls 1000 2>err >traced ||
    fail "trace: $(cat err)"
[ "$(uname -m)" != x86_64 ] ||
    [ "$(grep -c '"type":"sample"' traced)" -eq 40 ] ||
    fail "trace: $(wc -l <traced) lines"
"$DTPROF" stat --json -e 'uprobe:./calls:f/arg0/{str(arg2) == "PUT"}' \
    --by arg0 -- ./calls 1000 2>err >counted || fail "stat: $(cat err)"
py <<'END'
import collections
import json
import recording as rec

groups = json.load(open("counted"))["groups"]
rec.check({g["keys"]["arg0"]: g["count"] for g in groups} ==
          collections.Counter(i % 97 - 40 for i in range(1, 1000, 5)),
          "stat --by arg0: %r" % groups)
rec.ok("trace and stat have what their filters let pass")
END
for bad in 'f{arg0 >' 'f{arg0 > }' 'f{arg7 > 1}' 'f{str(arg0) > 1}' \
    'f{n == 1}'; do
	expect 125 "$DTPROF" record -o n.dtp -e "uprobe:./calls:$bad" -- true
	grep -q hint err || fail "$bad: $(cat err)"
done
# The argument that happens to be recorded first is another one.
expect 125 "$DTPROF" stat -e uprobe:./calls:f/arg1/ --by arg0 -- true
ok "what makes no sense is refused"
