#!/bin/sh
# SPDX-License-Identifier: ISC
#
# How cost grows with size: CPU time, memory and bytes of every step, at sizes
# that double, and the exponent that fits (1: twice the work costs twice).
#
#	scale.sh [axis ...]
#
#	samples		1 to 20 million, of 20,000 places
#	processes	to 5000, a million samples, files elsewhere in each
#	threads		to 1000, as many samples
#	cpus		to 64, as many samples
#	dwarf		to 500 MB of debug information, each of 500 units met
#	alive		to 5000 processes that sleep while all are recorded
#	running		to 1000 threads that run and are recorded
#	minutes		BENCH_MINUTES (30) at 999 Hz on all CPUs, which are busy
#
# Recordings of the first five axes are made (names.c), the others are real.
# BENCH_ROUNDS (3), BENCH_SCALE (1; 0.1 is a tenth of every size).  Figures
# and picture are kept: $B/scale.tsv, $B/scale.svg.
. "${SRC:=$PWD}/tests/lib.sh"
rounds=${BENCH_ROUNDS:-3} scale=${BENCH_SCALE:-1} minutes=${BENCH_MINUTES:-30}
: "${CC:=cc}"
need_cmd python3 gnuplot readelf clang
tmpdir
here=$SRC/tests/bench work=$B/tests/work
compile -I"$SRC/libprof" -I"$SRC/sys" -o names \
    "$here/names.c" "$B/libprof.a" -Wl,--as-needed -lunwind-"$(uname -m)" \
    -lunwind -lbpf -ldw -lelf -lz -llzma -liberty -lpfm -lzstd -lxxhash -lm \
    -pthread || fail "cannot build names"
libraries=$(ldd "$(readlink -f "$(command -v clang)")" |
    awk '/libLLVM|libclang-cpp|libstdc|libc\.so/ { print $3 }')

sizes()		# size ...: so much of each
{
	awk -v scale="$scale" 'BEGIN { for (i = 1; i < ARGC; i++) {
	    n = int(ARGV[i] * scale); print (n > 0 ? n : 1) } }' "$@"
}

step()		# axis size step command ...: the least CPU time of the rounds
{
	python3 "$here/scale.py" run "$rounds" "$@" >>figures || fail "$3"
}

# What reading a recording takes; "x.dtp".
reading()	# axis size
{
	step "$@" table "$DTPROF" report x.dtp
	step "$@" folded "$DTPROF" export -o out.folded x.dtp
	step "$@" page "$DTPROF" flamegraph -o out.html x.dtp
}

# shellcheck disable=SC2086 # a list of files
make()		# options samples
{
	./names -1 $1 "$2" 20000 5 x.dtp - $libraries >names.log ||
	    fail "names: $(cat names.log)"
}

million=$(sizes 1000000)

samples()
{
	for n in $(sizes 1250000 2500000 5000000 10000000 20000000); do
		make "" "$n"
		reading samples "$n"
		step samples "$n" accounting "$DTPROF" report --stats x.dtp
	done
}

processes()
{
	for n in $(sizes 625 1250 2500 5000); do
		make "-p $n" "$million"
		reading processes "$n"
		step processes "$n" "by pid" "$DTPROF" report --by pid x.dtp
	done
}

threads()
{
	for n in $(sizes 125 250 500 1000); do
		make "-t $n" "$million"
		step threads "$n" "by thread" "$DTPROF" report --by tid x.dtp
		step threads "$n" page "$DTPROF" flamegraph -o out.html x.dtp
		step threads "$n" timeline "$DTPROF" report --plot timeline \
		    -o out.tsv x.dtp
	done
}

cpus()
{
	for n in 8 16 32 64; do
		make "-c $n" "$million"
		step cpus "$n" table "$DTPROF" report x.dtp
		step cpus "$n" "by CPU" "$DTPROF" report --by cpu x.dtp
		step cpus "$n" timeline "$DTPROF" report --plot timeline \
		    --by cpu -o out.tsv x.dtp
	done
}

# Units of about a megabyte, which differ in every name: one is compiled, and
# the others are its assembler's text with other names.
dwarf()
{
	python3 "$here/scale.py" unit >unit.c
	$CC -g -O1 -S -o unit.s unit.c || fail "cannot build a unit"
	echo 'int main(void) { return (0); }' >main.c
	made=0
	for megabytes in $(sizes 62 125 250 500); do
		while size=$(python3 "$here/scale.py" debug unit*.o) &&
		    [ "$size" -lt "$megabytes" ]; do
			for _ in 1 2 3 4 5 6 7 8; do
				sed "s/u0_/u${made}_/g" unit.s >next.s
				$CC -c -o "unit$made.o" next.s || fail as
				made=$((made + 1))
			done
		done
		$CC -o program main.c unit*.o || fail "cannot link"
		size=$(python3 "$here/scale.py" debug program)
		./names -1 100000 20000 5 x.dtp - "$PWD/program" \
		    >names.log || fail "names: $(cat names.log)"
		step dwarf "$size" lines "$DTPROF" report --by line x.dtp
		step dwarf "$size" "page of lines" "$DTPROF" flamegraph \
		    --lines -o out.html x.dtp
		step dwarf "$size" table "$DTPROF" report x.dtp
	done
}

record()	# axis size options ...
{
	axis=$1 n=$2
	shift 2
	step "$axis" "$n" record "$DTPROF" record -q -F 999 --duration 3s \
	    -o x.dtp "$@"
	step "$axis" "$n" table "$DTPROF" report x.dtp
}

# Processes that read until nobody holds the other end, and then end.
alive()
{
	mkfifo held
	exec 9<>held
	i=0
	for n in $(sizes 625 1250 2500 5000); do
		while [ $i -lt "$n" ]; do
			(exec 9>&-; read -r _ <held) &
			i=$((i + 1))
		done
		record alive "$n" -a
	done
	exec 9>&-
	wait
}

# In a session of their own, that dtprof need not wait for all of them.
running()
{
	for n in $(sizes 125 250 500 1000); do
		setsid "$work/spin" -t "$n" 0 >spin.out &
		kill_at_end $!
		record running "$n" -p $!
		kill -9 $!
	done
}

minutes()
{
	"$work/spin" -t "$(nproc)" 0 >spin.out &
	kill_at_end $!
	python3 "$here/scale.py" follow "$minutes" x.dtp "$DTPROF" record \
	    -q -a -F 999 -o x.dtp --duration "${minutes}m" >>figures ||
	    fail minutes
	step minutes "$minutes" table "$DTPROF" report x.dtp
	step minutes "$minutes" page "$DTPROF" flamegraph -o out.html x.dtp
	"$DTPROF" report --stats x.dtp
}

[ $# -gt 0 ] ||
    set -- samples processes threads cpus dwarf alive running minutes
echo "load $(cut -d ' ' -f 1-3 /proc/loadavg), $rounds rounds, the least of" \
    "CPU time, the most of memory"
for axis; do
	case $axis in
	samples | processes | threads | cpus | dwarf) "$axis" ;;
	alive | running | minutes)
		need_root
		need_bpf
		"$axis" ;;
	*)	fail "no axis $axis" ;;
	esac
done
cp figures "$B/scale.tsv"
python3 "$here/scale.py" show figures
gnuplot "$here/scale.gp" || fail gnuplot
cp scale.svg "$B/scale.svg"
