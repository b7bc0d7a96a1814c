#!/bin/sh
# ASSERTION: one processor making system calls flat out for 60 s, without
# stacks and with, is recorded with every call accounted for: stored, or
# counted as lost.
#
# It is easy to get wrong where short runs do not reach: positions that wrap,
# rings that fill while a disk stands still, counters that are too short.
# The rate is printed, not judged: it is the machine's.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/lib.sh"

need_root
need_bpf
need_cmd python3 taskset
tmpdir
: "${CC:=cc}"
compile -O1 -fno-omit-frame-pointer \
    -fno-optimize-sibling-calls -o paths "$SRC/tests/bench/paths.c" ||
    fail "cannot build the workload"
# shellcheck disable=SC2086
$CC -std=gnu11 -D_GNU_SOURCE -O2 -I"$SRC/libprof" -o decode \
    "$SRC/tests/bench/decode.c" "$B/libprof.a" -lzstd -lm -pthread ||
    fail "cannot build the reader"
cpu=$(($(nproc) - 1))

# What the kernel counted, what the file holds, what was asked for.
check()		# the workload's own number of calls
{
	"$DTPROF" report --stats --json x.dtp >stats || fail "report --stats"
	json stats '"%d %d %d %d %d" % (lambda a: (a["stored"], a["full"],
	    a["nested"], a["error"], a["balances"]))(j["accounting"][1])' >a
	read -r stored full nested error balances <a
	[ "$balances" -eq 1 ] || fail "the accounting is out"
	./decode x.dtp >decoded || fail "the file cannot be read"
	read -r samples frames rest <decoded
	[ "$samples" -eq "$stored" ] ||
	    fail "$stored stored, $samples in the file"
	[ "$stacks" = none ] || [ "$frames" -ge $((samples * 18)) ] ||
	    fail "$frames frames for $samples samples"
	[ $((stored + full + nested + error)) -eq "$1" ] ||
	    fail "$1 calls: $stored stored, $full + $nested + $error lost"
}

for stacks in none fp; do
	"$DTPROF" record -q -o x.dtp -e syscall::getppid:entry \
	    --call-graph "$stacks" --user-only -- ./paths -c "$cpu" \
	    -s "${SUSTAINED_SECONDS:-60}" -r did \
	    "$([ "$stacks" = none ] && echo flat || echo call)" ||
	    fail "record: status $?"
	read -r calls wall_ns rest <did
	: "$rest"
	[ "$calls" -gt 0 ] || fail "the workload made no calls"
	check "$calls"
	ok "stacks $stacks: $calls calls in $((wall_ns / 1000000)) ms," \
	    "$((calls * 1000 / (wall_ns / 1000000))) a second, $stored" \
	    "stored, $full + $nested + $error lost and counted," \
	    "$(($(stat -c %s x.dtp) * 100 / stored)) bytes for 100"
	rm -f x.dtp x.dtp.old
done
