# SPDX-License-Identifier: ISC
# ASSERTION: Of 200 random JavaScript programs the share of each function, its
# own and with callees, is the one that the program itself measured by the
# kernel's clock of its thread, in report, page, pprof and folded alike; all
# shares of all programs together lie within 99.9 % intervals.  Functions call
# each other through builtins, generators and C++, and are interpreted,
# compiled, inlined as V8 likes.
#
# Easy to get wrong: a function that has just been called taken for its caller,
# code of one function inlined into another one, and what of that lies out of
# line.
# TIMEOUT: 3600
#
# SEEDS is how many programs, FIRST the seed of the first one (1); NODE is what
# runs them.

. "${SRC:=$PWD}/tests/lib.sh"
need_root
[ "$(uname -m)" = x86_64 ] || skip "frames of V8 are known on x86-64"
: "${NODE:=node}"
command -v "$NODE" >/dev/null || skip "no $NODE"
tmpdir
. "$SRC/tests/accept/lib-known.sh"
known_shares "$NODE" "$SRC/tests/work/known.js"
