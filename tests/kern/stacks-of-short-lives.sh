#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Processes that live for a millisecond have whole stacks: of short
# commands in a shell and of a fork storm at least 98 %, of a parallel build
# whose programs ran before at least 99.3 %; and what is whole ends where a
# process may begin.
#
# Easy to get wrong: whoever waits to hear of their mappings hears of them when
# they have ended.  While an exec loads a program, and once an exit has given
# the memory up, there is no stack: registers of the program before are no
# truncated stack of this one.
#
# TIMES (1) makes the workloads longer, RATE is how often samples are taken.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd "${CC:=cc}" make readelf
tmpdir
times=${TIMES:-1}

# Few enough that chance alone does not decide.  Beside much other work tables
# come late; a share that is reached once in three recordings is one that the
# program can reach.
measure()	# title least-of-1000 command ...
{
	for _ in 1 2 3; do
		measure_once "$@" && return
	done
	fail "three times"
}

# 0, or 3: too few are whole.
measure_once()	# title least-of-1000 command ...
{
	title=$1 least=$2
	shift 2
	rm -f since
	record 0 -o a.dtp -F "${RATE:-3989}" -e cpu-clock -- "$@"
	python3 - "$title" "$least" <<'END' && return
import collections
import os
import sys
import recording as rec
import stacks

title, least = sys.argv[1], int(sys.argv[2]) / 1000
known, by = stacks.Stacks("a.dtp"), collections.Counter()
since = int(open("since").read()) if os.path.exists("since") else 0
early = collections.Counter()
for sample in known.samples():
    if sample["time_ns"] < since:
        early[sample["user_status"]] += 1
        continue
    status = sample["user_status"]
    if status == "ok" and title != "build" and not known.whole(sample):
        status = "elsewhere"
    by[status] += 1
total = sum(by.values())
rec.check(total >= 100, "%s: only %d samples" % (title, total))
rec.check(by["elsewhere"] == 0, "%s: wrong ends: %s" % (title, by))
if early:
    print("%s: the first time: %s" % (title, early))
if by["ok"] < least * total:
    print("%s: %s" % (title, by))
    sys.exit(3)
rec.ok("%s: %.2f %% of %d stacks are whole" %
       (title, 100 * by["ok"] / total, total))
END
	status=$?
	[ $status = 3 ] || fail "see above"
	return $status
}

mkdir src
n=0
while [ $n -lt $((6 * times)) ]; do
	n=$((n + 1))
	awk -v n="$n" 'BEGIN {
		for (i = 0; i < 100; i++)
			print "int f" n "_" i "(int *a, int b) { int s = 0;" \
			    " for (int i = 0; i < b; i++) s += a[i] * " i "; " \
			    "return s + (b ? f" n "_" (i ? i - 1 : 0) \
			    "(a, b - 1) : 0); }"
	}' >src/f$n.c
done
cat >src/Makefile <<'END'
all: $(patsubst %.c,%.o,$(wildcard *.c))
%.o: %.c
	$(CC) -O1 -c -o $@ $<
END

# shellcheck disable=SC2016 # for the other shell
measure commands 980 sh -c 'n=0
    while [ $n -lt $0 ]; do
	n=$((n + 1))
	ls / >/dev/null
    done' $((200 * times))
measure forks 980 "$work/storms" fork $((2000 * times))
# The tables of the compiler are made while it runs for the first time: how
# long that takes is the machine's business.
cat >twice <<'END'
make -s -B -j2 -C src CC="$1"
python3 -c 'import time; print(time.monotonic_ns())' >since
make -s -B -j2 -C src CC="$1"
END
measure build 993 env -u MAKEFLAGS CCACHE_DISABLE=1 sh twice "$CC"
