#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: an imported perf.data says what perf says of it: sample by
# sample event, thread, time, address and weight, each whole stack, and the
# weight of each file; with frame pointers, copied stacks, -z, through a pipe,
# with several events, and of tracepoints.
# Easy to get wrong: where ids, times and counts stand differs between all of
# these, and some of it is only there when one event is not alone.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd perf
need_perf
tmpdir
seconds=0.15
export seconds
cat >work.sh <<'END'
"$B/tests/work/demo" "$seconds" >/dev/null
ls -l /usr/bin >/dev/null
END
record()	# name option ...
{
	name=$1
	shift
	# perf 6.1 may crash when it looks for build-ids at the end.
	for ids in "" "" --buildid-mmap; do
		# shellcheck disable=SC2086 # an option or none
		perf record -q -o "$name.data" $ids "$@" -- sh work.sh \
		    >"$name.out" 2>&1 && return
	done
	fail "perf record of $name: $(cat "$name.out")"
}
record fp -e cpu-clock -F 1999 -g
# Longer: nine in ten have a stack to walk, whatever an exec or an exit, which
# have none, take on a busy machine.
seconds=0.6
record dwarf --buildid-mmap -e cpu-clock -F 499 --call-graph dwarf,4096
seconds=0.15
record z --buildid-mmap -z -e cpu-clock -F 1999 -g
record several --buildid-mmap -e cpu-clock -e page-faults -e context-switches \
    -F 1999
all='fp dwarf z pipe several'
perf record -q --buildid-mmap -e cpu-clock -e page-faults -F 1999 -g -o - \
    -- sh work.sh >pipe.data 2>/dev/null || fail "perf record into a pipe"
if perf record -q --buildid-mmap -e sched:sched_switch -R \
    -e syscalls:sys_enter_openat -g -o tracepoint.data \
    -- sh work.sh >/dev/null 2>&1; then
	all="$all tracepoint"
fi

cat >compare.py <<'END'
import collections, json, os, re, subprocess, sys

name = sys.argv[1]
data, ours = name + ".data", name + ".dtp"

def run(*words):
    return subprocess.run(words, stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL, check=True).stdout

# Programs of BPF come and go with what others record, and perf and we know
# some each: they are code of the kernel.
def module(path, ip=0):
    if path.startswith("bpf_prog_") or path in ("[bpf]", "[kernel.kallsyms]"):
        return "[kernel]"
    if path == "[unknown]":
        return "[kernel]" if ip >= 2**63 else ""
    return path

# pid/tid time: period event: ip (file)
line_of = re.compile(r"\s*(\d+)/(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+(\S+):"
                     r"\s+([0-9a-f]+)\s+\((.*)\)$")
wanted, files = collections.Counter(), collections.Counter()
for line in run("python3", os.environ["SRC"] + "/tests/interop/perf_script.py",
                "-i", data, "-G", "--ns", "-F",
                "pid,tid,time,period,event,ip,dso").splitlines():
    m = line_of.match(line)
    if not m:
        sys.exit("perf script: " + line)
    pid, tid, s, ns, period, event, ip, dso = m.groups()
    wanted[event, int(pid), int(tid), int(s) * 10**9 + int(ns),
           int(ip, 16), int(period)] += 1
    files[event, module(dso, int(ip, 16))] += int(period)
found, chains = collections.Counter(), []
for line in run(sys.argv[2], "script", "--json", ours).splitlines():
    r = json.loads(line)
    if r["type"] != "sample":
        continue
    found[r["event"], r["pid"], r["tid"], r["time_ns"],
          int(r["ip"], 16), r["weight"]] += 1
    chains.append((r["time_ns"], [int(pc, 16) for pc in
                                  r.get("kernel", []) + r.get("user", [])]))
if wanted != found or not found:
    print("only perf:", list((wanted - found).items())[:3])
    print("only here:", list((found - wanted).items())[:3])
    sys.exit("%s: samples differ" % name)

# Whole stacks, out of perf's dump of its file; copied ones it walks itself.
dump, time = [], None
for line in run("perf", "script", "-i", data, "-D").splitlines():
    m = re.match(r"(?:\d+ )?(\d+) 0x\S+ \[\S+\]: PERF_RECORD_SAMPLE", line)
    if m:
        time = int(m.group(1))
        dump.append((time, []))
    elif re.match(r"\.\.\.\.\.\s+\d+: [0-9a-f]{16}$", line) and time:
        pc = int(line.split()[-1], 16)
        if pc < 2**64 - 4095:
            dump[-1][1].append(pc)
    elif not line.startswith("..."):
        time = None
if name in ("fp", "z", "pipe", "tracepoint"):
    if sorted(dump) != sorted(chains) or not any(c for _, c in chains):
        bad = [(a, b) for a, b in zip(sorted(dump), sorted(chains)) if a != b]
        sys.exit("%s: stacks differ: %s" % (name, bad[:2]))
elif name == "dwarf":
    # Ours begin with perf's kernel frames, and go to the outermost.
    whole = 0
    for (time, frames), (at, all_) in zip(sorted(dump), sorted(chains)):
        if time != at or all_[:len(frames)] != frames:
            sys.exit("dwarf: kernel frames differ")
        whole += len(all_) > len(frames)
    if whole < 0.9 * len(chains):
        sys.exit("dwarf: only %d stacks were walked" % whole)

modules = collections.Counter()
rows = json.loads(run(sys.argv[2], "report", "--by", "module", "--json",
                      ours))["rows"]
for row in rows:
    modules[row["event"], module(row["module"])] += row["self"]
# A stack may be there whose innermost frame is outside of every file.
if +modules != +files:
    sys.exit("%s: weights of files differ: %s" %
             (name, [(k, modules[k], files[k]) for k in
                     set(modules) | set(files) if modules[k] != files[k]]))
print("%s: %d samples, %d files" % (name, sum(found.values()), len(files)))
END
for name in $all; do
	"$DTPROF" import -q -o "$name.dtp" "$name.data" || fail "import $name"
	python3 compare.py "$name" "$DTPROF" >said 2>&1 || {
		cat said
		fail "$name differs"
	}
	ok "$(cat said)"
done

# From a pipe, not from a file; the same bytes.
"$DTPROF" import -q -o again.dtp - <pipe.data || fail "import -"
cmp pipe.dtp again.dtp || fail "standard input gives another recording"
# A program that can be named is.
expect 0 "$DTPROF" report --stats fp.dtp
expect_out '^backend +import from perf.data, version [0-9]' "perf's version"
"$DTPROF" report --json fp.dtp 2>/dev/null >report
json report 'sum(r["self"] > 0 and r["name"] == "seventy" for r in
    j["functions"])' | grep -q '^1$' || fail "seventy has no name"
ok "from standard input, and with names"

# What is cut is read as far as it goes, and says so.
head -c $(($(wc -c <fp.data) / 2)) fp.data >cut.data
expect 0 "$DTPROF" import -o cut.dtp cut.data
expect_err 'cut'
expect 1 "$DTPROF" import -o x.dtp /bin/sh
[ ! -e x.dtp ] || fail "a recording of nothing"
ok "cut files say so, others are refused"
