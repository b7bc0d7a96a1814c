#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Runs tests and says of each: pass, fail or skip, and why.  They run one by
# one, in two rows side by side.
#
#	run.sh [-u] [-d directory] [-p] [pattern ...]
#
#	-u		just the programs of tests/unit
#	-d directory	the scripts below it, instead of all that check runs
#	-p		just print their names
#	pattern		those whose name contains it
#
# A test is a program made from tests/unit/NAME.c or a script tests/*/NAME.sh
# (lib*.sh are for including).  It passes with exit status 0 after having
# printed something, it is skipped with 77 and a line "SKIP: reason", all
# else is a failure; its output is then shown.  A line "TIMEOUT: seconds"
# near its top gives it more time.
#
# The environment: SRC the sources, B the build directory, DTPROF the command.

# shellcheck disable=SC2046,SC2086 # lists of names
SRC=$(cd "$(dirname "$0")/.." && pwd) || exit 1
: "${B:=$SRC/build}" "${DTPROF:=$B/dtprof}" "${TEST_TIMEOUT:=300}"
LC_ALL=C TZ=UTC
export SRC B DTPROF LC_ALL TZ
cd "$SRC" || exit 1
# Managers of versions put a script in the place of python3, which looks for it
# at each call, for half a second on a slow machine.
if python=$(python3 -c 'import os, sys
print(os.path.realpath(sys.executable))' 2>/dev/null) &&
    mkdir -p "$B/tests/bin" && ln -sf "$python" "$B/tests/bin/python3"; then
	PATH=$B/tests/bin:$PATH
	export PATH
fi
# Not tests: what tests use, and what has a target of its own.
others='work fuzz bench accept guest sanitized mutants'
# These are one row, beside the others.  These look at all of the machine:
# they come last, when nothing more is built, and beside them is only what
# computes.
beside='^tests/(browser|build|interop)/'
machine='^tests/(kern|loss)/'
compute='^tests/(replay/|cli/compare-(doubts|equals|simulated))'

unit_only='' only_dir='' print_only=''
while getopts ud:p option; do
	case $option in
	u)	unit_only=1 ;;
	d)	only_dir=${OPTARG%/} ;;
	p)	print_only=1 ;;
	*)	exit 2 ;;
	esac
done
shift $((OPTIND - 1))

# Scripts below a directory, in the order of their names.
scripts_of()
{
	find "$1" -name '*.sh' ! -name 'lib*.sh' ! -path tests/run.sh | sort
}

unit_tests()
{
	for c in tests/unit/*.c; do
		[ -e "$c" ] && echo "$c"
	done
}

# The directories of tests.
layers()
{
	for dir in tests/*/; do
		dir=${dir%/}
		case " $others " in
		*" ${dir##*/} "*) ;;
		*)	echo "$dir" ;;
		esac
	done
}

all_tests()
{
	if [ -n "$only_dir" ]; then
		scripts_of "$only_dir"
		return
	fi
	unit_tests
	[ -n "$unit_only" ] && return
	for dir in $(layers); do
		scripts_of "$dir"
	done
}

# A name is wanted when there is no pattern, or when it contains one.
wanted()
{
	name=$1
	shift
	[ $# -eq 0 ] && return 0
	for pattern; do
		case $name in
		*"$pattern"*) return 0 ;;
		esac
	done
	return 1
}

report()	# verdict name remark seconds
{
	long=
	[ "${4:-0}" -ge 2 ] && long=" ($4 s)"
	printf '%-5s %s%s%s\n' "$1" "$2" "${3:+: $3}" "$long"
}

# The end of what a test printed.
log_end()	# lines
{
	tail -n "$1" "$log" | sed 's/^/	| /'
}

# Run one test; sets verdict and remark, output in $log.
run_one()
{
	test=$1
	limit=$(sed -n 's/.*TIMEOUT: *\([0-9][0-9]*\).*/\1/p;20q' "$test" |
	    head -n 1)
	limit=${limit:-$TEST_TIMEOUT}
	verdict=fail
	remark=
	seconds=0
	if ! head -n 6 "$test" | grep -q ASSERTION:; then
		remark='it has no line "ASSERTION:" at its top'
		return
	fi
	case $test in
	*.c)	set -- "$B/tests/unit/$(basename "$test" .c)" ;;
	*)	set -- sh "$test"
		head -n 1 "$test" | grep -q bash && set -- bash "$test" ;;
	esac
	begun=$(date +%s)
	timeout -k 10 "$limit" "$@" >"$log" 2>&1 </dev/null
	status=$?
	seconds=$(($(date +%s) - begun))
	case $status in
	0)	verdict=pass
		if [ ! -s "$log" ]; then
			verdict=fail
			remark='it printed nothing: did it test anything?'
		fi ;;
	77)	remark=$(sed -n 's/^SKIP: *//p' "$log" | tail -n 1)
		verdict=skip
		if [ -z "$remark" ]; then
			verdict=fail
			remark='skipped without a line "SKIP: reason"'
		fi ;;
	124 | 137)
		remark="no end within $limit s" ;;
	*)	remark="exit status $status" ;;
	esac
}

# Run tests in turn; their verdicts, and what failed once more, into files.
run_in_turn()	# name-of-files test ...
{
	to=$tally/$1
	shift
	for t; do
		# Interrupted: what runs beside does not go on for long.
		kill -0 $$ 2>/dev/null || exit 1
		log=$B/tests/log/$(echo "${t#tests/}" | tr / -).log
		: >"$log"
		run_one "$t"
		said=$(report "$verdict" "$t" "$remark" "$seconds"
		    [ "$verdict" != fail ] || log_end "${TEST_LINES:-60}")
		printf '%s\n' "$said"
		echo "$verdict" >>"$to.verdicts"
		[ "$verdict" != fail ] ||
			{ report fail "$t" "$remark"; log_end 15; } \
			    >>"$to.failures"
	done
}

# Of the tests those that grep chooses.
chosen()	# argument of grep ...
{
	printf '%s\n' $tests | grep "$@"
}

count()		# verdict
{
	cat "$tally"/*.verdicts 2>/dev/null | grep -cx "$1"
}

not_right()	# what why
{
	report fail "$1" "$2"
	failed=$((failed + 1))
}

tests=$(for t in $(all_tests); do wanted "$t" "$@" && echo "$t"; done)
if [ -n "$print_only" ]; then
	printf '%s\n' $tests
	exit 0
fi

tally=$B/tests/tally.$$
mkdir -p "$B/tests/log" "$tally" || exit 1
trap 'rm -rf "$tally"' EXIT
run_in_turn beside $(chosen -E "$beside") &
row=$!
run_in_turn first $(chosen -Ev "$beside|$machine|$compute")
run_in_turn compute $(chosen -E "$compute") &
wait "$row"
run_in_turn machine $(chosen -E "$machine")
wait
passed=$(count pass) failed=$(count fail) skipped=$(count skip)

# A layer that lost its tests is a failure too.
if [ -z "$unit_only$only_dir" ] && [ $# -eq 0 ]; then
	for dir in $(layers); do
		chosen -q "^$dir/" || not_right "$dir" 'there is no test in it'
	done
fi
set -- $tests
[ $# -gt 0 ] || not_right tests 'no test has this name'
[ "$(cat "$tally"/*.verdicts 2>/dev/null | wc -l)" -eq $# ] ||
    not_right tests "not all of the $# were run"
# There are hundreds of lines above, and some see just the end of a log.
if [ -n "$(cat "$tally"/*.failures 2>/dev/null)" ]; then
	echo 'What failed, once more:'
	cat "$tally"/*.failures
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
