#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Measures what recording costs and how much it can take, beside perf on the
# same work; doc/PERFORMANCE.md holds figures and what they mean.
#
#	run.sh [section ...]
#
#	kernel		time of the programs in the kernel, for a record
#	walk		the walk by unwind tables in a compiler, for a frame
#	slowdown	CPU time added to the workload, bytes, start, stop
#	timer		the same for a timer of 49999 Hz
#	sustained	flat out: rate, losses, CPU time of the recorder
#	reader		samples decoded and printed a second
#	synthetic	the file's code alone, without a kernel
#	symbols		functions and lines, and a report with much to name
#	values		record --with: of a sample, and of a switch of the CPU
#	stat		counting: start-up, and what it adds to a command
#	page		the flame graph page, in a browser
#
# BENCH_ROUNDS (5), BENCH_EVENTS (300000) and BENCH_SECONDS (5, of a
# sustained run) say how much; BENCH_PERF=0 leaves perf out.  The workload
# stays on the last CPU, recorders of sustained runs on the others; both run
# with a raised priority, as others may use the machine.  Every figure is kept
# in $B/bench.data.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/bench/lib-bench.sh"

rounds=${BENCH_ROUNDS:-5} events=${BENCH_EVENTS:-300000}
seconds=${BENCH_SECONDS:-5}
: "${CC:=cc}"
need_root
need_bpf
need_cmd awk python3 taskset
case $DTPROF in
/*) ;;
*)	DTPROF=$PWD/$DTPROF ;;
esac
case $B in
/*) ;;
*)	B=$PWD/$B ;;
esac
data=$B/bench.data
here=$SRC/tests/bench
tmpdir
: >"$data"
# Priority counts within a session's group only, hence one of its own.
cat >"$tmp/faster" <<'END'
{ echo -20 >/proc/self/autogroup; } 2>/dev/null
exec nice -n -20 "$@"
END
faster="setsid -w sh $tmp/faster"
has_perf=
[ "${BENCH_PERF:-1}" = 0 ] || ! command -v perf >/dev/null || has_perf=1
cpu=$(($(nproc) - 1))

# shellcheck disable=SC2086 # CC may hold options
build()		# name, then what else the compiler needs
{
	name=$1
	shift
	$CC -std=gnu11 -D_GNU_SOURCE -I"$SRC/libprof" -o "$tmp/$name" \
	    "$here/$name.c" "$@" || fail "cannot build $name"
}
build paths -O1 -fno-omit-frame-pointer -fno-optimize-sibling-calls
build under -O2
build decode -O2 "$B/libprof.a" -lzstd -lm -pthread

# What a firing that is not stored costs is measured beside, and taken off:
# other processes make system calls, too.
cost()		# name program dtprof's options ..., the last is what
{
	name=$1 program=$2
	shift 2
	dtprof_record -p "$program" -- "$@"
	keep "kernel.$name" "$(calc "($u_ns - ($u_runs - $a_stored) * \
	    $unstored) / $a_stored")"
	keep "kernel.$name.share" "$(calc "$a_stored / $u_runs")"
}

kernel_round()
{
	call=syscall::getppid:entry point=raw_syscalls:sys_enter
	run="$tmp/paths -r $tmp/w -c $cpu -n $events"
	# shellcheck disable=SC2086 # a command
	go -e -- $run flat
	keep kernel.empty "$(calc "$u_ns / $u_runs")"
	$faster "$tmp/paths" -r "$tmp/w2" -c "$cpu" -s 1 flat &
	# shellcheck disable=SC2086
	dtprof_record -p on_sys_enter -- -e $call --call-graph none -- \
	    "$tmp/paths" -r "$tmp/w" -s 0.5 -w 1000 spin
	wait $!
	unstored=$(calc "$u_ns / $u_runs")
	keep kernel.unstored "$unstored"
	# shellcheck disable=SC2086
	{
		cost flat on_sys_enter -e $call --call-graph none -- $run flat
		cost point on_tracepoint -e $point --call-graph none \
		    -- $run flat
		cost all on_tracepoint -a -e $point --call-graph none \
		    -- $run flat
		cost user on_sys_enter -e $call --call-graph fp --user-only \
		    -- $run call
		cost tables on_sys_enter -e $call --call-graph auto \
		    --user-only -- $run call
		# Samples of system calls have no kernel frames.
		cost both on_tracepoint -e $point --call-graph fp -- $run call
	}
	# Both programs of a call, each with what others' calls cost in it.
	for half in entry return; do
		$faster "$tmp/paths" -r "$tmp/w2" -c "$cpu" -s 1 flat &
		dtprof_record -p on_call_$half -- -e syscall:getppid \
		    --call-graph none -- "$tmp/paths" -r "$tmp/w" -s 0.5 \
		    -w 1000 spin
		wait $!
		unstored=$(calc "$u_ns / $u_runs")
		keep "kernel.call.$half.unstored" "$unstored"
		# shellcheck disable=SC2086 # a command
		cost call.$half on_call_$half -e syscall:getppid \
		    --call-graph none -- $run flat
	done
	for name in flat point all; do
		keep "kernel.above.$name" \
		    "$(calc "$(last kernel.$name) - $(last kernel.empty)")"
	done
}

last()		# name
{
	awk -v name="$1" '$1 == name { v = $2 } END { print v }' "$data"
}

kernel_show()
{
	show kernel.empty "an empty program" ns
	show kernel.unstored "a firing of another process, filtered" ns
	show kernel.flat "no stack, a system call by name" ns
	show kernel.call.entry "no stack, a whole call: its entry" ns
	show kernel.call.return "no stack, a whole call: its return" ns
	show kernel.call.entry.unstored "entry of another process's call" ns
	show kernel.call.return.unstored "return of another process's" ns
	show kernel.point "no stack, tracepoint" ns
	show kernel.all "no stack, tracepoint, every process (-a)" ns
	show kernel.above.flat "above the empty program: call by name" ns
	show kernel.above.point "above the empty program: tracepoint" ns
	show kernel.above.all "above the empty program: tracepoint, -a" ns
	show kernel.user "22 user frames, by frame pointer" ns
	show kernel.tables "22 user frames, by unwind tables" ns
	show kernel.both "22 user frames by pointer, and the kernel's" ns
	show kernel.user.share "share of runs that were stored, user frames" ""
}

# Of a program with deep stacks and much code: clang, some ten seconds of it.
walk_round()
{
	awk 'BEGIN { for (i = 0; i < 400; i++)
		printf "int f%d(int *p, int k) { int r = 0; for (int i = 0; " \
		    "i < k; i++) { r += p[i] * k; switch (r & 7) { case 1: " \
		    "r ^= p[1]; break; case 2: r += p[2]; break; default: " \
		    "r <<= 1; } } return (r); }\n", i }' >"$tmp/walk.c"
	for how in none auto; do
		dtprof_record -p on_timer -- -e cpu-clock -F 4999 --user-only \
		    --call-graph $how -- sh -c "clang -O2 -c $tmp/walk.c \
		    -o $tmp/walk.o && $tmp/paths -r $tmp/w -n 1000 flat"
		keep "walk.$how" "$(calc "$u_ns / $u_runs")"
	done
	"$tmp/decode" "$tmp/x.dtp" >"$tmp/d" || fail "decode"
	read -r d_samples d_frames d_rest <"$tmp/d"
	: "$d_rest"
	keep walk.frames "$(calc "$d_frames / $d_samples")"
	keep walk.frame "$(calc "($(last walk.auto) - $(last walk.none)) / \
	    $(last walk.frames)")"
}

walk_show()
{
	show walk.none "clang, a sample without stack" ns
	show walk.auto "clang, a sample with its user frames" ns
	show walk.frames "frames" ""
	show walk.frame "a frame" ns
}

# What values of counters add to a sample, and what each switch costs: that of
# the recorded thread, which moves its values, and anybody else's.
values_round()
{
	call=syscall::getppid:entry
	run="$tmp/paths -r $tmp/w -c $cpu -n $events flat"
	# shellcheck disable=SC2086 # lists
	for with in "" page-faults \
	    page-faults,context-switches,minor-faults,major-faults; do
		n=$(echo "$with" | tr , '\n' | grep -c .)
		dtprof_record -p on_sys_enter -- -e $call --call-graph none \
		    ${with:+--with $with} -- $run
		keep "values.sample.$n" "$(calc "$u_ns / $u_runs")"
		[ "$n" -gt 0 ] || continue
		keep "values.added.$n" "$(calc "$(last values.sample.$n) - \
		    $(last values.sample.0)")"
		dtprof_record -p on_switch -- -e $call --call-graph none \
		    --with $with -- sh -c "$B/tests/work/guest_pingpong 20000
		    exec $tmp/paths -r $tmp/w -c $cpu -n 1000 flat"
		keep "values.switch.$n" "$(calc "$u_ns / $u_runs")"
		keep "values.switches.$n" "$u_runs"
	done
}

values_show()
{
	show values.sample.0 "a sample without values" ns
	show values.added.1 "one counter adds" ns
	show values.added.4 "four counters add" ns
	show values.switch.1 "a switch, with one counter" ns
	show values.switch.4 "a switch, with four" ns
	show values.switches.4 "switches seen" ""
}

# One tool on the workload whose time alone is in $base_cpu.
slowdown()	# name tool options ... -- what the workload does
{
	name=$1 tool=$2
	shift 2
	"${tool}_record" -- "$@"
	case $tool in
	dtprof)	samples=$a_stored bytes=$a_bytes lost=$a_lost ;;
	perf)	perf_accounting
		samples=$p_samples bytes=$p_bytes lost=$((w_n - p_samples))
		[ "$lost" -lt 0 ] && lost=0 ;;
	esac
	keep "$name.slowdown" "$(calc "($w_cpu - $base_cpu) / $samples")"
	keep "$name.bytes" "$(calc "$bytes / $samples")"
	keep "$name.lost" "$lost"
	keep "$name.samples" "$samples"
	keep "$name.start" "$(calc "($w_begin - $u_begin) / 1e6")"
	keep "$name.stop" "$(calc "($u_end - $w_end) / 1e6")"
}

slowdown_round()
{
	e='-e raw_syscalls:sys_enter'
	run="-- $tmp/paths -r $tmp/w -c $cpu -n $events"
	# shellcheck disable=SC2086 # lists
	{
		alone -c "$cpu" -n "$events" call
		slowdown d.none dtprof $e --call-graph none $run call
		slowdown d.user dtprof $e --call-graph fp --user-only $run call
		slowdown d.both dtprof $e --call-graph fp $run call
		[ -n "$has_perf" ] || return 0
		slowdown p.none perf $e $run call
		slowdown p.user perf $e -g --user-callchains $run call
		slowdown p.both perf $e -g $run call
		slowdown p.z perf $e -z -g --user-callchains $run call
	}
}

slowdown_show()
{
	for figure in 'slowdown ns' 'bytes bytes' 'lost events' 'start ms' \
	    'stop ms'; do
		unit=${figure#* } figure=${figure% *}
		echo " $(title "$figure"):"
		show "d.none.$figure" "dtprof, no stack" "$unit"
		show "p.none.$figure" "perf, no stack" "$unit"
		show "d.user.$figure" "dtprof, 22 user frames" "$unit"
		show "p.user.$figure" "perf -g --user-callchains" "$unit"
		show "d.both.$figure" "dtprof, user and kernel frames" "$unit"
		show "p.both.$figure" "perf -g" "$unit"
		[ "$figure" = bytes ] &&
		    show p.z.bytes "perf -z -g --user-callchains" "$unit"
	done
	[ -n "$has_perf" ] || return 0
	echo ' dtprof against perf, of the same round:'
	for kind in none user both; do
		show_ratio "d.$kind.slowdown" "p.$kind.slowdown" \
		    "CPU time added, $kind"
	done
	show_ratio d.user.bytes p.user.bytes "bytes, user"
	show_ratio d.user.bytes p.z.bytes "bytes, user, against perf -z"
}

title()		# figure
{
	case $1 in
	slowdown) echo 'CPU time added to the workload, for an event' ;;
	bytes)	echo 'bytes on disk, for an event' ;;
	lost)	echo 'lost' ;;
	start)	echo 'from start to the first turn of the workload' ;;
	stop)	echo 'from its last turn to the prompt' ;;
	esac
}

timer_round()
{
	e='-e cpu-clock -F 49999'
	# A turn takes a nanosecond or two: about a second.
	run="-- $tmp/paths -r $tmp/w -c $cpu -w 1000 -n 500000"
	# shellcheck disable=SC2086 # lists
	{
		alone -c "$cpu" -w 1000 -n 500000 spin
		slowdown td.none dtprof $e --call-graph none $run spin
		slowdown td.both dtprof $e --call-graph fp $run spin
		keep td.stack "$(calc "$(last td.both.slowdown) - \
		    $(last td.none.slowdown)")"
		[ -n "$has_perf" ] || return 0
		slowdown tp.none perf $e $run spin
		slowdown tp.both perf $e -g $run spin
		keep tp.stack "$(calc "$(last tp.both.slowdown) - \
		    $(last tp.none.slowdown)")"
	}
}

timer_show()
{
	echo ' CPU time added to the workload, for a sample:'
	show td.none.slowdown "dtprof, no stack" ns
	show tp.none.slowdown "perf, no stack" ns
	show td.both.slowdown "dtprof, user and kernel frames" ns
	show tp.both.slowdown "perf -g" ns
	show td.stack "dtprof, the stacks alone" ns
	show tp.stack "perf, the stacks alone" ns
	show td.both.bytes "dtprof, bytes for a sample" ""
	show tp.both.bytes "perf -g, bytes for a sample" ""
	[ -n "$has_perf" ] || return 0
	show_ratio td.both.slowdown tp.both.slowdown \
	    "CPU time added, dtprof to perf -g"
}

# As many as one CPU makes; the recorder has the others.
flat_out()	# name tool options ... -- what the workload does
{
	name=$1 tool=$2
	shift 2
	"${tool}_record" -- "$@"
	case $tool in
	dtprof)	[ "$a_balances" -eq 1 ] || fail "the accounting is out"
		samples=$a_stored lost=$a_lost ;;
	perf)	perf_accounting
		samples=$p_samples lost=$((w_n - p_samples))
		[ "$lost" -lt 0 ] && lost=0 ;;
	esac
	keep "$name.rate" "$(calc "$w_n / $w_wall * 1e3")"
	keep "$name.core" "$(calc "$w_n / $w_cpu * 1e3")"
	keep "$name.lost" "$(calc "100 * $lost / $w_n")"
	keep "$name.recorder" "$(calc "($u_us * 1e3 - $w_total) / $samples")"
	rm -f "$tmp/perf.data" "$tmp/x.dtp"
}

sustained_round()
{
	e='-e raw_syscalls:sys_enter'
	run="-- $tmp/paths -r $tmp/w -c $cpu -s $seconds"
	plain=$faster
	faster="$faster taskset -c 0-$((cpu > 0 ? cpu - 1 : 0))"
	# shellcheck disable=SC2086 # lists
	{
		go -- $tmp/paths -r "$tmp/w" -c "$cpu" -s 1 flat
		keep s.alone.core "$(calc "$w_n / $w_cpu * 1e3")"
		flat_out sd.none dtprof $e --call-graph none $run flat
		flat_out sd.user dtprof $e --call-graph fp --user-only $run call
		flat_out sd.both dtprof $e --call-graph fp $run call
		[ -z "$has_perf" ] || {
			flat_out sp.none perf $e $run flat
			flat_out sp.small perf -m 512K $e $run flat
			flat_out sp.user perf $e -g --user-callchains $run call
			flat_out sp.both perf $e -g $run call
		}
	}
	faster=$plain
}

sustained_show()
{
	show s.alone.core "the workload alone, no stack" "M/s of CPU time"
	for what in 'none dtprof, no stack' 'user dtprof, 22 user frames' \
	    'both dtprof, user and kernel frames' 'none perf, no stack' \
	    'small perf, no stack, its usual buffer' \
	    'user perf -g --user-callchains' 'both perf -g'; do
		kind=${what%% *} what=${what#* }
		case $what in
		dtprof*) name=sd.$kind ;;
		*)	name=sp.$kind
			[ -n "$has_perf" ] || continue ;;
		esac
		echo " $what, $seconds s:"
		show "$name.rate" "events a second" M/s
		show "$name.core" "events a second of its CPU time" M/s
		show "$name.lost" "lost" %
		show "$name.recorder" "CPU time of the recorder, an event" ns
	done
}

reader_round()
{
	e='-e raw_syscalls:sys_enter'
	run="-- $tmp/paths -r $tmp/w -c $cpu -n $events call"
	if [ ! -e "$tmp/x.dtp" ]; then
		# shellcheck disable=SC2086 # lists
		{
			dtprof_record -- $e --call-graph fp --user-only $run
			[ -z "$has_perf" ] ||
			    perf_record -- $e -g --user-callchains $run
		}
	fi
	"$tmp/decode" "$tmp/x.dtp" >"$tmp/d" || fail "decode"
	read -r d_samples d_frames d_cpu d_first <"$tmp/d"
	[ "$d_samples" -eq "$a_stored" ] || fail "$d_samples, not $a_stored"
	keep r.decode "$(calc "$d_samples / $d_cpu / 1e6")"
	: "$d_frames $d_first"
	# What is missing below has failed: perf 6.1 crashes now and then.
	printed r.script "$DTPROF" script "$tmp/x.dtp"
	printed r.json "$DTPROF" script --json "$tmp/x.dtp"
	[ -n "$has_perf" ] || return 0
	printed r.perf perf script -i "$tmp/perf.data" -F \
	    comm,pid,tid,cpu,time,event,ip
}

printed()	# name command ...
{
	name=$1
	shift
	if ! "$tmp/under" "$tmp/u" "$@" >/dev/null 2>"$tmp/err"; then
		echo "  (failed, left out: $1 $2: $(tail -n 1 "$tmp/err"))"
		return
	fi
	read -r u_begin u_end u_us u_rest <"$tmp/u"
	: "$u_begin $u_end $u_rest"
	keep "$name" "$(calc "$events / $u_us")"
}

reader_show()
{
	echo ' of samples with 22 user frames, a second of CPU time:'
	show r.decode "decoded (libprof)" M/s
	show r.script "printed by dtprof script" M/s
	show r.json "printed by dtprof script --json" M/s
	show r.perf "printed by perf script, addresses only" M/s
}

echo "$(uname -sr), $(nproc) CPUs, $(sed -n \
    's/^model name[^:]*: //p;T;q' /proc/cpuinfo), $("$DTPROF" --version)" \
    "${has_perf:+, $(perf --version)}"
[ $# -gt 0 ] ||
    set -- kernel walk values slowdown timer sustained reader synthetic \
    symbols stat page
for part; do
	case $part in
	kernel | walk | values | slowdown | timer | sustained | reader) ;;
	page)	section page
		$faster sh "$here/page.sh" || [ $? -eq 77 ] || fail page
		continue ;;
	synthetic)
		section synthetic
		sh "$here/recording.sh" || fail recording
		continue ;;
	symbols)
		section symbols
		sh "$here/symbols.sh" || fail symbols
		sh "$here/names.sh" || fail names
		continue ;;
	stat)	section stat
		$faster sh "$here/stat.sh" || fail stat
		continue ;;
	*)	fail "no section $part" ;;
	esac
	section "$part"
	round=0
	while [ $((round += 1)) -le "$rounds" ]; do
		"${part}_round"
	done
	"${part}_show"
done
echo
echo "load at the end: $(cut -d ' ' -f 1-3 /proc/loadavg)"
