#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What it costs to have Python functions in samples: python.sh [part ...].
# Prints, of all or of these parts,
#
#	lost: what a Python program loses of its throughput at 997 Hz, by its
#	own CPU time, in windows of 200 ms in which one recorder samples or
#	pauses: of dtprof, as it is, of an interpreter that it does not know,
#	without stacks, and of perf;
#	deep: run time of the timer's program by depth, of one function and of
#	functions that all differ, by the kernel's count;
#	naming: the CPU time of naming 20,000 functions;
#	others: run time of the timer's program for a native program, alone and
#	recorded together with a Python process that sleeps.
#
# BENCH_ROUNDS (100; of others 20) is how many pairs of windows there are.
# PYTHON is what is measured.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
: "${PYTHON:=/usr/bin/python3}"
[ -x "$PYTHON" ] || skip "no $PYTHON"
tmpdir
export PYTHON
python3 "$SRC/tests/bench/python.py" "$@" || fail "python"
