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

# The recorder's own, there may be other recorders.
table_of()	# recorder
{
	for id in $(sed -n 's/^map_id:[[:space:]]*//p' /proc/"$1"/fdinfo/* \
	    2>/dev/null | sort -nu); do
		bpftool map show id "$id" 2>/dev/null | grep -qw uw_procs &&
		    echo "$id" && return
	done
}

published()	# how many processes of the storm still stand in the table
{
	bpftool -j map dump id "$table" >dump 2>/dev/null || fail "no dump"
	py "$recorder" <<'END'
import json
import sys

me = int(sys.argv[1])
rows = json.load(open("dump"))
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

are_published()	# how many
{
	seen=$(published) || fail "the table cannot be read"
	[ "$seen" -eq "$1" ]
}

record_begin -a -o a.dtp -e cpu-clock -c 10000000
table=$(table_of "$recorder")
[ -n "$table" ] || fail "the recorder has no table of processes"
# One that lives stands in it, so that the look would find others.
sleep 1000 9>&- &
kill_at_end $!
echo $! >born
await "who lives is published" are_published 1
n=0
while [ $n -lt 300 ]; do
	sh -c 'echo $$; exec /bin/true' || fail "no process"
	n=$((n + 1))
done >pids
grep -c . pids | grep -qx 300 || fail "not 300 processes"
cp pids born
await "the dead are forgotten" are_published 0
record_end 0
py <<'END'
import recording as rec

rec.check(len(rec.run("script", "--show", "all", "a.dtp")) > 0, "no records")
rec.ok("none of 300 dead processes is published")
END
