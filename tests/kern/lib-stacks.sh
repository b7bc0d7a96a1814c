# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What the tests of walks in user space share: known programs without frame
# pointers, whose stacks stacks.py knows.
#	. "${SRC:=$PWD}/tests/kern/lib-stacks.sh"

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"

# The programs of tests/work/stacks, in the current directory.
build_stacks()
{
	need_cmd "${CC:-cc}" g++ nm readelf
	from=$SRC/tests/work/stacks
	"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE= -O2 -fomit-frame-pointer \
	    -fno-ipa-icf -pthread -DWITH_UCONTEXT -Wl,-z,lazy -o stacks \
	    "$from/stacks.c" || fail "stacks does not compile"
	g++ -O2 -fomit-frame-pointer -o throws "$from/throws.cc" ||
	    fail "throws does not compile"
}

# Run it in the background; its pid and title are kept for judge.  It is nice,
# so that the recorder keeps up: see compute.
begin()		# title command ...
{
	title=$1
	shift
	nice -n "${NICE:-19}" "$@" 9>&- &
	kill_at_end $!
	echo "$! $title" >>titles
}

# What a process and its children computed so far, in hundredths of a second.
ran()		# pid
{
	read -r stat <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086 # a list of numbers
	set -- ${stat##*) }
	echo $((${12} + ${13} + ${14} + ${15}))
}

has_run()	# pid hundredths
{
	[ "$(ran "$1")" -ge "$2" ]
}

# Until each of them has computed so much more.  A number of seconds says
# nothing: beside busy programs that are not nice they get a hundredth of it.
compute()	# hundredths
{
	while read -r pid _; do
		echo "$pid $(ran "$pid")"
	done <titles >begun
	while read -r pid ticks; do
		await "$pid computes" has_run "$pid" $((ticks + $1))
	done <begun
}

pids_begun()
{
	sed 's/ .*//' titles | paste -sd,
}

end_all()
{
	for pid in $test_pids; do
		kill -9 "$pid" 2>/dev/null
	done
}

# By readelf and nm: all but so many in 10,000 are whole, and none is wrong.
judge()		# recording least
{
	echo "stacks                samples complete  other ends"
	python3 "$SRC/tests/kern/stacks.py" "$1" "$2" <titles ||
	    fail "see above"
}
