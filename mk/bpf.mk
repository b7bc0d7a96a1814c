# SPDX-License-Identifier: ISC
#
# The kernel component: each sys/NAME.bpf.c becomes $(O)/sys/NAME.skel.h,
# with struct NAME_bpf.  BTF stays in the object, for CO-RE and for maps;
# DWARF does not: `bpftool gen object` leaves it out.

BPF_SRCS := $(wildcard sys/*.bpf.c)
SKELS := $(BPF_SRCS:sys/%.bpf.c=$(O)/sys/%.skel.h)

# The kernel's asm/ headers are per architecture: the sysroot's, those of a
# cross compiler, this machine's.
BPF_INCS := $(and $(SYSROOT),-isystem $(SYSROOT)/usr/include) \
    $(addprefix -idirafter ,$(wildcard \
    $(and $(SYSROOT),$(SYSROOT)/usr/include/$(MULTIARCH)) \
    /usr/include/$(MULTIARCH) /usr/$(MULTIARCH)/include))
#= FAULT=fired|stored|reason|leave|switch|wait  that is forgotten: for tests
#= FAULT_OF=n  how often: of n, one by chance (16)
FAULT ?=
FAULT_OF ?= 16
BPF_FLAGS := -target bpf -mcpu=v3 -O2 -g -std=gnu11 \
    -fdebug-prefix-map=$(CURDIR)=. \
    -D__TARGET_ARCH_$(BPF_ARCH) -Isys $(BPF_INCS) \
    -Wall -Wextra -Wno-unused-parameter -Wno-missing-declarations \
    $(and $(filter 1,$(DEBUG)),-Werror) \
    $(and $(FAULT),'-DDTP_FORGETS_$(FAULT)=(bpf_get_prandom_u32() % \
    $(FAULT_OF) == 0)')

# Changes when the fault does, so that only programs are built anew.
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
$(shell mkdir -p $(O); echo '$(FAULT) $(FAULT_OF)' | cmp -s - $(O)/fault || \
    echo '$(FAULT) $(FAULT_OF)' >$(O)/fault)
endif

$(O)/sys/%.bpf.raw.o: sys/%.bpf.c $(O)/flags $(O)/fault | $(O)/probed
	@mkdir -p $(@D)
	$(call say,BPF,$<)
	$(Q)$(CLANG) $(BPF_FLAGS) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) \
	    -c $< -o $@

$(O)/sys/%.bpf.o: $(O)/sys/%.bpf.raw.o
	$(Q)$(BPFTOOL) gen object $@ $<

$(O)/sys/%.skel.h: $(O)/sys/%.bpf.o
	$(call say,SKEL,$@)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf >$@

.SECONDARY: $(SKELS) $(SKELS:.skel.h=.bpf.o) $(SKELS:.skel.h=.bpf.raw.o)

-include $(SKELS:.skel.h=.bpf.raw.d)
