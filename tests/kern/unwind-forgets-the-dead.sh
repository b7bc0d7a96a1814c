# SPDX-License-Identifier: ISC
# ASSERTION: What was published of a process for the walk of its stacks is
# taken back when it ends, also when its mappings are heard of after its end.
#
# Easy to get wrong: ends and mappings come by different ways; a mapping that
# comes late must not bring a dead process back, whose number is used again.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd bpftool
tmpdir

published()	# how many processes of the storm still stand in the table
{
	bpftool -j map dump name uw_procs >dump 2>/dev/null || echo '[]' >dump
	py "$recorder" <<'END'
import json
import sys

me = int(sys.argv[1])
tables = json.load(open("dump"))
rows = tables if tables and "key" in tables[0] else sum(tables, [])
born = set(int(pid) for pid in open("born").read().split())
seen = 0
for row in rows:
    word = bytes(int(b, 16) for b in row["value"])[:4] \
        if isinstance(row["value"], list) else None
    tgid = int.from_bytes(word, "little") if word else \
        row["formatted"]["value"]["up_tgid"]
    seen += tgid in born and tgid != me
print(seen)
END
}

record_begin -a -o a.dtp -e cpu-clock -c 10000000
n=0
while [ $n -lt 300 ]; do
	sh -c 'echo $$; exec /bin/true' || fail "no process"
	n=$((n + 1))
done >pids
grep -c . pids | grep -qx 300 || fail "not 300 processes"
cp pids born
looks=100
until [ "$(published)" -eq 0 ]; do
	looks=$((looks - 1))
	[ $looks -gt 0 ] || fail "$(published) dead processes are published"
	nap
done
record_end 0
py <<'END'
import recording as rec

rec.check(len(rec.run("script", "--show", "all", "a.dtp")) > 0, "no records")
rec.ok("none of 300 dead processes is published")
END
