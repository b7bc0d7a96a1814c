#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Stacks of every odd kind are whole, and frame by frame what the
# program did: frames that grow or are aligned, 1000 deep, through callbacks,
# jumps, signals, other stacks, threads, children, contexts, exceptions, stubs
# and unloaded code; in programs that are static, have no sections, or use a
# C library without frame information.
#
# Easy to get wrong: nearly all of it.  RUN is how long to look: hundredths of
# a second that each program computes (6).

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd "${CC:-cc}" g++ nm readelf
tmpdir

from=$SRC/tests/work/stacks
flags='-std=gnu11 -D_GNU_SOURCE= -O2 -fomit-frame-pointer -fno-ipa-icf
    -pthread'

# shellcheck disable=SC2086 # a list of flags
build()		# compiler argument ...
{
	build_by=$1
	shift
	$build_by $flags "$@" || fail "$build_by $*"
}

build "${CC:-cc}" -shared -fPIC -o plugin.so "$from/plugin.c"
build "${CC:-cc}" -DWITH_UCONTEXT -DWITH_PLUGIN -Wl,-z,lazy \
    -Wl,-rpath,"$tmp" -o stacks "$from/stacks.c" ./plugin.so
build "${CC:-cc}" -static-pie -DWITH_UCONTEXT -o static "$from/stacks.c"
g++ -O2 -fomit-frame-pointer -o throws "$from/throws.cc" || fail "g++"
# A copy whose sections cannot be found: the header does not say where.
py <<'PY'
whole = open("stacks", "rb").read()
cut = bytearray(whole)
cut[40:48] = bytes(8)
cut[58:64] = bytes(6)
open("bare", "wb").write(cut)
PY
chmod 755 bare

begin()		# title command ...
{
	title=$1
	shift
	nice -n 5 "$@" 9>&- &
	kill_at_end $!
	echo "$! $title" >>titles
}

for what in alloca realign deep callback longjmp signal altstack threads \
    vfork fork vdso coroutine plt; do
	begin "$what" ./stacks "$what"
done
begin dlopen ./stacks dlopen ./plugin.so
begin throws ./throws
for what in alloca signal threads; do
	begin static-$what ./static $what
done
begin bare-deep ./bare deep
if command -v musl-gcc >/dev/null; then
	build musl-gcc -o musl "$from/stacks.c"
	begin musl-realign ./musl realign
	begin musl-threads ./musl threads
fi
# What it and its children computed so far, in hundredths of a second.
ran()		# pid
{
	read -r stat <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086 # a list of numbers
	set -- ${stat##*) }
	echo $((${12} + ${13} + ${14} + ${15}))
}

pids=$(sed 's/ .*//' titles | paste -sd,)
record_begin -o a.dtp -e cpu-clock -c 200000 -p "$pids"
while read -r pid _; do
	echo "$pid $(ran "$pid")"
done <titles >begun
looks=3000
while read -r pid ticks; do
	until [ "$(ran "$pid")" -ge $((ticks + ${RUN:-6})) ]; do
		looks=$((looks - 1))
		[ $looks -gt 0 ] || fail "some program does not compute"
		nap
	done
done <begun
record_end 0
for pid in $test_pids; do
	kill -9 "$pid" 2>/dev/null
done
echo "stacks                samples complete  other ends"
python3 "$SRC/tests/kern/stacks.py" a.dtp 9950 <titles || fail "see above"
ok "stacks of every kind are whole"
