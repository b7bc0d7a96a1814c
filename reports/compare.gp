# SPDX-License-Identifier: ISC
#
# Two sets of runs beside each other, in six panels.  Opens by itself with
# the sample data:  cd reports/compare-sample && gnuplot ../compare.gp
#
# Data are files in the current directory, columns apart by tabs, a heading
# in the first line: base.tsv, new.tsv (run, value), shift.tsv (share of the
# runs, change in %), metrics.tsv, functions.tsv (name, change, low end, high
# end, in %).  No text of theirs ever becomes part of a command.  The
# environment: DTPROF_PLOT_TYPE svg or png, DTPROF_PLOT_UNIT of the values.

type = system("printenv DTPROF_PLOT_TYPE")
unit = system("printenv DTPROF_PLOT_UNIT")
metrics = int(system("wc -l <metrics.tsv")) - 1
functions = int(system("wc -l <functions.tsv")) - 1
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

set multiplot layout 2,3
stats "base.tsv" skip 1 using 2 nooutput name "A"
stats "new.tsv" skip 1 using 2 nooutput name "B"

set title "Runs"
set ylabel "time or amount (".unit.")"
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

set title "Share of the runs that took no longer"
set xlabel unit
unset ylabel
set autoscale x
set xtics autofreq rotate by -30
set yrange [0:1.02]
set key bottom right
plot "base.tsv" using 2:(1. / A_records) smooth cumulative with steps lw 2 \
	lc rgb base title columnheader(2), \
     "new.tsv" using 2:(1. / B_records) smooth cumulative with steps lw 2 \
	lc rgb new title columnheader(2)

set title "In the order of runs"
set xtics norotate
set xlabel "run"
set ylabel unit
set autoscale y
unset key
plot "base.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 lc rgb base, \
     "new.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 lc rgb new

set title "Change of each metric, with 95 % interval"
set xlabel "change (%)"
unset ylabel
set grid noytics xtics lc rgb "#dddddd" lt 1
set arrow 1 from 0, graph 0 to 0, graph 1 nohead dt 2 lc rgb neutral
set xtics rotate by -30
set yrange [0.5 - metrics:0.5]
if (metrics > 0) plot "metrics.tsv" skip 1 using 2:(-$0):3:4:ytic(1) with xerrorbars pt 7 \
	lc rgb neutral

if (functions > 0) {
	set title "Change of each function, of the total, 95 % interval"
	set xlabel "change of the total (%)"
	set yrange [0.5 - functions:0.5]
	plot "functions.tsv" skip 1 using 2:(-$0):3:4:ytic(1) \
		with xerrorbars pt 7 lc rgb neutral
}
unset arrow 1
set autoscale y

set title "Change between runs of the same rank"
set xlabel "share of the runs (%)"
set ylabel "change (%)"
set ytics autofreq
set xrange [0:100]
set xtics norotate
set grid noxtics ytics lc rgb "#dddddd" lt 1
plot 0 with lines dt 2 lc rgb neutral, \
     "shift.tsv" skip 1 using 1:2 with linespoints pt 7 ps 0.5 lc rgb new
unset multiplot
