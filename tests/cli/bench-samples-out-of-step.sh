#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the runs of bench --record are sampled at rates of their own, the
# n-th of both commands at the same, so that a loop as long as a period of 999
# Hz shows the true share of its parts.  Easy to get wrong: a single rate, at
# which each run has samples of the same place, which looks like certainty.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd cc
tmpdir
cat >step.c <<'END'
#include <time.h>

static long
now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
	return (at.tv_sec * 1000000000 + at.tv_nsec);
}

__attribute__((noipa)) static void
quarter(long end)
{
	while (now() < end)
		;
}

__attribute__((noipa)) static void
rest(long end)
{
	while (now() < end)
		;
}

int
main(void)
{
	for (long end = now(), n = 0; n < 250; n++) {
		quarter(end += 250250);
		rest(end += 750751);
	}
	return (0);
}
END
cc -O2 -o step step.c || fail "cc"
expect 0 "$DTPROF" bench --record -w 0 -r 8 ./step ./step
for n in dtprof.bench/*.dtp; do
	"$DTPROF" report --stats "$n" >stats || fail "$n"
	echo "$n $(sed -n 's/.* every \([0-9]*\) ns$/\1/p' stats)" >>periods
	"$DTPROF" report --csv "$n" 2>err |
	    awk -F, '$7 == "\"quarter\"" { share = $15 }
	    END { print 0 + share }' >>shares
done
sed 's/-[ab]-/-/' periods | sort | uniq -c | awk '$1 != 2 { exit 1 }' ||
    fail "not the same of both commands: $(cat periods)"
n=$(cut -d ' ' -f 2 periods | sort -u | wc -l)
[ "$n" -ge 7 ] || fail "only $n rates: $(cat periods)"
ok "$n rates in 8 runs, the same of both commands"
awk '{ sum += $1 } END { mean = sum / NR; print mean, NR
    exit !(mean > 0.15 && mean < 0.35) }' shares >mean ||
    fail "a quarter of the time is $(cat mean): $(cat shares)"
ok "a quarter of each period is $(cat mean)"
