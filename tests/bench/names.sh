#!/bin/sh
# SPDX-License-Identifier: ISC
# What it takes from a recording to a report when there is much to name: a
# million samples of 20,000 addresses in four large files.  With names in the
# recording, as record leaves it, and without, as after an import.  "Cold": the
# recording and the files are not in memory; "again": they are.
#
#	names.sh [samples [addresses [innermost places of 22 frames]]]
#
# BENCH_ROUNDS (5).  Minimum / median / maximum; reports run with a raised
# priority in a scheduling group of their own, as others may use the machine.
# BENCH_PICTURE=FILE: no rounds, but a flame graph of where a report with names
# spends its time.
. "${SRC:=$PWD}/tests/lib.sh"
: "${CC:=cc}"
tmp=$(mktemp -d) || exit 1
compile -I"$SRC/libprof" -I"$SRC/sys" \
    -o "$tmp/names" "$SRC/tests/bench/names.c" "$B/libprof.a" \
    -Wl,--as-needed -lunwind-"$(uname -m)" -lunwind -lbpf -ldw -lelf -lz \
    -llzma -liberty -lpfm -lzstd -lxxhash -lm -pthread || exit 1
clang=$(readlink -f "$(command -v clang)")
files=$(ldd "$clang" | awk '/libLLVM|libclang-cpp|libstdc|libc\.so/ {
	print $3 }')
# shellcheck disable=SC2086 # a list
"$tmp/names" "${1:-1000000}" "${2:-20000}" "${3:-5}" "$tmp/with.dtp" \
    "$tmp/without.dtp" $files || exit 1
if [ -n "$BENCH_PICTURE" ]; then
	(cd "$tmp" && "$DTPROF" record -e cpu-clock -F 4999 --user-only \
	    -o report.dtp -- "$DTPROF" report with.dtp >out) &&
	    "$DTPROF" flamegraph -o "$BENCH_PICTURE" "$tmp/report.dtp"
	status=$?
	rm -rf "$tmp"
	exit $status
fi
uptime
python3 - "$DTPROF" "$tmp" "${BENCH_ROUNDS:-5}" \
    "${1:-1000000}" $files <<'END'
import json
import os
import resource
import subprocess
import sys
import time

dtprof, tmp = sys.argv[1:3]
rounds, samples = map(int, sys.argv[3:5])
files = sys.argv[5:]


def forget(path):
    fd = os.open(path, os.O_RDONLY)
    os.fdatasync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)


def faster():
    os.setsid()
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as group:
            group.write("-20")
        os.nice(-20)
    except OSError:
        pass


def run(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    subprocess.run([dtprof, *words], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, preexec_fn=faster)
    passed = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return passed, (after.ru_utime + after.ru_stime - before.ru_utime -
                    before.ru_stime)


def check(path):
    listed = json.loads(subprocess.run([dtprof, "report", "--json", path],
                        check=True, stdout=subprocess.PIPE,
                        stderr=subprocess.DEVNULL).stdout)
    if sum(f["samples"] for f in listed["functions"]) != samples:
        sys.exit("%s: a report of other than %d samples" % (path, samples))


def show(what, values):
    print("%-36s" % what, "; ".join(
        "%s %.2f / %.2f / %.2f s" % (name, v[0], v[len(v) // 2], v[-1])
        for name, v in (("time", sorted(v[0] for v in values)),
                        ("CPU", sorted(v[1] for v in values)))))


for kind in ("with", "without"):
    check("%s/%s.dtp" % (tmp, kind))
rows = {}
for n in range(rounds):
    for kind in ("with", "without"):
        path = "%s/%s.dtp" % (tmp, kind)
        for name in files + [path]:
            forget(os.path.realpath(name))
        for state in ("cold", "again"):
            rows.setdefault("report, %s names, %s" % (kind, state),
                            []).append(run("report", path))
for what, values in rows.items():
    show(what, values)
END
rm -rf "$tmp"
