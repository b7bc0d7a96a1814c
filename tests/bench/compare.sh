#!/bin/sh
# SPDX-License-Identifier: ISC
# How often a winner is called among two equal commands while the machine
# gets slower, in the order of hyperfine (all of one, then all of the other)
# and in bench's.  TRIALS=5 takes a twentieth of the time, and ROUNDS=10 (of
# the loop; 100 are a hundred million) a tenth of each run.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd hyperfine python3
tmpdir
trials=${TRIALS:-100} rounds=${ROUNDS:-100}
# A loop whose length grows from run to run: 10 % over a session of 20 runs.
cat >work.sh <<END
#!/bin/sh
n=\$(cat n)
echo \$((n + 1)) >n
exec "\$1" \$(($rounds * (1000 + 5 * n)))
END
chmod +x work.sh
cat >loop.c <<'END'
#include <stdlib.h>
int main(int c, char **v) { volatile long x = 0;
	for (long i = atol(v[1]) * 1000; i > 0; i--) x += i; return (0); }
END
${CC:-cc} -O1 -o loop loop.c || exit 1
# Welch's t at 5 %, as hyperfine's own script tests.
cat >welch.py <<'END'
import json, statistics as s, sys
a, b = [r["times"] for r in json.load(open("h.json"))["results"]]
se = (s.variance(a) / len(a) + s.variance(b) / len(b)) ** 0.5
print(int(abs(s.mean(a) - s.mean(b)) > 2.101 * se))
END
theirs=0 ours=0 t=0
while [ "$t" -lt "$trials" ]; do
	echo 0 >n
	hyperfine -N -w 0 -r 10 --export-json h.json './work.sh ./loop' \
	    './work.sh  ./loop' >/dev/null 2>&1 || exit 1
	theirs=$((theirs + $(python3 welch.py)))
	echo 0 >n
	rm -rf d
	"$DTPROF" bench -w 0 -r 10 -o d -n a -n b './work.sh ./loop' \
	    './work.sh ./loop' >/dev/null 2>&1 || exit 1
	"$DTPROF" compare --json d >out || exit 1
	case $(json out 'j["comparisons"][0]["verdict"]') in
	faster | slower) ours=$((ours + 1)) ;;
	esac
	t=$((t + 1))
done
echo "equal commands on a machine that slows down by 10 %, $trials trials:"
echo "  hyperfine, Welch's t at 5 %: a winner in $theirs"
echo "  dtprof bench: a winner in $ours"
