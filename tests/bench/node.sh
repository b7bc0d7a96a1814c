#!/bin/sh
# SPDX-License-Identifier: ISC
#
# What it costs to have JavaScript functions in samples: node.sh [part ...].
# Prints what python.sh prints of "lost" and "deep", of a program of node.
#
# BENCH_ROUNDS (100) is how many pairs of windows.  NODE is what is measured.
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
: "${NODE:=/usr/bin/node}"
[ -x "$NODE" ] || skip "no $NODE"
tmpdir
export PYTHON="$NODE" LANGUAGE=javascript
[ $# -gt 0 ] || set -- lost deep
python3 "$SRC/tests/bench/python.py" "$@" || fail "node"
