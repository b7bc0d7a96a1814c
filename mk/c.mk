# SPDX-License-Identifier: ISC
#
# User space: the library twice (archive and shared), the command, and the
# small programs of the tests.

LIB_SRCS := $(wildcard libprof/*.c libprof/*/*.c libprof/*/*/*.c \
    libprof/*/*/*/*.c)
LIB_OBJS := $(LIB_SRCS:%.c=$(O)/obj/%.o)
CMD_SRCS := $(wildcard cmd/dtprof/*.c cmd/dtprof/*/*.c)
CMD_OBJS := $(CMD_SRCS:%.c=$(O)/obj/%.o)
UNIT_SRCS := $(wildcard tests/unit/*.c)
UNIT_BINS := $(UNIT_SRCS:tests/unit/%.c=$(O)/tests/unit/%)
PAGE_SRCS := $(wildcard tests/browser/*.c)
PAGE_BINS := $(PAGE_SRCS:tests/browser/%.c=$(O)/tests/browser/%)
WORK_SRCS := $(wildcard tests/work/*.c)
WORK_BINS := $(WORK_SRCS:tests/work/%.c=$(O)/tests/work/%)

COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(CFLAGS) -MMD -MP
LINK = $(CC) $(OUR_CFLAGS) $(CFLAGS) $(OUR_LDFLAGS) $(LDFLAGS)

# The skeletons are included by name; -MMD knows which, once compiled.
$(O)/obj/%.o: %.c $(O)/flags | $(O)/probed $(SKELS)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) -c $< -o $@

$(O)/libprof.a: $(LIB_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJS)

$(O)/libprof.so.0: $(LIB_OBJS) libprof/prof.map
	$(call say,LD,$@)
	$(Q)$(LINK) -shared -Wl,-soname,libprof.so.0 \
	    -Wl,--version-script,libprof/prof.map -o $@ $(LIB_OBJS) \
	    $(OUR_LIBS) $(LIBS)

$(O)/libprof.so: $(O)/libprof.so.0
	$(Q)ln -sf libprof.so.0 $@

$(O)/dtprof: $(CMD_OBJS) $(O)/libprof.a
	$(call say,LD,$@)
	$(Q)$(LINK) $(STATIC_LDFLAGS) -o $@ $(CMD_OBJS) $(O)/libprof.a \
	    $(OUR_LIBS) $(LIBS)

# What record --alloc has a command load: the program's own allocator is below
# it, so it has neither sanitizers nor other libraries.
$(O)/dtprof-alloc.so: sys/preload/alloc.c libprof/prof_region.h $(O)/flags
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE= -Ilibprof $(CPPFLAGS) -O2 -g \
	    -fPIC $(filter -ffile-prefix-map=%,$(CFLAGS)) \
	    -fvisibility=hidden -fno-builtin $(WARN) $(LDFLAGS) -shared \
	    -Wl,-soname,dtprof-alloc.so -o $@ $<

# A test may look behind the public API, so it links the archive.
$(O)/tests/unit/%: $(O)/obj/tests/unit/%.o $(O)/libprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(STATIC_LDFLAGS) $(TEST_LDFLAGS) -o $@ $< \
	    $(O)/libprof.a $(OUR_LIBS) $(LIBS)

# It says itself when there is no memory.
$(O)/tests/unit/recording-out-of-memory-is-told: \
    TEST_LDFLAGS = -Wl,--wrap=realloc
# Memory changes while it is read.
$(O)/tests/unit/javascript-objects-that-change: \
    TEST_LDFLAGS = -Wl,--wrap=pread

# It asks the command's own helper.
$(O)/tests/unit/helper-reads-what-is-named: \
    TEST_LDFLAGS = $(filter-out %/main.o,$(CMD_OBJS))
$(O)/tests/unit/helper-reads-what-is-named: $(CMD_OBJS)

$(O)/tests/browser/%: $(O)/obj/tests/browser/%.o $(O)/libprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) -o $@ $< $(O)/libprof.a $(OUR_LIBS) $(LIBS)

# A dtprof whose parsers do what the file that they read says.
$(O)/tests/interop/dtprof_faulty: $(CMD_OBJS) \
    $(O)/obj/tests/interop/parser_fault.o $(O)/libprof.a
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(LINK) $(STATIC_LDFLAGS) -o $@ $(filter %.o,$^) \
	    $(O)/libprof.a $(OUR_LIBS) $(LIBS)

# Workloads are plain programs with known answers: no sanitizer, no library,
# and always optimised in the same way.
$(O)/tests/work/%: tests/work/%.c $(O)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) -std=gnu11 -D_GNU_SOURCE= -O1 -g -fno-omit-frame-pointer \
	    -fno-inline -pthread $(WARN) -Wno-unknown-attributes \
	    $(STATIC_LDFLAGS) -MMD -MP -MF $@.d -o $@ $< -lm

# It reads counters by the library.
$(O)/tests/work/guest_counters: tests/work/guest_counters.c $(O)/libprof.a
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(COMPILE) $(OUR_LDFLAGS) $(LDFLAGS) $(STATIC_LDFLAGS) -MF $@.d \
	    -o $@ $< $(O)/libprof.a $(OUR_LIBS) $(LIBS)

# It begins without a library.
$(O)/tests/work/guest_tokens: STATIC_LDFLAGS += -nostdlib -static

.SECONDARY: $(UNIT_SRCS:%.c=$(O)/obj/%.o) $(PAGE_SRCS:%.c=$(O)/obj/%.o)

-include $(O)/obj/tests/interop/parser_fault.d
-include $(LIB_OBJS:.o=.d) $(CMD_OBJS:.o=.d) \
    $(UNIT_SRCS:%.c=$(O)/obj/%.d) $(WORK_BINS:=.d) \
    $(PAGE_SRCS:%.c=$(O)/obj/%.d)
