#!/bin/sh
# ASSERTION: Ctrl-C on a terminal reaches the command, which may take its
# time and ends with its own status; what it does until then is recorded.
# Easy to get wrong by ending the recording at once, or by signalling twice.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd python3
tmpdir
cat >command.sh <<'END'
n=0
trap 'n=$((n + 1)); echo "interrupt $n"' INT
echo ready
# The signal interrupts neither the recorder nor, for long, this loop.
while [ $n -eq 0 ]; do :; done
"$DTPROF" mark -p $PPID 'after the interrupt' || exit 9
i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done
exit $((40 + n))
END
expect 41 env CTRL_C_AT=ready python3 "$SRC/tests/cli/term.py" 80 \
    "$DTPROF" record -q -e cpu-clock -o x.dtp -- sh command.sh
expect_out 'interrupt 1'
ok "one signal, and the command's own status"
expect 0 "$DTPROF" script --json x.dtp
[ "$(json_lines out 'sum(1 for r in j[[x["type"] for x in j].index("mark"):]
    if r["type"] == "sample") > 5')" = True ] ||
    fail "nothing was recorded after Ctrl-C"
ok "what follows it is recorded"
