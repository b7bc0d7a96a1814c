# SPDX-License-Identifier: ISC
# ASSERTION: Of 200 random Python programs the share of each function, its own
# and with callees, is the one that the program itself measured by the kernel's
# clock of its threads, in report, page, pprof and folded alike; all shares of
# all programs together lie within 99.9 % intervals.  Functions are methods,
# closures, generators, coroutines and recursive ones, call each other directly
# and through C, and run in up to three threads.
#
# Easy to get wrong: a function that has just been called or returned from, a
# generator that waits, time in C code and in the interpreter itself.
# TIMEOUT: 3600
#
# SEEDS is how many programs, FIRST the seed of the first one (1); PYTHON is
# what runs them.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
: "${PYTHON:=/usr/bin/python3}"
[ -x "$PYTHON" ] || skip "no $PYTHON"
tmpdir
. "$SRC/tests/accept/lib-known.sh"
known_shares "$PYTHON" "$SRC/tests/work/known.py"
