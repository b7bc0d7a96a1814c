#!/bin/sh
# ASSERTION: tests/golden.sed, applied to the outputs for programs and to the
# options of commit 25d7638 (before/), gives those of today: JSON and CSV byte
# for byte but for members and columns added since, and each option and each
# of its values by its name, letter and argument.  Easy to get wrong: a rename
# that nobody was told of, as NEWS is written from that table.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
before=$SRC/tests/report/before
table=$SRC/tests/golden.sed
cp "$SRC"/tests/report/*.dtp . || fail "no recordings"

# Each option as "COMMAND [-l,] --name [ARGUMENT]", each of its values as
# "COMMAND --name value".
option='\(-[A-Za-z], \)*--[a-z-]*\( [^ ][^ ]*\)\{0,1\}'
options()
{
	for command in $("$DTPROF" help |
	    sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
		"$DTPROF" "$command" --help | sed -n '/^options:/,$p' |
		    sed -n "s/^ *\($option\).*/\1/p" |
		    sed -e "s/^/$command /" -e 's/, / /' -e 's/ *$//'
	done
	"$DTPROF" completion bash | sed -n \
	    "s/^.'\([a-z]* --[a-z-]*\)'.*takes='[a-z]* \(..*\)' ;;/\1 \2/p" |
	    while read -r command name values; do
		for value in $values; do
			echo "$command $name $value"
		done
	done
}

cat >compare.py <<'END'
import csv, json, sys

def without_new(now, then):
    "What then has of now; raises where something of then is missing."
    if isinstance(then, dict):
        return {key: without_new(now[key], then[key]) for key in now
                if key in then}
    if isinstance(then, list) and len(now) == len(then):
        return [without_new(n, t) for n, t in zip(now, then)]
    return now

then, now, kind = sys.argv[1:]
if kind == "csv":
    then, now = [list(csv.reader(open(name, newline="")))
                 for name in (then, now)]
    kept = [now[0].index(name) for name in then[0]]
    assert kept == sorted(kept), kept
    assert [[row[n] for n in kept] for row in now] == then, "a row"
    added = len(now[0]) - len(kept)
else:
    then, now = [open(name).read() for name in (then, now)]
    added = 0 if then == now else 1
    lines = ([then], [now]) if kind == "json" else (then.splitlines(),
                                                    now.splitlines())
    assert len(lines[0]) == len(lines[1]), "lines"
    for t, n in zip(*lines):
        t, n = json.loads(t), json.loads(n)
        # dumps: also the order of members.
        assert json.dumps(without_new(n, t)) == json.dumps(t), (n, t)
print("byte for byte" if not added else "but for what was added")
END

for name in known hostile; do
	"$DTPROF" report --json $name.dtp >$name.json 2>err &&
	    "$DTPROF" report --csv --by comm,function $name.dtp >$name.csv \
	    2>err && "$DTPROF" script --json --limit 40 $name.dtp \
	    >$name.records 2>err || fail "$name: $(cat err)"
	for kind in json csv records; do
		sed -f "$table" "$before/$name.$kind" >wanted || fail "$table"
		said=$(python3 compare.py wanted $name.$kind $kind 2>&1) ||
		    fail "$name.$kind: $(echo "$said" | tail -n 1 |
			cut -c 1-300)"
		ok "$name.$kind: $said"
	done
done

options >now
[ "$(wc -l <now)" -ge 150 ] || fail "only $(wc -l <now) options: $(head now)"
sed -f "$table" "$before/options" | sort >wanted
sort now | comm -13 - wanted >gone
[ -s gone ] && fail "options that are no more, by the table: $(cat gone)"
ok "$(wc -l <wanted) options and values of them"

# Nothing stands in the table for nothing: each line of the first parts
# changes something of what is kept.
sed -n '/^s/p; /^# script/q' "$table" | while read -r line; do
	cat "$before"/* | sed -n "${line%g}p" | grep -q . ||
	    fail "changes nothing: $line"
done || exit 1
ok "each of its lines changes something"
