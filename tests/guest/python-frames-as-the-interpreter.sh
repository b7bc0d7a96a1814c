#!/bin/sh
# ASSERTION: in the guest the Python frames of each of 300 samples are the list
# that the interpreter itself has: functions, files and lines; its verifier goes
# through at most 30,000 instructions of the program that walks them.
# SPDX-License-Identifier: ISC
# TIMEOUT: 600
#
# Easy to get wrong: what another architecture lays out differently, or an older
# kernel does not have.  tests/interop/python-stacks-as-the-interpreter.sh does
# the same where it runs.

. "${SRC:=$PWD}/tests/guest/lib.sh"
need_cmd python3
[ -d "$GUEST/python" ] || skip "no Python for the guest"

GUEST_PYTHON=1
export GUEST_PYTHON
{
	echo "cat >tokens.py <<'TOKENS'"
	cat "$SRC/tests/work/tokens.py"
	echo TOKENS
	cat <<'END'
uname -r >release
runs program.runs /bin/dtprof record -q -o x.dtp \
    -e syscall:newfstatat:entry -- /usr/bin/python3.* tokens.py 300 3 \
    tokens.json
END
} >script
guest_boot <script
accounting results/x.dtp
verify results/program.runs <<'END'
most = max(j, key=lambda program: program["verified"])
need(0 < most["verified"] <= 30000, "%(name)s: %(verified)d verified" % most)
END
"$DTPROF" script --json --lines results/x.dtp >script.json ||
    fail "script"
python3 "$SRC/tests/interop/python_tokens.py" results/tokens.json \
    <script.json || fail "see above"
ok "on $GUEST_ARCH, $(cat results/release)"
