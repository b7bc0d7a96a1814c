# SPDX-License-Identifier: ISC
#
# CPU time over size, a line for each step: plot.tsv has a block for each, its
# heading the name.  Called by scale.sh.

set terminal svg size 900,640 dynamic noenhanced font "DejaVu Sans,11" \
    name "dtprof" background "white"
set output "scale.svg"
set datafile separator "\t"
set logscale xy
set key outside right
set grid
set title "How cost grows"
set xlabel "share of the full size"
set ylabel "CPU time (s)"
stats "plot.tsv" using 1:2 nooutput
plot for [n = 0:STATS_blocks - 1] "plot.tsv" index n using 1:2 \
    with linespoints title columnheader(1), \
    x with lines lc rgb "gray" dt 2 title "as size"
