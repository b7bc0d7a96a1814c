#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Exceptions pass through each of 99 functions whose entry and
# returns are all probed: the program ends as without probes, with the same
# output, entries are as many as it makes, and returns as many as there are.
# Of the samples meanwhile 99.5% have complete stacks, in which each function
# has the caller that it has in the program.
#
# Easy to get wrong: a return address that was replaced has no frame information
# and ends the walk of the exception, and of the profiler; until the kernel has
# found the probe the registers point behind its breakpoint, where, at a return,
# another function begins.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd g++
need_cmd objdump
tmpdir

python3 - >passes.cc <<'END'
print("#include <cstdio>\n#include <stdexcept>\nlong work(long n)\n"
      "{ long s = 0; for (long i = 0; i < 300; i++) s += i * (n | 1);\n"
      "__asm__ volatile(\"\" : \"+r\"(s)); return s; }")
for n in range(100):
    body = ("if (n & 1) throw std::runtime_error(\"x\"); return work(n);"
            if n == 0 else "long s = pass%d(n); return s + work(n) / 300;"
            % (n - 1))
    print("extern \"C\" __attribute__((noinline)) long pass%d(long n) "
          "{ %s }" % (n, body))
print("int main() { long sum = 0, caught = 0;\n"
      "for (long n = 0; n < 4000; n++) try { sum += pass99(n); }\n"
      "catch (const std::exception &) { caught++; }\n"
      "printf(\"%ld %ld\\n\", sum, caught); }")
END
g++ -O1 -no-pie -fno-optimize-sibling-calls -o passes passes.cc || fail "g++"
./passes >without || fail "the program alone: $?"
record 0 -o with.dtp --call-graph auto -e cpu-clock -F 4000 \
    -e 'uprobe:./passes:pass[1-9]*{arg0 == 7}' \
    -e 'uretprobe:./passes:pass[1-9]*{ret == -1}' -- ./passes
cmp without out || fail "it prints $(cat out)"
objdump -d passes >code
py <<'END'
import bisect
import re

import recording as rec

begins = []     # functions, by address
for line in open("code"):
    match = re.match(r"([0-9a-f]+) <(\w+)>:", line)
    if match:
        begins.append((int(match[1], 16), match[2]))


def number(address, back):
    """The n of passn, of the function that has this place; None."""
    at = bisect.bisect(begins, (int(address, 16) - back, "~")) - 1
    match = re.fullmatch("pass([0-9]+)", begins[at][1]) if at >= 0 else None
    return int(match[1]) if match else None


rows = rec.balance("with.dtp")
counts = {"uprobe": set(), "uretprobe": set()}
for name, row in rows.items():
    if name != "proc" and name != "cpu-clock":
        counts[name.split(":")[0]].add(row["fired"])
        rec.check(row["full"] + row["nested"] + row["error"] + row["missed"]
                  == 0, "%s: %r" % (name, row))
rec.check(counts == {"uprobe": {4000}, "uretprobe": {2000}} and
          len(rows) == 2 + 2 * 99, "%r of %d events" % (counts, len(rows)))
total, cut, wrong = 0, [], []
for sample in rec.samples("with.dtp", "cpu-clock", "--no-symbols"):
    if not sample["user"]:
        continue
    total += 1
    if sample["user_status"] != "ok":
        cut.append(sample)
    numbers = [number(at, n > 0) for n, at in enumerate(sample["user"])]
    if any(None not in pair and pair[1] != pair[0] + 1
           for pair in zip(numbers, numbers[1:])):
        wrong.append(sample)
print("%d samples, %d incomplete, %d of them in the kernel, %d wrong" %
      (total, len(cut), sum(sample["in_kernel"] for sample in cut),
       len(wrong)))
rec.check(len(cut) <= 0.005 * total, "incomplete: %r" % cut[:3])
rec.check(wrong == [], "no function calls another one so: %r" % wrong[:3])
rec.ok("2,000 exceptions through 99 functions with probes on each entry and "
       "return")
END
