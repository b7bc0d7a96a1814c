#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What it costs to have Python functions in samples: python.sh.  Prints
#
#	what a Python program loses of its throughput at 997 Hz, by its own CPU
#	time, in windows of 200 ms in which one recorder samples or pauses;
#	run time of the timer's program by depth, of one function and of
#	functions that all differ, by the kernel's count.
#
# BENCH_ROUNDS (100) is how many pairs of windows.  PYTHON is what is measured.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
: "${PYTHON:=/usr/bin/python3}"
[ -x "$PYTHON" ] || skip "no $PYTHON"
tmpdir
export PYTHON
python3 "$SRC/tests/bench/python.py" || fail "python"
