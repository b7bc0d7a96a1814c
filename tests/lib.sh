# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What test scripts share; include it as
#	. "${SRC:=$PWD}/tests/lib.sh"
# so that a test also runs by hand from the top of the sources.
#
# The contract with run.sh: say something for each thing that was shown (ok),
# exit 77 through skip, anything else but 0 through fail.

: "${SRC:=$PWD}" "${B:=$SRC/build}" "${DTPROF:=$B/dtprof}"
export SRC B DTPROF
tmp=
test_pids=
# Nothing is left in the sources.
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE

# Undo what the test has begun; end with the status the test had.
test_end()
{
	test_status=$?
	trap - EXIT
	for test_pid in $test_pids; do
		# A recorder that is killed leaves its command running.
		pgrep -P "$test_pid" | xargs -r kill -9 2>/dev/null
		kill -9 "$test_pid" 2>/dev/null
	done
	# A test may add its own.
	command -v at_end >/dev/null && at_end
	cd / && [ -n "$tmp" ] && rm -rf "$tmp"
	exit "$test_status"
}
trap test_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

ok()		# what was shown
{
	echo "ok: $*"
}

fail()		# what went wrong
{
	echo "FAIL: $*"
	exit 1
}

skip()		# what is missing here
{
	echo "SKIP: $*"
	exit 77
}

# A directory of the test's own, in $tmp; the test is then in it.
tmpdir()
{
	tmp=$(mktemp -d "${TMPDIR:-/tmp}/dtprof-test.XXXXXX") ||
	    fail "no temporary directory"
	chmod 755 "$tmp"
	cd "$tmp" || fail "cannot enter $tmp"
}

# kill this process at the end, whatever happens
kill_at_end()	# pid
{
	test_pids="$test_pids $1"
}

# Between two looks of a bounded wait; nothing is right because of it.
nap()
{
	sleep 0.02
}

# Wait, in a bounded number of looks, until a command says yes.
await()		# what command ...
{
	await_what=$1
	await_tries=${AWAIT_TRIES:-5000}
	shift
	until "$@" >/dev/null 2>&1; do
		await_tries=$((await_tries - 1))
		[ "$await_tries" -gt 0 ] || fail "never: $await_what"
		nap
	done
}

compile()	# argument ...
{
	# shellcheck disable=SC2086 # CC may hold options
	${CC:-cc} -std=gnu11 -D_GNU_SOURCE -O2 "$@"
}

# Look at JSON with the Python on stdin: j is the value (of lines, the list
# of them), argv what follows, need(condition, text) says ok or fails.
verify()	# file [argument ...]
{
	cat >verify.py
	python3 - "$@" <<-'END' || fail "$1 is not as it must be"
	import json, sys
	def need(condition, text):
	    print(("ok: " if condition else "FAIL: ") + text)
	    if not condition:
	        sys.exit(1)
	text = open(sys.argv[1]).read()
	try:
	    j = json.loads(text)
	except ValueError:
	    j = [json.loads(line) for line in text.splitlines()]
	exec(open("verify.py").read(),
	    dict(j=j, argv=sys.argv[2:], need=need))
	END
}

need_cmd()	# command ...
{
	for test_cmd; do
		command -v "$test_cmd" >/dev/null ||
		    skip "$test_cmd is not installed"
	done
}

need_root()
{
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

need_bpf()
{
	"$B/tests/work/can" bpf >/dev/null 2>&1 ||
	    skip "BPF programs may not be loaded here"
}

need_perf()
{
	"$B/tests/work/can" perf >/dev/null 2>&1 ||
	    skip "perf_event_open is refused here"
}

need_pmu()
{
	"$B/tests/work/can" pmu >/dev/null 2>&1 ||
	    skip "this machine has no counters in hardware"
}

# Run as an ordinary user; needs root.
as_user()	# command ...
{
	setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all \
	    env HOME=/nonexistent "$@"
}

# Run a command, keep its output in $tmp/out and $tmp/err, demand its status.
expect()	# status command ...
{
	test_want=$1
	shift
	"$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	test_got=$?
	[ "$test_got" -eq "$test_want" ] && return 0
	sed 's/^/out: /' "$tmp/out" | tail -n 20
	sed 's/^/err: /' "$tmp/err" | tail -n 20
	fail "status $test_got, not $test_want: $*"
}

expect_out()	# pattern what
{
	grep -Eq -e "$1" "$tmp/out" && return 0
	sed 's/^/out: /' "$tmp/out" | tail -n 20
	fail "no \"$1\" in the output${2:+: $2}"
}

expect_err()	# pattern what
{
	grep -Eq -e "$1" "$tmp/err" && return 0
	sed 's/^/err: /' "$tmp/err" | tail -n 20
	fail "no \"$1\" in the messages${2:+: $2}"
}

# What strict receivers demand of a profile of pprof.
strict_pprof()	# file ...
{
	python3 "$SRC/tests/interop/pprof_rules.py" "$@" >"$tmp/rules.out" ||
	    fail "$(cat "$tmp/rules.out")"
}

# The value of a Python expression over a JSON file, called j in it.
json()		# file expression
{
	python3 -c 'import json, sys
j = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2" || fail "JSON: $2 of $1"
}

# The same over a file with one JSON value a line: j is the list of them.
json_lines()	# file expression
{
	python3 -c 'import json, sys
j = [json.loads(line) for line in open(sys.argv[1])]
print(eval(sys.argv[2]))' "$1" "$2" || fail "JSON lines: $2 of $1"
}
