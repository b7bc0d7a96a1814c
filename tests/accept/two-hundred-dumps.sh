#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: each of 200 dumps of a storm of numbered system calls, at random
# moments, by signals, by dtprof ctl, several at once, by 1,000 signals, and at
# a kill of the target, holds the newest calls without a gap up to its trigger,
# at least 0.8 of the ring; overwritten, written and lost calls add up to all;
# the history is that of the samples, and a killed target has its names.
# TIMEOUT: 3600
#
# Easy to get wrong: a dump while another is being written, samples that are
# read while a dump is, an end that is said and not reached.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
tmpdir
SEED=${SEED:-$(date +%s)} DUMPS=${DUMPS:-200}
export SEED DUMPS
echo "seed $SEED"
python3 "$SRC/tests/accept/two_hundred_dumps.py" || fail "see above"
