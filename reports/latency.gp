# SPDX-License-Identifier: ISC
#
# Durations of calls or spans by the time at which they ended.  Opens by itself
# with the sample data:  cd reports/plot-sample && gnuplot ../latency.gp
#
# title.tsv: a line.  latency.tsv: a heading, then seconds, length of the cell
# in seconds, its shortest duration and where it ends in seconds, count.  No
# text of theirs ever becomes part of a command.

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
set title system("cat title.tsv")
set xlabel "time since the start (s)"
set ylabel "duration"
set cblabel "count"
set logscale y
set format y "%.0s %cs"
set xrange [*:*] noextend
set cbrange [0:*]
set palette defined (0 "#fff5e6", 0.5 "#f28e2b", 1 "#7f1d1d")
set style fill solid 1 noborder
plot "latency.tsv" skip 1 using ($1 + $2 / 2):(sqrt($3 * $4)):1:($1 + $2):3:4:5 \
    with boxxyerror lc palette
