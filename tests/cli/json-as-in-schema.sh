#!/bin/sh
# ASSERTION: what each command prints with --json is as its schema in
# doc/schema says and has no other keys; each key of the schemas is described
# and in dtprof(1).  Each key that is met is renamed, and then refused; where it
# can be recorded here, report and script have all keys.  Easy to get wrong when
# a key is added, or is there only sometimes.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
python3 -c 'import jsonschema' 2>/dev/null || skip "no python3-jsonschema"
tmpdir
known=$SRC/tests/report/known.dtp hostile=$SRC/tests/report/hostile.dtp

made()		# name command ...
{
	made_name=$1
	shift
	"$DTPROF" "$@" >"$made_name" 2>err || fail "$*: $(cat err)"
}

agrees()	# schema output ...
{
	agrees_with=$1
	shift
	python3 -W ignore "$SRC/tests/cli/json_schema.py" \
	    "$SRC/doc/schema/$agrees_with.json" "$@" >agreed 2>&1 ||
	    fail "$agrees_with: $(cat agreed)"
	[ "$#" -gt 0 ] || fail "$agrees_with: no output"
	ok "$agrees_with.json, $# outputs: $(cat agreed)"
}

# Where it can be recorded, what the files in the tree have not.
live=
cat >busy <<END
"$DTPROF" mark begins
i=0
while [ \$i -lt 200000 ]; do i=\$((i + 1)); done
cat /nowhere; :
END
"$DTPROF" record -o live.dtp -e cpu-clock -e syscall:openat -e off-cpu -e wall \
    --span wait=syscall:wait4:entry --span none=syscall:msync:entry \
    --with context-switches -- sh busy >/dev/null 2>&1 && live=live.dtp
[ -z "$live" ] || "$DTPROF" trace --json -e syscall:openat -e \
    sched:sched_process_exec -o scriptt.lines -- sh -c 'cat /dev/null' \
    2>err || fail "trace: $(cat err)"

n=0
for file in "$known" "$hostile" $live; do
	n=$((n + 1))
	made "report$n" report --json "$file"
	made "tree$n" report --json --tree "$file"
	made "stats$n" report --json --stats "$file"
	made "script$n.lines" script --json --show all --lines "$file"
	made "by$n" report --json --by comm,pid,tid,cpu "$file"
	made "line$n" report --json --by line "$file"
	made "module$n" report --json --by module,probe "$file"
	made "call$n" report --json --by syscall,function "$file"
done
made args1 report --json --by nr "$known"
[ -z "$live" ] || made spans1 report --json --by span "$live"
[ -z "$live" ] || "$DTPROF" record -q -o locks.dtp -e off-cpu/min=0ns/ \
    -- "$B/tests/work/planted_objects" "$PWD" >/dev/null 2>err ||
    fail "no locks: $(cat err)"
[ -z "$live" ] || made blocked1 report --json --by lock,holder locks.dtp
[ -z "$live" ] || made chains1 report --json --by waker-chain locks.dtp
# Lines of source depend on what is installed; nothing is lost or pauses here.
[ -z "$live" ] || export UNMET='.count .missing_ns .script .since_ns
    .kernel_frames[].file .kernel_frames[].line .kernel_frames[].unresolved
    .user_frames[].file .user_frames[].line'
agrees report report? tree? stats? by? line? module? call? args1 \
    ${live:+spans1 blocked1 chains1}
agrees script script?.lines
unset UNMET

