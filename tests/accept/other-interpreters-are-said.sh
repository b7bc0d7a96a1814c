# SPDX-License-Identifier: ISC
# ASSERTION: Programs of Debian's PyPy, SBCL, Erlang, Ruby, PHP, Perl and Java
# are recorded as native ones: no frame of theirs is a script's, and record says
# that functions of the interpreter are not shown where something helps, and
# report --stats of each; doctor names it
# while it runs.  Where they write a perf map, as is said there, their functions
# have names.
#
# Easy to get wrong: an interpreter taken for one whose frames are known; one
# that is stripped; one that is met in its library alone.
# TIMEOUT: 300

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "the packages are of x86-64"
need_cmd apt-get dpkg-deb perl python3
tmpdir

at=$B/others
if [ ! -e "$at/done" ]; then
	mkdir -p "$at"
	apt-get -qq download pypy3 pypy3-lib sbcl erlang-base ruby3.1 \
	    libruby3.1 php8.2-cli libexpat1 libffi8 libgdbm6 libncursesw6 \
	    libgmp10 libedit2 libmagic1 libargon2-1 libsodium23 libxml2 \
	    libpcre2-8-0 libicu72 libbsd0 libmd0 >apt.log 2>&1 ||
	    skip "no packages: $(tail -n 1 apt.log)"
	for deb in *.deb; do
		dpkg-deb -x "$deb" "$at" || fail "$deb"
	done
	: >"$at/done"
fi
export LD_LIBRARY_PATH="$at/usr/lib/x86_64-linux-gnu"
export SBCL_HOME="$at/usr/lib/sbcl"
export ROOTDIR="$at/usr/lib/erlang" EMU=beam PROGNAME=erl HOME="$tmp"
BINDIR=$(echo "$ROOTDIR"/erts-*/bin)
export BINDIR

cat >spin.py <<'E'
import time
def hot():
    end = time.time() + 2.5
    while time.time() < end:
        sum(x * x for x in range(10000))
hot()
E
cat >spin.lisp <<'E'
(defun hot (end)
  (loop while (< (get-internal-real-time) end)
        do (dotimes (i 1000) (sxhash (format nil "~a" i)))))
(hot (+ (get-internal-real-time) (* 5/2 internal-time-units-per-second)))
E
cat >spin.erl <<'E'
-module(spin).
-export([start/0]).
start() -> hot(erlang:monotonic_time(millisecond) + 2500), halt().
hot(End) ->
    lists:sum([X * X rem 7 || X <- lists:seq(1, 10000)]),
    case erlang:monotonic_time(millisecond) < End of
        true -> hot(End);
        false -> ok
    end.
E
cat >spin.rb <<'E'
def hot(till)
  (1..10000).sum { |x| x * x } while Time.now < till
end
hot(Time.now + 2.5)
E
cat >spin.php <<'E'
<?php
function hot($end) {
	while (microtime(true) < $end)
		for ($i = 0, $x = 0; $i < 10000; $i++)
			$x += strlen("$i");
}
hot(microtime(true) + 2.5);
E
cat >spin.pl <<'E'
use Time::HiRes;
sub hot {
	my $x = 0;
	while (Time::HiRes::time() < $_[0]) {
		$x += $_ for 1 .. 10000;
	}
}
hot(Time::HiRes::time() + 2.5);
E
cat >Spin.java <<'E'
public class Spin {
	static long x;
	static void hot(long end) {
		while (System.currentTimeMillis() < end)
			for (int i = 0; i < 10000; i++)
				x += x * 31 + i % 7;
	}
	public static void main(String[] a) {
		hot(System.currentTimeMillis() + 2500);
	}
}
E
"$BINDIR/erlexec" -noshell -eval 'compile:file("spin.erl"), halt().' ||
    fail "no Erlang"

is_found()	# name
{
	"$DTPROF" doctor --json >doctor.json &&
	    grep -q '"runtimes".*does not show functions of [^;]*'"$1 (" \
	    doctor.json
}

# A program is recorded, and asked about while it runs.
said()		# name command ...
{
	name=$1
	shift
	"$DTPROF" record -o x.dtp -F 997 -- "$@" >out 2>record.err &
	recorder=$!
	AWAIT_TRIES=50 await "$name in doctor" is_found "$name"
	wait $recorder || fail "record $name: $(cat out record.err)"
	"$DTPROF" report --stats x.dtp >stats || fail "report --stats"
	grep -q "^note .*functions of $name (.*) are not shown\|^not shown \
.*functions of .*$name (" stats || fail "$name: $(cat record.err stats)"
	"$DTPROF" script --json x.dtp >script.json || fail script
	python3 - "$name" <<'E' || fail "$name: see above"
import collections
import json
import sys
check = [c for c in json.load(open("doctor.json"))["checks"]
         if c["name"] == "runtimes"][0]
missing = check["found"].split("; dtprof shows functions of ")[0]
assert sys.argv[1] + " (" in missing, check
assert sys.argv[1] in ("Java", "Erlang") or \
    sys.argv[1] not in check.get("fix", ""), check
kinds = collections.Counter()
for line in open("script.json", encoding="utf-8"):
    for frame in json.loads(line).get("user_frames", ()):
        kinds[frame["kind"]] += 1
assert kinds["native"] > 500 and set(kinds) == {"native"}, kinds
print("ok: %s: %d native frames" % (sys.argv[1], kinds["native"]))
E
	grep -h "functions of.*$name (" stats
}

named()		# name function command ...
{
	name=$1 function=$2
	shift 2
	"$DTPROF" record -q -o x.dtp -F 997 -- "$@" >out 2>record.err ||
	    fail "record $name: $(cat out record.err)"
	"$DTPROF" report --json x.dtp >report.json || fail report
	grep -q "$function" report.json ||
	    fail "$name with a perf map: $(head -c 2000 report.json)"
	ok "$name with a perf map: $(grep -o "$function" report.json |
	    head -n 1)"
}

said PyPy "$at/usr/bin/pypy3" spin.py
said SBCL "$at/usr/bin/sbcl" --script spin.lisp
said Erlang "$BINDIR/erlexec" -noshell -s spin
said Ruby "$at/usr/bin/ruby3.1" --disable-gems spin.rb
said PHP "$at/usr/bin/php8.2" -n spin.php
said Perl perl spin.pl
named Erlang 'spin:hot' "$BINDIR/erlexec" +JPperf true -noshell -s spin
if command -v java >/dev/null; then
	said Java java Spin.java
	named Java 'Spin[:.]*hot' java -XX:+UnlockDiagnosticVMOptions \
	    -XX:+DumpPerfMapAtExit Spin.java
fi
