#!/bin/sh
# ASSERTION: On a kernel with kprobes each of kprobe, kretprobe, fentry and
# fexit on a function of the kernel, and uprobe and uretprobe on one of a
# program, fires as often as the program has called it, lost 0, with the
# function's arguments by the kernel's types and what it returned; a filter lets
# those pass that match.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# The machine that builds may have none of them but the last two.

. "${SRC:=$PWD}/tests/guest/lib.sh"

case $GUEST_ARCH in
arm64)	echo getppid=__arm64_sys_getppid ;;
*)	echo getppid=__do_sys_getppid ;;
esac >script
cat >>script <<'END'
uname -r >release
for event in kprobe:$getppid kretprobe:$getppid \
    kprobe:ksys_write/fd,count/ kretprobe:ksys_write/ret/ \
    fentry:ksys_write/fd,count/ fexit:ksys_write/ret,fd/ \
    uprobe:/bin/guest_probed:leaf/arg0,str\(arg1\)/ \
    uretprobe:/bin/guest_probed:leaf \
    'kprobe:ksys_write/fd/{fd == 1 && fd < count}' \
    'uprobe:/bin/guest_probed:leaf{str(arg1) == "odd" && arg0 >= 100}'; do
	name=$(echo "$event" | sed 's/[^a-z_]/-/g')
	dtprof record -q -o "$name.dtp" -e "$event" -- guest_probed 300 \
	    >/dev/null 2>err || {
		echo "$event: $(cat err)" >>refused
	}
done
for event in kprobe:nothing_of_this fentry:nothing_of_this; do
	dtprof record -q -o x.dtp -e $event -- true 2>>refusals && exit 1
done
:
END
guest_boot <script
echo "kernel $(cat results/release)"
kinds=10
if [ "$GUEST_ARCH" = arm64 ] && grep -q '^6\.1\.' results/release; then
	# arm64 calls no programs there, and says so.
	kinds=8
	[ "$(grep -c "accepts no f[a-z]* on function 'ksys_write': not supp" \
	    results/refused)" -eq 2 ] || fail "$(cat results/refused)"
	grep -v -e 'ksys_write.*: not supported$' -e '^dtprof: hint: ' \
	    results/refused >others
	mv others results/refused
fi
[ ! -s results/refused ] || fail "refused: $(cat results/refused)"
grep -q "nothing_of_this" results/refusals || fail "$(cat results/refusals)"
python3 - "$DTPROF" $kinds <<'END' || fail "see above"
import glob
import json
import subprocess
import sys

def run(*args):
    return subprocess.run([sys.argv[1], *args], capture_output=True, text=True,
                          check=True).stdout

seen = 0
for file in sorted(glob.glob("results/*.dtp")):
    row = json.loads(run("report", "--stats", "--json", file))["accounting"][1]
    event = row["event"]
    args = [json.loads(line)["args"] for line in run(
        "script", "--json", "--show", "samples", file).splitlines()]
    print(event, row["stored"], args[:2])
    lost = row["full"] + row["nested"] + row["error"] + row["missed"]
    wanted = 1 if "write" in event else 100 if "odd" in event else 300
    if row["stored"] != wanted or lost != 0 or row["arg_fault"] != 0 or \
       row["fired"] != row["stored"] + row["filtered"] or \
       len(args) != wanted:
        sys.exit("FAIL: %s: %r" % (event, row))
    if "write" in event:
        length = len("%d\n" % sum((2 * i if i & 1 else i + 101) + 1
                                  for i in range(300)))
        for name, value in [("fd", 1), ("count", length), ("ret", length)]:
            if args[0].get(name, value) != value:
                sys.exit("FAIL: %s: %r" % (event, args))
    seen += 1
if seen != int(sys.argv[2]):
    sys.exit("FAIL: %d of %s recordings" % (seen, sys.argv[2]))
END
ok "as often as the program calls, with its arguments and results"
