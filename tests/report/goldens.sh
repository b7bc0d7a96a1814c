#!/bin/sh
# ASSERTION: report (text, JSON, CSV), script and the flame graph as a drawing
# print of two recordings exactly what was looked at once and kept beside
# them, in any locale, width and time zone; one of the recordings has hostile
# names.  Easy to get wrong: a clock, a file of the machine or an order that
# chance made.  make golden writes the kept files anew; read the difference.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cp "$SRC"/tests/report/*.dtp . || fail "no recordings"

# A drawing is one by the name of its file.
print()		# argument of dtprof ...
{
	if [ "$1" = flamegraph ]; then
		"$DTPROF" "$@" -o x.svg && cat x.svg
	else
		"$DTPROF" "$@"
	fi
}

made=0
compare()	# kept file, argument of dtprof ...
{
	kept=$SRC/tests/report/$1.ok
	shift
	print "$@" >one 2>/dev/null || fail "$*"
	(
		export LC_ALL=de_DE.UTF-8 TZ=Asia/Tokyo COLUMNS=40 TERM=xterm
		print "$@" >two 2>/dev/null
	) || fail "$*, elsewhere"
	[ -s one ] || fail "$*: nothing"
	cmp one two || fail "$*: differs by locale, time zone or terminal"
	made=$((made + 1))
	if [ -n "$GOLDEN" ]; then
		cp one "$kept" || fail "$kept"
	else
		diff -u "$kept" one >differs ||
		    fail "$*: $(head -n 20 differs)"
	fi
}

for name in known hostile; do
	compare $name.table report $name.dtp
	compare $name.lines report --by comm,line $name.dtp
	compare $name.json report --json $name.dtp
	compare $name.csv report --csv --by comm,function $name.dtp
	compare $name.script script --limit 40 $name.dtp
	compare $name.svg flamegraph $name.dtp
done
ok "$made outputs are those that were kept"
