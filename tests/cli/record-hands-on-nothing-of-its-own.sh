#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the command has the limit of open files that it would have, is
# never root's by mistake, and a signal without meaning ends no recording; a
# pipe in the place of a bench's file holds up nobody; gnuplot runs nobody's
# ~/.gnuplot; and a directory that somebody made before keeps no marks away.
# Easy to get wrong: all of it works for whoever tries it at his desk.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_cmd python3 prlimit
tmpdir
record="$DTPROF record -q -e cpu-clock -o x.dtp"
# shellcheck disable=SC2086 # words
limit=$(prlimit --nofile=300: $record -- sed -n \
    's/^Max open files *\([0-9]*\).*/\1/p' /proc/self/limits)
[ "$limit" = 300 ] || fail "the command may open $limit files, not 300"
ok "the command's limit of open files is what it was"

"$DTPROF" record -q -e cpu-clock -o y.dtp -- sh -c '
kill -USR2 $PPID; kill -USR1 $PPID; exit 3' >out 2>err </dev/null
[ $? -eq 3 ] || fail "SIGUSR1, SIGUSR2: status $?: $(cat err)"
expect 0 "$DTPROF" report --json y.dtp
[ "$(json out 'j["recording"]["cut"]')" = None ] || fail "it was cut short"
ok "SIGUSR1 and SIGUSR2 end no recording"

mkdir bench
mkfifo bench/bench.json
timeout 20 "$DTPROF" compare bench >out 2>err </dev/null
got=$?
[ $got -ne 124 ] && [ $got -ne 0 ] || fail "compare waits for a pipe"
ok "a pipe is no file of a bench"

if command -v gnuplot >/dev/null; then
	echo "system 'touch $tmp/ran'" >.gnuplot
	HOME=$tmp "$DTPROF" report --plot timeline -o plot.svg \
	    "$SRC/tests/report/known.dtp" >out 2>err || fail "$(cat err)"
	[ ! -e ran ] || fail "gnuplot ran ~/.gnuplot"
	ok "gnuplot reads no ~/.gnuplot"
fi

[ "$(id -u)" -eq 0 ] || exit 0
# shellcheck disable=SC2016 # expanded by the pager's shell
PAGER='echo secure=$LESSSECURE' python3 "$SRC/tests/cli/term.py" 80 \
    "$DTPROF" report "$SRC/tests/report/known.dtp" >out 2>err ||
    fail "report on a terminal: $(cat err)"
grep -q 'secure=1' out || fail "less has a shell: $(cat out)"
ok "root's pager has no shell"

for ids in 'SUDO_UID=x SUDO_GID=1' 'SUDO_UID=65534' \
    'SUDO_UID=4294967295 SUDO_GID=1' 'SUDO_UID= SUDO_GID='; do
	# shellcheck disable=SC2086 # words
	env $ids $record -- touch made >out 2>err </dev/null &&
	    fail "$ids: the command ran"
	[ ! -e made ] || fail "$ids: the command ran as root"
	grep -q SUDO_UID err || fail "$ids: $(cat err)"
done
ok "without a user to run it as the command does not run"

need_cmd setpriv unshare mount
cat >marks.sh <<'END'
mount -t tmpfs dtprof-test /tmp && mount -t tmpfs dtprof-test /run || exit 77
mkdir -m 700 /tmp/dtprof-0 && chown 65534:65534 /tmp/dtprof-0 || exit 77
cd /run && "$DTPROF" record -q -e cpu-clock -o m.dtp -- sh -c '
"$DTPROF" mark --recorder $PPID here'
END
unset TMPDIR
unshare -m sh marks.sh >out 2>err </dev/null
got=$?
[ $got -ne 77 ] || skip "cannot mount here"
[ $got -eq 0 ] || fail "marks: status $got: $(cat err)"
ok "marks arrive though another has made /tmp/dtprof-0"
