#!/bin/sh
# SPDX-License-Identifier: ISC
#
# How fast recordings go into a ClickHouse server of two threads and come back:
# push of 3 million rows, bytes a row on disk, and flame graphs of 3, 10, 20
# and 30 million rows, of as many hosts as it takes.  Prints the figures.
# STORE_ROWS is for a shorter run.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_cmd clickhouse-server curl python3
tmpdir
: "${CC:=cc}"
rows=${STORE_ROWS:-3000000}
compile -I"$SRC/libprof" -I"$SRC/sys" -o generate \
    "$SRC/tests/interop/generated_host.c" "$B/libprof.a" -lzstd -lm \
    -pthread || exit 1
store_config
sed -i 's#<max_memory_usage>#<max_threads>2</max_threads>&#' ch/users.xml
store_start
"$DTPROF" store init "$store" || exit 1

measured()	# what command ...: its time, CPU time and largest process
{
	python3 - "$@" <<'END'
import resource
import subprocess
import sys
import time
started = time.monotonic()
with open("out", "w") as out:
    status = subprocess.call(sys.argv[2:], stdout=out, stderr=out)
took = time.monotonic() - started
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%s: %.2f s, %.2f s of CPU time, %d MB%s" % (sys.argv[1], took,
      used.ru_utime + used.ru_stime, used.ru_maxrss // 1024,
      "" if status == 0 else ", exit status %d" % status))
END
}

uptime
./generate host.dtp 1 samples="$rows" stacks=20000 functions=4000 \
    threads=64 cpus=64 seconds=1800 host=h0 boot=b0 >/dev/null || exit 1
measured "push of $rows samples" "$DTPROF" push "$store" host.dtp
sed 's/^/	/' out
size()
{
	sql "SELECT sum(rows), round(sum(bytes_on_disk) / sum(rows), 2) FROM
	    system.parts WHERE active AND database = 'dtprof' AND table =
	    'samples' FORMAT TabSeparated" | awk '{ print "\t" $1 " rows, " $2 \
	    " bytes each on disk" }'
}
size

# A host more: the same samples under another name.
columns()	# table number of the host
{
	sql "SELECT arrayStringConcat(groupArray(name), ',') FROM
	    system.columns WHERE database = 'dtprof' AND table = '$1'" |
	    sed "s/\<recording\>/recording + $2/; s/\<attempt\>/attempt + $2/
		s/\<host\>/'h$2'/"
}
is_merged()
{
	[ "$(sql "SELECT count() FROM system.merges")" = 0 ]
}
hosts=1
for wanted in 1 3 7 10; do
	while [ $hosts -lt $wanted ]; do
		for table in samples accounts; do
			sql "INSERT INTO $table SELECT $(columns $table \
			    $hosts) FROM $table WHERE host = 'h0'"
		done
		hosts=$((hosts + 1))
	done
	await "the end of merges" is_merged
	size
	measured "	flame graph" "$DTPROF" flamegraph -o x.svg "$store"
	measured "	folded by SQL" curl -s -o /dev/null --data-binary \
	    "SELECT concat(arrayStringConcat(names, ';'), ' ', toString(sum(w)))
	    FROM (SELECT stack, sum(n) AS w FROM samples WHERE attempt IN
	    (SELECT min(attempt) FROM accounts GROUP BY recording, batch)
	    GROUP BY stack) AS sums
	    ANY INNER JOIN (SELECT stack, names FROM stacks) AS known
	    USING stack GROUP BY names" \
	    "http://127.0.0.1:$port/?database=dtprof"
done
measured "	report" "$DTPROF" report "$store"
