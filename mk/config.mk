# SPDX-License-Identifier: ISC
#
# Tools, flags and switches.  Flags that the project needs are kept apart
# from CFLAGS and LDFLAGS, which are the user's.

#= V=1              show the commands
#= O=dir            build there instead of build/
#= CC=clang         the other compiler
#= DEBUG=1          warnings are errors
#= SAN=address,undefined   with sanitizers
#= COV=1            count what is executed (make cov)
#= CROSS=aarch64-linux-gnu- SYSROOT=dir STATIC=1   for another machine
#= PREFIX=/usr/local DESTDIR=   where install puts things

VERSION := $(shell sed -n \
    's/^.define PROF_VERSION_M[AI][JN]OR[[:space:]]*//p' libprof/prof.h | \
    paste -sd.)

Q := @
say = @printf '  %-6s %s\n' $(1) $(2)
ifeq ($(V),1)
Q :=
say = @:
endif

# make's own defaults are not the user's choice.
ifneq ($(filter default undefined,$(origin CC)),)
CC := $(CROSS)gcc
endif
ifneq ($(filter default undefined,$(origin AR)),)
AR := $(CROSS)ar
endif
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) \
    bpftool)
INSTALL ?= install

CFLAGS ?= -O2 -g
BPF_CFLAGS ?=

TRIPLET := $(shell $(CC) -dumpmachine 2>/dev/null)
ARCH := $(firstword $(subst -, ,$(TRIPLET)))
# Debian's directory for headers and libraries of one architecture; clang
# answers with the vendor in the triplet.
MULTIARCH := $(ARCH)-linux-gnu
BPF_ARCH := $(or $(patsubst aarch64,arm64,$(filter aarch64,$(ARCH))),x86)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifeq ($(DEBUG),1)
WARN += -Werror
endif

OUR_CPPFLAGS := -D_GNU_SOURCE= -Isys -Ilibprof -I$(O)/sys -I$(O) \
    -DDTPROF_VERSION='"$(VERSION)"'
OUR_CFLAGS := -std=gnu11 -fPIC -fvisibility=hidden -fno-omit-frame-pointer \
    -pthread $(WARN)
OUR_LDFLAGS := -pthread -Wl,--as-needed
OUR_LIBS := -lunwind-$(ARCH) -lunwind -lbpf -ldw -lelf -lz -llzma \
    -liberty -lpfm -lzstd -lxxhash -lm

ifneq ($(SAN),)
OUR_CFLAGS += -fsanitize=$(SAN) -fno-sanitize-recover=all
OUR_LDFLAGS += -fsanitize=$(SAN)
endif
ifeq ($(COV),1)
OUR_CFLAGS += --coverage -O0
OUR_CPPFLAGS += -DPROF_COVERAGE
OUR_LDFLAGS += --coverage
endif
ifneq ($(SYSROOT),)
OUR_CPPFLAGS += -isystem $(SYSROOT)/usr/include \
    -isystem $(SYSROOT)/usr/include/$(MULTIARCH)
OUR_LDFLAGS += -L$(SYSROOT)/usr/lib/$(MULTIARCH) \
    -Wl,-rpath-link,$(SYSROOT)/usr/lib/$(MULTIARCH)
endif
ifeq ($(STATIC),1)
STATIC_LDFLAGS := -static
OUR_LIBS += -lbz2
endif

# Objects depend on this file, which changes when the flags do.
FLAGS_NOW := $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) \
    $(OUR_LDFLAGS) $(LDFLAGS) $(STATIC_LDFLAGS)
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
$(shell mkdir -p $(O); \
    new=$(O)/flags.$$$$; \
    printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' >$$new; \
    if cmp -s $$new $(O)/flags; then rm -f $$new; \
    else mv $$new $(O)/flags; fi)
endif

# Once for each set of flags: is there what the build needs?
$(O)/probed: mk/config.sh $(O)/flags
	@CLANG=$(CLANG) BPFTOOL=$(BPFTOOL) sh mk/config.sh $(CC) \
	    $(OUR_CPPFLAGS) $(CPPFLAGS)
	@touch $@
