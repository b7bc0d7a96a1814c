# SPDX-License-Identifier: ISC
# ASSERTION: Of a program that knows its stack, of Python and C, in 99 %
# of timer samples that stack is shown, frame by frame, to its root: of the
# Python of this system, of Debian 13 and unstable, and of others on PATH; with
# "python -X perf" of 3.12 and later in 98 %, without a function twice.  So is a
# stack of more than 1,000 frames.  Where the interpreter's file has no frame
# information few are complete, and it is said; where it is described wrongly
# its functions are not shown, few stacks are complete, and that is said, too.
#
# Easy to get wrong: code that -X perf makes for each function, which keeps no
# frame pointer and has no frame information.
# TIMEOUT: 900
#
# SECONDS_EACH is how long each runs (4).

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd gcc objcopy python3 apt-get dpkg-deb
[ "$(uname -m)" = x86_64 ] || skip "programs of x86-64"
: "${SECONDS_EACH:=4}"
tmpdir
. "$SRC/tests/accept/lib-python.sh"

cat >spine.c <<'END'
static int __attribute__((noinline))
spine_b(int (*step)(int), int level)
{
	return (step(level) + 1);
}

int
spine_a(int (*step)(int), int level)
{
	return (spine_b(step, level) + 1);
}

int
spine_leaf(int n)
{
	volatile int x = 1;

	while (n-- > 0)
		x = x * 31 + n;
	return (x);
}
END
compile -shared -fPIC -fomit-frame-pointer -o spine.so spine.c || fail gcc

record()	# what levels depth command ...
{
	what=$1 levels=$2 depth=$3
	shift 3
	"$DTPROF" record -o x.dtp -e cpu-clock -F 1999 \
	    -e syscall:newfstatat:entry -- "$@" "$SRC/tests/work/mixed.py" \
	    ./spine.so "$levels" "$depth" "$SECONDS_EACH" 2>record.err ||
	    fail "record $what: $(cat record.err)"
	case $what in
	described*) ;;
	*)	! grep 'are missing from' record.err || fail "not true" ;;
	esac
	"$DTPROF" script --json --frames all x.dtp >script.json \
	    2>script.err || fail "script: $(cat script.err)"
}

mixed()		# what levels depth least command ...
{
	what=$1 levels=$2 depth=$3 least=$4
	shift 4
	record "$what" "$levels" "$depth" "$@"
	python3 "$SRC/tests/accept/mixed_stacks.py" "$what" "$levels" \
	    "$depth" "$least" <script.json || bad="$bad '$what'"
}

# What -X perf puts around functions is no function.
wrapped()	# what command ...
{
	of=$1
	shift
	mixed "$of -X perf" 3 4 98 "$@" -X perf
	grep -q '"function":"py::leaf:' script.json || fail "no trampolines"
	"$DTPROF" report --json x.dtp >report.json 2>report.err ||
	    fail "report: $(cat report.err)"
	! grep -q '"py::leaf' report.json || fail "functions are there twice"
}

try()		# what command ...
{
	name=$1
	shift
	mixed "$name" 3 4 99 "$@"
	mixed "$name, deep" 45 9 99 "$@"
	case $("$@" --version) in
	*3.11.*) ;;
	*)	wrapped "$name" "$@" ;;
	esac
}

bad=
try "$(/usr/bin/python3 --version)" /usr/bin/python3
with_unpacked try
for python in $(other_pythons); do
	[ "$python" = /usr/bin/python3.11 ] || try "$python" "$python"
done
[ -z "$bad" ] || fail "too few:$bad"

# Copies of this system's interpreter: without frame information, and with
# another version than its own.
python=$(readlink -f /usr/bin/python3)
other_version()	# file version
{
	cp "$python" "$1" && python3 - "$1" "$2" <<-'END'
	import re, struct, subprocess, sys
	def readelf(option):
	    return subprocess.run(["readelf", option, sys.argv[1]],
	                          stdout=subprocess.PIPE, text=True).stdout
	at = int(re.search(r"([0-9a-f]+) +\d+ OBJECT .* Py_Version\b",
	                   readelf("-sW")).group(1), 16)
	for row in re.findall(r"PROGBITS +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)",
	                      readelf("-SW")):
	    start, offset, size = (int(x, 16) for x in row)
	    if start <= at < start + size:
	        with open(sys.argv[1], "r+b") as file:
	            file.seek(at - start + offset)
	            file.write(struct.pack("<I", int(sys.argv[2], 16)))
	        sys.exit(0)
	sys.exit("no place of Py_Version")
	END
}

objcopy --remove-section .eh_frame --remove-section .eh_frame_hdr "$python" \
    bare || fail objcopy
mixed "without .eh_frame" 3 4 -5 env PYTHONHOME=/usr ./bare
other_version unknown 0x03630000 || fail "other version"
record "unknown version" 3 4 env PYTHONHOME=/usr ./unknown
grep -q 'functions of Python 3.99.0 .* are not shown' record.err ||
    fail "the version is not said: $(cat record.err)"
! grep -q '"kind":"py"' script.json || fail "functions of an unknown version"
ok "unknown version: said, no functions"
case $("$python" --version) in
*3.11.*)
	other_version wrong 0x030c00f0 || fail "other version"
	record "described wrongly" 3 4 env PYTHONHOME=/usr ./wrong
	! grep -q '"function":"\(deep\|step\|leaf\)"' script.json ||
	    fail "functions of what is described wrongly"
	grep -q 'functions of Python 3.12.* are missing from .* samples' \
	    record.err || fail "nothing is said: $(cat record.err)"
	python3 - <<-'END' || fail "its stacks are said to be complete"
	import collections, json
	seen = collections.Counter(
	    json.loads(line).get("user_status") for line in open("script.json"))
	print(dict(seen))
	assert seen["noscript"] > 0.8 * sum(seen.values()), seen
	END
	ok "described wrongly: no functions, and said"
	;;
esac
