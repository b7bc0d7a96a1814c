#!/bin/sh
# ASSERTION: On a kernel with kprobes each of kprobe, kretprobe, fentry and
# fexit on a function of the kernel, and uprobe and uretprobe on one of a
# program, fires as often as the program has called it, lost 0, with the
# function's arguments by the kernel's types and what it returned, also text and
# members that lie in the memory of the process; a filter lets those pass that
# match, by stack, too.  All kinds together do so on one function, under
# threads, forks and signals, which also make exact spans, of stat too, and
# aggregations.  A recorder that is killed leaves no probe.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# The machine that builds may have none of them but the last two.

. "${SRC:=$PWD}/tests/guest/lib.sh"

# At the entry of a function, arm64's kernel stacks lack the direct caller.
case $GUEST_ARCH in
arm64)	echo getppid=__arm64_sys_getppid caller=__arm64_sys_write ;;
*)	echo getppid=__do_sys_getppid caller=ksys_write ;;
esac >script
cat >>script <<'END'
uname -r >release
for event in kprobe:$getppid kretprobe:$getppid \
    kprobe:ksys_write/fd,count/ kretprobe:ksys_write/ret/ \
    fentry:ksys_write/fd,count/ fexit:ksys_write/ret,fd/ \
    uprobe:/bin/guest_probed:leaf/arg0,str\(arg1\)/ \
    uretprobe:/bin/guest_probed:leaf \
    'kprobe:ksys_write/fd/{fd == 1 && fd < count}' \
    "kprobe:vfs_write/count/{stack == '$caller'}" \
    'uprobe:/bin/guest_probed:leaf{str(arg1) == "odd" && arg0 >= 100}'; do
	name=$(echo "$event" | sed 's/[^a-z_]/-/g')
	dtprof record -q -o "$name.dtp" -e "$event" -- guest_probed 300 \
	    >/dev/null 2>err || {
		echo "$event: $(cat err)" >>refused
	}
done
# Those that this kernel has; arguments in the memory of the process and of the
# kernel, and functions that storms enter.
null='{filename == "/dev/null"}'
set -- -e "kprobe:do_sys_openat2/filename/$null" \
    -e 'kprobe:do_filp_open/pathname.name/{pathname.name == "/dev/null"}' \
    -e 'kprobe:__sys_sendmsg/msg.msg_namelen/{msg.msg_namelen == 7}'
if ! grep -q fentry refused 2>/dev/null; then
	set -- "$@" -e "fentry:do_sys_openat2/filename/$null"
fi
dtprof record -o pointers.out "$@" -- guest_probed 300 >/dev/null \
    2>pointers.err || exit 1
set -- -e kprobe:$getppid -e kretprobe:$getppid
if ! grep -q fentry refused 2>/dev/null; then
	set -- "$@" -e fentry:$getppid -e fexit:$getppid
fi
dtprof record -o storm.out -e "kprobe:$getppid{pid > 0}" \
    -e uprobe:/bin/guest_probed:nested -e uretprobe:/bin/guest_probed:nested \
    "$@" -- guest_probed 40 storm >storm.calls 2>storm.err || exit 1
dtprof record -q -o spans.out --span call=kprobe:$getppid \
    --span nested=uprobe:/bin/guest_probed:nested \
    -- guest_probed 40 storm >spans.calls 2>spans.err || exit 1
dtprof stat --json -o counted.out --span call=kprobe:$getppid \
    --span nested=uprobe:/bin/guest_probed:nested \
    -- guest_probed 40 storm >counted.calls 2>counted.err || exit 1
dtprof stat --json -o groups.out -e kprobe:$getppid --by tid \
    -- guest_probed 40 storm >groups.calls 2>groups.err || exit 1
# A recorder that is killed leaves no probe.
. /lib.sh
kprobes=/sys/kernel/debug/kprobes/list
[ -e $kprobes ] || exit 1
# Files of debugfs have no size.
unprobed()
{
	! grep -q . $kprobes
}
await "no probe of those before" unprobed
dtprof record -q -o killed.out -a "$@" 2>killed.err &
await "probes of the recorder" grep -q getppid $kprobes
cat $kprobes >during
kill -9 $!
wait $!
await "no probe of a killed recorder" unprobed
cat $kprobes >after
for event in kprobe:nothing_of_this fentry:nothing_of_this; do
	dtprof record -q -o x.dtp -e $event -- true 2>>refusals && exit 1
done
:
END
guest_boot <script
echo "kernel $(cat results/release)"
kinds=11
if [ "$GUEST_ARCH" = arm64 ] && grep -q '^6\.1\.' results/release; then
	# arm64 calls no programs there, and says so.
	kinds=9
	[ "$(grep -c "accepts no f[a-z]* on function 'ksys_write': not supp" \
	    results/refused)" -eq 2 ] || fail "$(cat results/refused)"
	grep -v -e 'ksys_write.*: not supported$' -e '^dtprof: hint: ' \
	    results/refused >others
	mv others results/refused
fi
grep -q getppid results/during || fail "$(cat results/killed.err)"
[ ! -s results/after ] || fail "left behind: $(cat results/after)"
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

rows = json.loads(run("report", "--stats", "--json", "results/pointers.out"))
args = [json.loads(line)["args"] for line in run(
    "script", "--json", "--show", "samples",
    "results/pointers.out").splitlines()]
for row in rows["accounting"][1:]:
    print(row["event"], row["stored"], row["arg_fault"])
    if row["stored"] != 300 or row["full"] + row["nested"] + row["error"] + \
       row["missed"] + row["arg_fault"] != 0:
        sys.exit("FAIL: %r" % row)
if len(args) < 900 or any(value not in ("/dev/null", 7) for each in args
                          for value in each.values()):
    sys.exit("FAIL: %r" % args)

def calls(name):
    return [int(n) for n in open("results/%s.calls" % name).read().split()]

is_7 = open("results/release").read().startswith("7.")
asked, entered = calls("storm")
rows = json.loads(run("report", "--stats", "--json", "results/storm.out"))
for row in rows["accounting"][1:]:
    wanted = entered if "nested" in row["event"] else asked
    print(row["event"], row["stored"], row["missed"], wanted)
    lost = row["full"] + row["nested"] + row["error"]
    # Linux 7 preempts programs, and runs none of fentry within itself.
    if not (is_7 and row["event"].startswith("f")):
        lost += row["missed"]
    if row["stored"] + row["missed"] != wanted or lost != 0:
        sys.exit("FAIL: %d: %r" % (wanted, row))
for name, text in [
        ("spans", run("report", "--by", "span", "--json",
                      "results/spans.out")),
        ("counted", open("results/counted.out").read())]:
    asked, entered = calls(name)
    spans = json.loads(text)["spans"]
    print(spans)
    if len(spans) != 2:
        sys.exit("FAIL: not two spans")
    for row in spans:
        wanted = asked if row["name"] == "call" else entered
        if row["count"] != wanted or row["open"] + row["orphan"] != 0:
            sys.exit("FAIL: %d: %r" % (wanted, row))
asked, entered = calls("groups")
groups = json.load(open("results/groups.out"))["groups"]
print([row["count"] for row in groups], asked)
if len(groups) != 6 or sum(row["count"] for row in groups) != asked:
    sys.exit("FAIL: %d: %r" % (asked, groups))
END
ok "as often as the program calls, with its arguments and results"
ok "no probe is left of a recorder that was killed"
ok "all kinds on one function, spans and groups, as storms count themselves"
