#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: where membarrier(2) cannot be had, as on CPUs without a tick, stop
# waits in another way until all programs have ended, and the recording
# balances; so does stat --per-process.
#
# Easy to get wrong: the call fails and nothing shows it but, once in a long
# while, counts that were read too early.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd strace
tmpdir

# The first bpf(2) call behind each refusal must be the wait, and succeed.
waits()		# how often
{
	# Each thread has its file: in one for all, some calls are on two lines.
	awk 'FNR == 1 { look = 0 }
	    /membarrier\(/ && /EPERM/ { refused++; look = 1; next }
	    look && /bpf\(BPF_MAP_UPDATE_ELEM/ && / = 0$/ { waited++; look = 0 }
	    END { print refused + 0, waited + 0
	        exit !(refused >= 1 && waited == refused) }' trace.* ||
	    fail "not another way: refusals, waits"
	rm trace.*
}

strace -ff -qq -e trace=membarrier,bpf -o trace "$work/refuse" membarrier \
    "$DTPROF" record -q -o a.dtp -e syscall::close:entry -- "$work/calls" 500 \
    >out 2>err || skip "strace cannot be used here: $(tail -n 1 err)"
waits
balance a.dtp
ok "a recording waits, and balances"

strace -ff -qq -e trace=membarrier,bpf -o trace "$work/refuse" membarrier \
    "$DTPROF" stat -e context-switches --per-process -a -- true >out 2>err ||
    fail "stat: $(cat err)"
waits
ok "stat waits"
