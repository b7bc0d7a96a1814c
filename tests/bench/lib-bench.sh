# SPDX-License-Identifier: ISC
# shellcheck shell=sh disable=SC2034,SC2154 # variables of run.sh
#
# What the sections of the bench share: one run of the workload under
# something, the figures kept, and their minimum, median and maximum.
# Included by run.sh, which has the programs in $tmp.
#
# A figure is a line "name value" in $data.  What belongs together is
# measured one after another within a round, never one tool after the other
# tool's rounds: the machine may become slower or faster meanwhile.

# Both tools get the same room.  perf is spared reading build-ids in the end
# (in 6.1 it may crash there); the tracefs that it mounts is its own.
perf_record()	# under's options, "--", then perf's and "--" and the workload
{
	under_options=
	while [ "$1" != -- ]; do
		under_options="$under_options $1"
		shift
	done
	shift
	# shellcheck disable=SC2086 # a list
	go $under_options -- unshare -m perf record -q -B -N -m 16M \
	    -o "$tmp/perf.data" "$@" 2>"$tmp/perf.err"
}

dtprof_record()	# under's options, "--", then dtprof's and "--" and ...
{
	under_options=
	while [ "$1" != -- ]; do
		under_options="$under_options $1"
		shift
	done
	shift
	rm -f "$tmp/x.dtp.old"
	# shellcheck disable=SC2086 # a list
	go $under_options -- "$DTPROF" record -q -o "$tmp/x.dtp" "$@"
	accounting
}

# Run a command that contains the workload.  It sets, of the workload, w_n
# w_wall w_cpu w_begin w_end w_total (paths.c), of all, u_begin u_end u_us
# u_status u_ns u_runs (under.c).
go()		# under's options, "--", command ...
{
	under_options=
	while [ "$1" != -- ]; do
		under_options="$under_options $1"
		shift
	done
	shift
	rm -f "$tmp/w" "$tmp/u"
	# shellcheck disable=SC2086 # lists
	$faster "$tmp/under" $under_options "$tmp/u" "$@" ||
	    fail "status $?: $*"
	read -r w_n w_wall w_cpu w_begin w_end w_total <"$tmp/w" ||
	    fail "the workload left no result: $*"
	read -r u_begin u_end u_us u_status u_ns u_runs <"$tmp/u"
}

# The workload by itself: what the others are compared with.
alone()		# the workload's arguments
{
	go -- "$tmp/paths" -r "$tmp/w" "$@"
	base_cpu=$w_cpu
}

# Of the last recording: a_stored a_lost a_fired a_balances a_bytes.
accounting()
{
	"$DTPROF" report --stats --json "$tmp/x.dtp" >"$tmp/stats" ||
	    fail "report --stats"
	python3 -c '
import json, sys
a = json.load(open(sys.argv[1]))["accounting"][1]
print(a["stored"], a["full"] + a["nested"] + a["error"], a["fired"],
    int(a["balances"]), a["missed"] or 0)' "$tmp/stats" >"$tmp/a" ||
	    fail "the accounting cannot be read"
	read -r a_stored a_lost a_fired a_balances a_missed <"$tmp/a"
	a_bytes=$(stat -c %s "$tmp/x.dtp")
}

# Of perf's last recording: p_samples p_bytes.
perf_accounting()
{
	p_samples=$(unshare -m perf report --stats -i "$tmp/perf.data" \
	    2>/dev/null | awk '$1 == "SAMPLE" { print $3; exit }')
	p_bytes=$(stat -c %s "$tmp/perf.data")
}

calc()		# expression of awk
{
	awk "BEGIN { printf \"%.6g\", $* }"
}

keep()		# name value
{
	echo "$1 $2" >>"$data"
}

# minimum / median / maximum of a figure
spread()	# name
{
	awk -v name="$1" '$1 == name { print $2 }' "$data" | sort -g | awk '
	function text(x) {
		return x >= 1000 || x <= -1000 ? sprintf("%.0f", x) : \
		    x >= 10 || x <= -10 ? sprintf("%.1f", x) : \
		    sprintf("%.3g", x)
	}
	{ v[NR] = $1 }
	END {
		if (NR == 0)
			print "-"
		else
			printf "%s / %s / %s\n", text(v[1]), text(NR % 2 ? \
			    v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2),
			    text(v[NR])
	}'
}

show()		# name what unit
{
	printf '  %-44s %s %s\n' "$2" "$(spread "$1")" "$3"
}

# The ratios of two figures of the same round, then their spread.
show_ratio()	# name-above name-below what
{
	awk -v a="$1" -v b="$2" '
	$1 == a { above[++n] = $2 }
	$1 == b && $2 != 0 { print "ratio", above[++m] / $2 }' "$data" \
	    >"$tmp/ratios"
	printf '  %-44s %s\n' "$3" "$(data=$tmp/ratios spread ratio)"
}

section()	# title
{
	echo
	echo "$1"
	echo "  (load $(cut -d ' ' -f 1-3 /proc/loadavg), $rounds rounds:" \
	    "minimum / median / maximum)"
}
