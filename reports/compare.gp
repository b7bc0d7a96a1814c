# SPDX-License-Identifier: ISC
#
# Two sets of runs beside each other, in six panels.  Opens by itself with
# the sample data:  cd reports/compare-sample && gnuplot ../compare.gp
#
# Data are files in the current directory, columns apart by tabs, a heading
# in the first line: base.tsv, new.tsv (run, value), shift.tsv (share of the
# runs, change in %), metrics.tsv, functions.tsv (name, change, low end, high
# end, in %), label.txt (what the values are, and their unit).  No text of
# theirs ever becomes part of a command.  The environment: DTPROF_PLOT_TYPE
# svg or png.

type = system("printenv DTPROF_PLOT_TYPE")
label = system("cat label.txt")
base_name = system("head -n 1 base.tsv | cut -f 2")
new_name = system("head -n 1 new.tsv | cut -f 2")
metrics = int(system("wc -l <metrics.tsv")) - 1
functions = int(system("wc -l <functions.tsv")) - 1
shifts = int(system("wc -l <shift.tsv")) - 1
if (type eq "png") {
	set terminal pngcairo size 1200,900 noenhanced font "DejaVu Sans,10"
	set output "out.png"
} else {
	set terminal svg size 1200,900 dynamic noenhanced \
	    font "DejaVu Sans,11" name "dtprof" background "white"
	set output "out.svg"
}
set datafile separator "\t"
set datafile commentschars ""
set datafile missing "-"
base = "#0072B2"
new = "#D55E00"
neutral = "#333333"
set border 3
set tics nomirror
set grid ytics lc rgb "#dddddd" lt 1

least(a, b) = a < b ? a : b
most(a, b) = a > b ? a : b
# Beyond the outermost values, so that there is never a range of nothing.
room(a, b) = b > a ? 0.05 * (b - a) : a != 0 ? 0.05 * abs(a) : 1

# Before any range is set, which stats would heed.  Changes have 0 in sight.
stats "base.tsv" skip 1 using 2 nooutput name "A"
stats "new.tsv" skip 1 using 2 nooutput name "B"
stats "base.tsv" skip 1 using ($2 == A_min) nooutput name "AF"
stats "new.tsv" skip 1 using ($2 == B_min) nooutput name "BF"
low = least(A_min, B_min)
high = most(A_max, B_max)
if (metrics > 0) {
	stats "metrics.tsv" skip 1 using (least(0, least($2, $3))) nooutput \
		name "ML"
	stats "metrics.tsv" skip 1 using (most(0, most($2, $4))) nooutput \
		name "MH"
}
if (functions > 0) {
	stats "functions.tsv" skip 1 using (least(0, least($2, $3))) \
		nooutput name "FL"
	stats "functions.tsv" skip 1 using (most(0, most($2, $4))) \
		nooutput name "FH"
}
if (shifts > 0) {
	stats "shift.tsv" skip 1 using (least(0, $2)) nooutput name "SL"
	stats "shift.tsv" skip 1 using (most(0, $2)) nooutput name "SH"
}

set multiplot layout 2,3 title "base:  ".base_name."\nnew:  ".new_name
set title "Runs"
set ylabel label
set yrange [low - room(low, high):high + room(low, high)]
set style boxplot nooutliers
set style fill solid 0.15 border -1
set boxwidth 0.5
set xrange [0.4:2.6]
set xtics ("base" 1, "new" 2)
set jitter overlap 0.6 spread 0.3
unset key
plot "base.tsv" skip 1 using (1):2 with boxplot lc rgb base, \
     "new.tsv" skip 1 using (2):2 with boxplot lc rgb new, \
     "base.tsv" skip 1 using (1):2 with points pt 7 ps 0.5 lc rgb base, \
     "new.tsv" skip 1 using (2):2 with points pt 7 ps 0.5 lc rgb new
unset jitter

set title "Cumulative distribution of the runs"
set xlabel label
set ylabel "share of the runs"
set xrange [low - room(low, high):high + room(low, high)]
set xtics autofreq rotate by -30
set yrange [0:1.02]
set key below height 1
# The first step begins at nothing, where steps do not.
set arrow 1 from A_min, 0 to A_min, AF_sum / A_records nohead lw 2 lc rgb base
set arrow 2 from B_min, 0 to B_min, BF_sum / B_records nohead lw 2 lc rgb new
plot "base.tsv" skip 1 using 2:(1. / A_records) smooth cumulative with steps \
	lw 2 lc rgb base title "base", \
     "new.tsv" skip 1 using 2:(1. / B_records) smooth cumulative with steps \
	lw 2 lc rgb new title "new"
unset arrow 1
unset arrow 2

set title "Runs in order"
set xtics norotate
set xlabel "run"
set ylabel label
set xrange [0:most(A_records, B_records) + 1]
set yrange [low - room(low, high):high + room(low, high)]
unset key
plot "base.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 lc rgb base, \
     "new.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 lc rgb new

set title "Change of each metric, with 95% interval"
set xlabel "change (%)"
unset ylabel
set grid noytics xtics lc rgb "#dddddd" lt 1
set arrow 1 from 0, graph 0 to 0, graph 1 nohead dt 2 lc rgb neutral
set xtics rotate by -30
if (metrics > 0) {
	low = ML_min
	high = MH_max
	set xrange [low - room(low, high):high + room(low, high)]
	set yrange [0.5 - metrics:0.5]
	plot "metrics.tsv" skip 1 using 2:(-$0):3:4:ytic(1) \
		with xerrorbars pt 7 lc rgb neutral
}

if (functions > 0) {
	set title "Change of each function, of the total, 95% interval"
	set xlabel "change of the total (%)"
	low = FL_min
	high = FH_max
	set xrange [low - room(low, high):high + room(low, high)]
	set yrange [0.5 - functions:0.5]
	plot "functions.tsv" skip 1 using 2:(-$0):3:4:ytic(1) \
		with xerrorbars pt 7 lc rgb neutral
}
unset arrow 1

if (shifts > 0) {
	set title "Change at each quantile of the runs"
	set xlabel "share of the runs (%)"
	set ylabel "change (%)"
	set ytics autofreq
	set xrange [0:100]
	set xtics norotate
	set grid noxtics ytics lc rgb "#dddddd" lt 1
	low = SL_min
	high = SH_max
	set yrange [low - room(low, high):high + room(low, high)]
	plot 0 with lines dt 2 lc rgb neutral, \
	     "shift.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 \
		lc rgb new
}
unset multiplot
