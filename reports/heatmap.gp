# SPDX-License-Identifier: ISC
#
# Samples by time: seconds from left to right, the part of the second upwards,
# so that what comes back within a second is a pattern.  Opens by itself with
# the sample data:  cd reports/plot-sample && gnuplot ../heatmap.gp
#
# heatmap.tsv: a heading, then second, milliseconds in it, length of the cell
# in milliseconds, samples.  No text of its ever becomes part of a command.

type = system("printenv DTPROF_PLOT_TYPE")
if (type eq "png") {
	set terminal pngcairo size 1200,600 noenhanced font "DejaVu Sans,10"
	set output "out.png"
} else {
	set terminal svg size 1200,600 dynamic noenhanced \
	    font "DejaVu Sans,11" name "dtprof" background "white"
	set output "out.svg"
}
set datafile separator "\t"
set datafile commentschars ""
unset key
set tics out nomirror
set title "Samples within each second"
set xlabel "time since the first sample (s)"
set ylabel "part of the second (ms)"
set cblabel "samples"
set cbrange [0:*]
set yrange [0:1000]
set palette defined (0 "#fff5e6", 0.5 "#f28e2b", 1 "#7f1d1d")
set style fill solid 1 noborder
plot "heatmap.tsv" skip 1 using ($1 + 0.5):($2 + $3 / 2):1:($1 + 1):2:($2 + $3):4 \
    with boxxyerror lc palette
