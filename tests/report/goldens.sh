#!/bin/sh
# ASSERTION: report (text, JSON, CSV, callers, accounting, plots), script,
# annotate, export and the flame graph as drawing and page print of two
# recordings exactly what was looked at once and kept beside them, also with
# the commas of another locale, other widths and time zones; one of the
# recordings has hostile names.  Easy to get wrong: a clock, a file
# of the machine or an order that chance made.  make golden writes the kept
# files anew; read the difference.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd localedef python3
tmpdir
# A locale in which a fraction has a comma, of nothing that may be missing: a
# machine often has none but C, and a locale that is not there changes nothing.
awk 'BEGIN {
	print "<code_set_name> ASCII\n<escape_char> /\nCHARMAP"
	for (c = 0; c < 128; c++)
		printf "<U%04X> /x%02x x\n", c, c
	print "END CHARMAP"
}' >ascii
printf '%s\n' LC_NUMERIC 'decimal_point ","' 'thousands_sep "."' \
    'grouping 3;3' 'END LC_NUMERIC' >comma
localedef -c -f ./ascii -i ./comma ./commas >locale.out 2>&1
[ "$(LOCPATH=$tmp LC_ALL=commas env printf %.1f 2)" = 2,0 ] ||
    fail "no such locale: $(cat locale.out)"
cp "$SRC"/tests/report/*.dtp . || fail "no recordings"
# Both were written before frames had a kind, and read as they did then.
for name in known hostile; do
	[ "$(od -An -tu1 -j8 -N1 $name.dtp | tr -d ' ')" -eq 1 ] ||
	    fail "$name.dtp is not of format 1"
done

# What goes to a file has a form by its name.
print()		# command or file, argument of dtprof ...
{
	case $1 in
	*.tsv)	"$DTPROF" report --plot "${1%.tsv}" -o "$1" "$2" && cat "$1" ;;
	x.*)	"$DTPROF" flamegraph -o "$1" "$2" && cat "$1" ;;
	*)	"$DTPROF" "$@" ;;
	esac
}

# What is kept of a page is its data as another reads it: packing may differ.
plain()		# command or file, of which one is the output
{
	if [ "$1" = x.html ]; then
		python3 "$SRC/tests/browser/page_data.py" one
	else
		cat one
	fi
}

made=0
compare()	# kept file, argument of dtprof ...
{
	kept=$SRC/tests/report/$1.ok
	shift
	print "$@" >one 2>/dev/null || fail "$*"
	(
		export LOCPATH="$tmp" LC_ALL=commas TZ=Asia/Tokyo COLUMNS=40
		export TERM=xterm
		print "$@" >two 2>/dev/null
	) || fail "$*, elsewhere"
	[ -s one ] || fail "$*: nothing"
	cmp one two || fail "$*: differs by locale, time zone or terminal"
	plain "$1" >seen || fail "$*"
	made=$((made + 1))
	if [ -n "$GOLDEN" ]; then
		cp seen "$kept" || fail "$kept"
	else
		diff -u "$kept" seen >differs ||
		    fail "$*: $(head -n 20 differs)"
	fi
}

for name in known hostile; do
	compare $name.table report $name.dtp
	compare $name.lines report --by comm,line $name.dtp
	compare $name.json report --json $name.dtp
	compare $name.csv report --csv --by comm,function $name.dtp
	compare $name.script script --limit 40 $name.dtp
	compare $name.stats report --stats -v $name.dtp
	compare $name.callers report --callers work $name.dtp
	compare $name.callees report --callees work $name.dtp
	compare $name.annotate annotate --total work $name.dtp
	compare $name.folded export $name.dtp
	compare $name.speedscope export --format speedscope $name.dtp
	compare $name.firefox export --format firefox -e cpu-clock $name.dtp
	for what in heatmap timeline rates; do
		compare $name.$what $what.tsv $name.dtp
	done
	compare $name.records script --json --limit 40 $name.dtp
	compare $name.svg x.svg $name.dtp
	compare $name.page x.html $name.dtp
done
ok "$made outputs are those that were kept"
