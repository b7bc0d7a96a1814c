#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what root has dtprof write goes through nobody's link and into
# nobody's trap: pages, drawings, exports, plots, stat -o, the directory of a
# bench; and a page is for no more people than the recording that it shows.
# Easy to get wrong: a directory like /tmp is everybody's, and a name in it is
# whatever somebody has put there a moment ago.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_perf
need_cmd setpriv
tmpdir
cp "$SRC/tests/report/known.dtp" a.dtp
chmod 644 a.dtp
mkdir theirs
chown 65534:65534 theirs
echo untouched >victim
chmod 644 victim
for name in a.html a.svg a.folded plot.svg stat.txt compare.html; do
	as_user ln -s "$tmp/victim" "theirs/$name" || fail "ln"
done
refused()	# what command ...
{
	what=$1
	shift
	"$@" >out 2>err </dev/null && fail "$what followed a link"
	[ "$(cat victim)" = untouched ] || fail "$what: $(head -c 200 victim)"
}
refused "a page" "$DTPROF" flamegraph -o theirs/a.html a.dtp
refused "a drawing" "$DTPROF" flamegraph -o theirs/a.svg a.dtp
refused "an export" "$DTPROF" export --format folded -o theirs/a.folded a.dtp
refused "stat" "$DTPROF" stat -e task-clock -o theirs/stat.txt -- true
refused "compare" "$DTPROF" compare --html theirs/compare.html a.dtp -- a.dtp
if command -v gnuplot >/dev/null; then
	refused "a plot" "$DTPROF" report --plot timeline \
	    -o theirs/plot.svg a.dtp
fi
ok "links of others are refused, and lead nowhere"
as_user sh -c 'echo theirs >theirs/stat.own'
ln theirs/stat.own other-name
"$DTPROF" stat -e task-clock -o theirs/stat.own -- true >out 2>err &&
    fail "stat -o wrote into another's file"
[ "$(cat other-name)" = theirs ] || fail "$(cat other-name)"
ok "so is another's file with two names"
"$DTPROF" export --format folded -o /dev/stdout a.dtp 2>err | grep -q main ||
    fail "/dev/stdout: $(cat err)"
as_user sh -c 'cd theirs && "$DTPROF" stat -e task-clock -o stat.txt -- true' \
    >out 2>err && fail "an ordinary user wrote to root's file"
ok "links that only root can have made are followed"

mkdir precious
cp a.dtp precious/keep.dtp
as_user ln -s "$tmp/precious" theirs/bench.old || fail "ln"
"$DTPROF" bench -r 2 -w 0 -o theirs/bench true 'true 1' >out 2>err </dev/null
"$DTPROF" bench -r 2 -w 0 -o theirs/bench true 'true 2' >out 2>err </dev/null
[ -f precious/keep.dtp ] || fail "bench removed what a link led to"
ok "bench removes nothing through a link"

umask 022
mode()		# of the page of a recording of this mode
{
	chmod "$1" a.dtp
	rm -f b.html
	"$DTPROF" flamegraph -o b.html a.dtp 2>err || fail "flamegraph"
	stat -c %a b.html
}
[ "$(mode 644)" = 644 ] && [ "$(mode 600)" = 600 ] && [ "$(mode 640)" = 640 ] ||
    fail "a page of a recording of mode 600 is $(mode 600)"
ok "a page is for no more people than its recording"
