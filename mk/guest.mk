# SPDX-License-Identifier: ISC
#
# The arm64 guest, whose emulated processor counts cycles exactly: its parts
# are fetched (mk/guest-fetch.sh), dtprof is built for it, and the tests below
# tests/guest boot it.  Where the parts cannot be had the tests skip and say
# why.

#= GUEST_KERNEL=6.12   the newer kernel, from backports (check-guest)

GUEST_KERNEL ?= 6.1
GUEST_DIR := $(abspath $(O))/guest/$(GUEST_KERNEL)
ARM64_DIR := $(abspath $(O))/arm64
GUEST_WORK := $(wildcard tests/work/guest_*.c)
# What the user chose for this machine is not meant for the other one.  The
# linker would warn of getpwuid in a static program: the guest has no users.
GUEST_MAKE = $(MAKE) CROSS=aarch64-linux-gnu- CC=aarch64-linux-gnu-gcc \
    AR=aarch64-linux-gnu-ar SYSROOT=$(GUEST_DIR)/sysroot STATIC=1 SAN= COV= \
    LDFLAGS=-Wl,--no-warnings O=$(ARM64_DIR) guest-programs

.PHONY: accept-guest check-guest guest-programs

guest-programs: $(O)/dtprof \
    $(GUEST_WORK:tests/work/%.c=$(O)/tests/work/%)
	@:

#> check-guest: boot the arm64 guest, record cycles there, check them here
check-guest: $(O)/dtprof
	@mkdir -p $(O)/guest; \
	why=$$(sh mk/guest-fetch.sh $(GUEST_DIR) $(GUEST_KERNEL)); \
	case $$? in \
	0)	$(GUEST_MAKE) || exit 1 ;; \
	77)	GUEST_SKIP=$$why; export GUEST_SKIP ;; \
	*)	echo "$$why"; exit 1 ;; \
	esac; \
	B=$(abspath $(O)) DTPROF=$(abspath $(O)/dtprof) \
	    GUEST=$(GUEST_DIR) ARM64=$(ARM64_DIR) \
	    sh tests/run.sh -d tests/guest $(T)

#> accept-guest: the same with as many boots as the promise names
accept-guest:
	@ACCEPT=1 $(MAKE) check-guest
