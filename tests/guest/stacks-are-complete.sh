#!/bin/sh
# ASSERTION: in the guest at least 99.5 % of the stacks of programs without
# frame pointers are whole, and frame by frame what the program did.
# SPDX-License-Identifier: ISC
# TIMEOUT: 600
#
# Easy to get wrong: on arm64 the return address is in a register for a while,
# and signal frames look different.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
for what in alloca realign deep callback longjmp signal altstack threads \
    fork coroutine; do
	guest_stacks $what &
	echo "$! guest-$what" >titles.$what
	dtprof record -q --user-only -e cpu-clock -c 500000 \
	    --duration 400ms -p $! -o $what.dtp || exit
	kill $!
done
END
PYTHONPATH=$SRC/tests/kern PYTHONDONTWRITEBYTECODE=1
STACKS_ROOT=$tmp/root
export PYTHONPATH PYTHONDONTWRITEBYTECODE STACKS_ROOT DTPROF
bad=
echo "stacks                samples complete  other ends"
for recording in results/*.dtp; do
	what=$(basename "$recording" .dtp)
	accounting "$recording" >/dev/null
	python3 "$SRC/tests/kern/stacks.py" "$recording" 9950 \
	    <"results/titles.$what" || bad="$bad $what"
done
[ -z "$bad" ] || fail "too few whole stacks:$bad"
ok "stacks are whole"
