# SPDX-License-Identifier: ISC
#
# Samples by time, a lane for each thread or CPU.  Opens by itself with the
# sample data:  cd reports/plot-sample && gnuplot ../timeline.gp
#
# lanes.tsv: a heading, then number and name of each lane.  timeline.tsv: a
# heading, then lane, seconds, length of the cell in seconds, samples.  No text
# of theirs ever becomes part of a command.

type = system("printenv DTPROF_PLOT_TYPE")
lanes = int(system("wc -l <lanes.tsv")) - 1
if (type eq "png") {
	set terminal pngcairo size 1200,140 + 22 * lanes noenhanced \
	    font "DejaVu Sans,10"
	set output "out.png"
} else {
	set terminal svg size 1200,140 + 22 * lanes dynamic noenhanced \
	    font "DejaVu Sans,11" name "dtprof" background "white"
	set output "out.svg"
}
set datafile separator "\t"
set datafile commentschars ""
unset key
set tics out nomirror
set title "Samples over time"
set xlabel "time since the first sample (s)"
set cblabel "samples"
set cbrange [0:*]
set xrange [0:*]
set yrange [lanes - 0.5:-0.5]
set palette defined (0 "#eaf2fb", 0.5 "#4e79a7", 1 "#0b2545")
set style fill solid 1 noborder
plot "lanes.tsv" skip 1 using (0):1:ytic(2) with dots lc rgb "white", \
     "timeline.tsv" skip 1 using ($2 + $3 / 2):1:2:($2 + $3):($1 - 0.42):($1 + 0.42):4 \
    with boxxyerror lc palette