name=$("$DTPROF" report --json "$known" | python3 -c '
import json, sys
rows = [f for f in json.load(sys.stdin)["functions"]
    if f.get("kind") == "native"]
print(max(rows, key=lambda f: f["self"])["name"])') || fail "no function"
made annotate1 annotate --json "$name" "$known"
made annotate2 annotate --json --base "$known" "$name" "$known"
agrees annotate annotate?

made stat1 stat --json -e cpu-clock,page-faults -r 3 -- true
made stat2 stat --json -e cpu-clock -- true
"$DTPROF" stat --json -e cpu-clock --interval 20 -- sleep 0.1 \
    >stat3 2>/dev/null || fail "stat --interval"
# Only BPF can count per thread.
"$DTPROF" stat --json -e cpu-clock --per-thread -- true >stat4 2>/dev/null ||
    rm stat4
agrees stat stat?
# Only BPF can aggregate.
if "$DTPROF" stat --json -e syscall --by syscall,comm -- cat /nowhere \
    >by_stat1 2>/dev/null || [ $? -eq 1 ]; then
	made by_stat2 stat --json -e sched:sched_switch --by prev_comm -- true
	made by_stat3 stat --json -e syscall:read --hist ret --sum ret -- true
	agrees stat-by by_stat?
fi

"$DTPROF" bench -r 5 --seed 1 -o runs true false >/dev/null 2>&1
[ -f runs/runs.jsonl ] || "$DTPROF" bench -r 5 --seed 1 -o runs true 'sleep 0' \
    >/dev/null 2>&1 || fail "bench"
made compare1 compare --json runs
made compare2 compare --json "$known" -- "$hostile"
agrees compare compare?
[ -z "$live" ] || "$DTPROF" record -q -o spans.dtp -e cpu-clock -F 4999 \
    --span request=syscall:getppid:entry,syscall:getuid:entry \
    -- "$B/tests/work/requests" 500 20 1 >/dev/null 2>&1 ||
    fail "no spans"
if [ -n "$live" ]; then
	made slow1 compare --json --base-filter 'span.duration <= p50' \
	    --filter 'span.duration > p90' spans.dtp
	agrees compare-spans slow1
fi

made list1 list --json 'syscalls:*getppid*'
made list2 list --json --counters --pmu perf
made list3 list --json
agrees list list?
"$DTPROF" doctor --json >doctor1
agrees doctor doctor1

# Only BPF can look at threads.
"$B/tests/work/waits" >waits.out &
waits=$!
kill_at_end $waits
await "its threads are there" grep -q ready waits.out
if "$DTPROF" stacks --json -p $waits >stacks1 2>/dev/null; then
	agrees stacks stacks1
fi
kill $waits

# A recorder without a ring, and one that has written a dump.
if [ -n "$live" ]; then
	"$DTPROF" record -q -e cpu-clock -o plain.dtp -- sleep 60 2>err &
	plain=$!
	kill_at_end $plain
	"$DTPROF" record -q --ring 1M -c 1 -e context-switches -o 'r.%n.dtp' \
	    --dump-on ctl -- sleep 60 2>err &
	ring=$!
	kill_at_end $ring
	await "a recorder" "$DTPROF" ctl status --recorder $plain
	await "a recorder" "$DTPROF" ctl status --recorder $ring
	made ctl1 ctl --json status --recorder $plain
	made ctl2 ctl --json status --recorder $ring
	made dump ctl dump --recorder $ring
	made ctl3 ctl --json status --recorder $ring
	agrees ctl ctl?
	made stopped ctl stop --recorder $plain
	made stopped ctl stop --recorder $ring
fi

# The keys in the manual, but for those of the accounting, which another test
# looks at.
sed -n '/^\.Sh JSON OUTPUT/,/^\.Sh PRIV/p;/^\.Sh DIAGN/,/^\.Sh SEE/p' \
    "$SRC/cmd/dtprof/dtprof.1" | tr -cs 'a-z0-9_' '\n' | sort -u >words
python3 - "$SRC"/doc/schema/*.json <<'END' || fail "see above"
import json, sys
words = set(open("words").read().split())
missing = set()
def look(schema):
    if isinstance(schema, dict):
        for key in schema.get("properties", {}):
            stem = key
            for end in ("_share", "_low", "_high"):
                stem = stem[:-len(end)] if stem.endswith(end) else stem
            if stem not in words and key not in words:
                missing.add(key)
    for part in (schema.values() if isinstance(schema, dict) else
                 schema if isinstance(schema, list) else ()):
        look(part)
for name in sys.argv[1:]:
    with open(name) as file:
        look(json.load(file))
if missing:
    sys.exit("not in the manual: %s" % " ".join(sorted(missing)))
print("ok: all keys are in the manual")
END
