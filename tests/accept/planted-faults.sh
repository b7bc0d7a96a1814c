#!/bin/sh
# ASSERTION: a build whose programs forget one count of 16, of what fired, of
# what was stored, or of the reason why something was not, does not balance,
# and says of which event; the same build without a fault does.  Easy to get
# wrong by a term that is computed from the others instead of counted.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd make python3
need_bpf
tmpdir

# Samples of a timer, and calls, of the target and (filtered) of others.
# Prints the events that do not balance, and how many more fired than the rest.
balances()	# dtprof
{
	"$B/tests/work/calls" -u 20 0 >/dev/null &
	other=$!
	kill_at_end $other
	"$1" record -o try.dtp -e cpu-clock -e syscall::close:entry -- \
	    "$B/tests/work/calls" -u 20 5000 >said 2>&1
	kill $other
	wait $other
	"$1" report --json --stats try.dtp >stats.json || return 1
	python3 -c '
import json
rows = json.load(open("stats.json"))["accounting"]
(close,) = [row for row in rows if "close" in row["event"]]
assert close["stored"] > 1000 and close["filtered"] > 1000, close
rest = ("stored", "full", "nested", "filtered", "error")
print(*["%s %+d" % (row["event"], row["fired"] - sum(row[k] for k in rest))
        for row in rows if not row["balances"]], sep="\n")'
}

wrong=$(balances "$DTPROF") || fail "no fault: $(cat said)"
[ -z "$wrong" ] || fail "no fault, and does not balance: $wrong"
ok "without a fault it balances"
for fault in fired stored reason; do
	make -C "$SRC" O="$tmp/build" FAULT=$fault "$tmp/build/dtprof" \
	    >made 2>&1 || fail "FAULT=$fault: $(tail -5 made)"
	wrong=$(balances "$tmp/build/dtprof") || fail "$fault: $(cat said)"
	case $fault in
	fired)	sign=- ;;
	*)	sign=+ ;;
	esac
	echo "$wrong" | grep -q "close.* [$sign]" ||
	    fail "FAULT=$fault is not noticed: $wrong"
	echo "$wrong" | grep -v " [$sign]" &&
	    fail "FAULT=$fault was not built, or another is there"
	"$tmp/build/dtprof" report --stats try.dtp >text
	sed -n 's/^accounting DOES NOT BALANCE: //p' text >why
	[ -s why ] || fail "$fault: $(cat text)"
	ok "FAULT=$fault: $(head -1 why)"
done
