# SPDX-License-Identifier: ISC
#
# How fast each event counted over time, in a panel of its own.  Opens by
# itself with the sample data:  cd reports/plot-sample && gnuplot ../rates.gp
#
# rates.tsv: a heading, then seconds and, for each event, its weight in a
# second and its samples in the cell.  No text of its ever becomes part of a
# command.

type = system("printenv DTPROF_PLOT_TYPE")
events = (int(system("head -n 1 rates.tsv | tr '\\t' '\\n' | wc -l")) - 1) / 2
if (type eq "png") {
	set terminal pngcairo size 1200,100 + 220 * events noenhanced \
	    font "DejaVu Sans,10"
	set output "out.png"
} else {
	set terminal svg size 1200,100 + 220 * events dynamic noenhanced \
	    font "DejaVu Sans,11" name "dtprof" background "white"
	set output "out.svg"
}
set datafile separator "\t"
set datafile commentschars ""
set tics out nomirror
set grid ytics lc rgb "#dddddd" lt 1
set border 3
set format y "%.1s %c"
set xrange [0:*]
set yrange [0:*]
set key outside top right
set multiplot layout events,1 title "Rates of events, in a second"
do for [n=1:events] {
	if (n == events) { set xlabel "time since the first sample (s)" }
	plot "rates.tsv" using 1:(column(2 * n)) with steps lw 1.5 \
	    lc rgb "#4e79a7" title columnheader(2 * n)
}
unset multiplot
