# SPDX-License-Identifier: ISC
#
# Guests.  The arm64 one has an emulated processor that counts cycles exactly;
# that of amd64 has no counters, but other kernels than this machine.  Their
# parts are fetched (mk/guest-fetch.sh), dtprof is built for them, and the
# tests below tests/guest boot them.  Where the parts cannot be had the tests
# skip and say why.

#= GUEST_ARCH=amd64    the other guest (check-guest)
#= GUEST_KERNEL=6.12   a newer kernel: backports; 7: unstable (check-guest)

GUEST_ARCH ?= arm64
GUEST_KERNEL ?= 6.1
GUEST_DIR := $(abspath $(O))/guest/$(GUEST_ARCH)-$(GUEST_KERNEL)
GUEST_BUILD := $(abspath $(O))/$(GUEST_ARCH)
GUEST_CROSS := $(if $(filter arm64,$(GUEST_ARCH)),aarch64,x86_64)-linux-gnu-
# What needs neither a counter in hardware nor one architecture.
ANY_KERNEL := programs-load stacks-are-complete conservation missed-is-exact \
    python-frames-as-the-interpreter probes-are-exact
# A writer is stuck only where programs are preempted: from Linux 7 on.
NEED_LINUX_7 := stuck-writer-holds-up-nobody
# Where preempt=full can be chosen.
NEED_PREEMPTION := probes-while-preempted
# For accept-guest, or by name.
LONG := probes-come-and-go
GUEST_TESTS := $(or $(T),$(if $(filter-out 7,$(GUEST_KERNEL)),$(filter-out \
    lib $(NEED_LINUX_7) $(NEED_PREEMPTION) $(if $(ACCEPT),,$(LONG)),\
    $(basename $(notdir $(wildcard tests/guest/*.sh))))))
GUEST_WORK := $(wildcard tests/work/guest_*.c) tests/work/runs.c
# What the user chose for this machine is not meant for the other one.  The
# linker would warn of getpwuid in a static program: the guest has no users.
GUEST_MAKE = $(MAKE) CROSS=$(GUEST_CROSS) CC=$(GUEST_CROSS)gcc \
    AR=$(GUEST_CROSS)ar SYSROOT=$(GUEST_DIR)/sysroot STATIC=1 SAN= COV= \
    LDFLAGS=-Wl,--no-warnings O=$(O)/$(GUEST_ARCH) guest-programs

.PHONY: accept-guest check-guest check-kernels guest-programs

guest-programs: $(O)/dtprof \
    $(GUEST_WORK:tests/work/%.c=$(O)/tests/work/%)
	@:

#> check-guest: boot the guest, record cycles there, check them here
check-guest: $(O)/dtprof
	@mkdir -p $(O)/guest; \
	why=$$(sh mk/guest-fetch.sh $(GUEST_DIR) $(GUEST_ARCH) \
	    $(GUEST_KERNEL)); \
	case $$? in \
	0)	$(GUEST_MAKE) || exit 1 ;; \
	77)	GUEST_SKIP=$$why; export GUEST_SKIP ;; \
	*)	echo "$$why"; exit 1 ;; \
	esac; \
	B=$(abspath $(O)) DTPROF=$(abspath $(O)/dtprof) \
	    GUEST=$(GUEST_DIR) GUEST_BUILD=$(GUEST_BUILD) \
	    GUEST_ARCH=$(GUEST_ARCH) GUEST_MAKE="$(GUEST_MAKE)" \
	    sh tests/run.sh -d tests/guest $(GUEST_TESTS)

#> check-kernels: what needs no counter, on the kernels that are promised
check-kernels:
	@for guest in amd64/6.1 amd64/6.12 amd64/7 arm64/6.1 arm64/6.12; do \
		echo "$$guest:"; \
		$(MAKE) check-guest GUEST_ARCH=$${guest%/*} \
		    GUEST_KERNEL=$${guest#*/} T="$(ANY_KERNEL)" || exit 1; \
	done
	@$(MAKE) check-guest GUEST_ARCH=amd64 GUEST_KERNEL=7 \
	    T="$(NEED_LINUX_7) $(NEED_PREEMPTION)"
	@$(MAKE) check-guest GUEST_ARCH=amd64 GUEST_KERNEL=6.12 \
	    T=$(NEED_PREEMPTION)

#> accept-guest: check-guest with as many boots as the promise names
accept-guest:
	@ACCEPT=1 $(MAKE) check-guest
