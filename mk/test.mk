# SPDX-License-Identifier: ISC
#
# What tests and measures.  tests/run.sh runs tests in two rows, each with a
# time limit; this file says what must be built before.

.PHONY: demo check check-unit check-sanitized golden accept bench bench-scale \
    bench-compare bench-peers pictures fuzz fuzzers mutants lint cov deps \
    tests-built

#= T=text           check: just the tests whose name contains it
#= FUZZ_SECONDS=10  how long each fuzzer runs

tests-built: all $(UNIT_BINS) $(WORK_BINS) $(PAGE_BINS) \
    $(O)/tests/interop/dtprof_faulty

TEST_ENV = B=$(abspath $(O)) DTPROF=$(abspath $(O)/dtprof) CC='$(CC)' \
    SAN='$(SAN)' COV='$(COV)' MAKE='$(MAKE)'

#> demo: record a bundled workload and show what was recorded
demo: $(O)/dtprof $(O)/tests/work/demo $(O)/tests/work/can
	@sh mk/demo.sh $(O)

#> check: build and run the tests
check: tests-built
	@$(TEST_ENV) sh tests/run.sh $(T)

#> check-unit: just the programs of tests/unit
check-unit: $(UNIT_BINS)
	@$(TEST_ENV) sh tests/run.sh -u $(T)

#> check-sanitized: run tests/unit under gcc's sanitizers, fuzzers under clang's
check-sanitized:
	@$(TEST_ENV) sh tests/run.sh -d tests/sanitized $(T)

#> golden: write anew what tests/report/goldens.sh compares with
golden: $(O)/dtprof
	@$(TEST_ENV) GOLDEN=1 sh tests/run.sh report/goldens

#> accept: the claims at their full size (several hours)
accept: tests-built
	@$(TEST_ENV) ACCEPT=1 sh tests/run.sh -d tests/accept $(T)

#> bench: measure, beside what else is installed
bench: tests-built
	@$(TEST_ENV) sh tests/bench/run.sh
	@$(TEST_ENV) sh tests/bench/import.sh
	@$(TEST_ENV) sh tests/bench/probes.sh
	@$(TEST_ENV) sh tests/bench/waits.sh
	@$(TEST_ENV) sh tests/bench/ring.sh

#> bench-peers: the same work by dtprof, perf, samply, bpftrace (WORK="true")
bench-peers: $(O)/dtprof $(O)/tests/work/can
	@$(TEST_ENV) sh tests/bench/peers.sh $(WORK)

#> bench-scale: how cost grows with size (an hour; AXES="samples cpus ...")
bench-scale: tests-built
	@$(TEST_ENV) sh tests/bench/scale.sh $(AXES)

#> bench-compare: how often a false winner is called, beside hyperfine
bench-compare: tests-built
	@$(TEST_ENV) sh tests/bench/compare.sh

#> pictures: make doc/pictures again (needs chromium)
pictures: $(O)/dtprof
	@sh mk/pictures.sh $(O)

#> lint: the rules of style that a program can check (minutes)
lint: $(O)/dtprof
	@B=$(O) sh mk/lint.sh

#> deps: install missing packages with the system's package manager
deps:
	@sh mk/deps.sh build check browser

# Fuzzers.  The library once more, seen through by the fuzzer and the
# sanitizers; clang has both.  What a run finds stays below $(O)/fuzz; the
# corpus in the sources is only read.
FUZZ_SECONDS ?= 10
FUZZ_SRCS := $(wildcard tests/fuzz/*.c)
FUZZ_BINS := $(FUZZ_SRCS:tests/fuzz/%.c=$(O)/fuzz/%)
FUZZ_LIB_OBJS := $(LIB_SRCS:%.c=$(O)/fuzz/obj/%.o)
FUZZ_FLAGS := -O1 -gline-tables-only -fsanitize=address,undefined \
    -fno-sanitize-recover=all $(filter-out -fsanitize% -fno-sanitize% \
    --coverage -O0,$(OUR_CFLAGS))
FUZZ_COMPILE = $(CLANG) $(OUR_CPPFLAGS) $(CPPFLAGS) $(FUZZ_FLAGS) -MMD -MP \
    -fsanitize=fuzzer-no-link

$(O)/fuzz/obj/%.o: %.c $(O)/flags | $(O)/probed $(SKELS)
	@mkdir -p $(@D)
	$(call say,FUZZCC,$<)
	$(Q)$(FUZZ_COMPILE) -c $< -o $@

$(O)/fuzz/libprof.a: $(FUZZ_LIB_OBJS)
	$(Q)rm -f $@ && $(AR) rcs $@ $(FUZZ_LIB_OBJS)

$(O)/fuzz/%: $(O)/fuzz/obj/tests/fuzz/%.o $(O)/fuzz/libprof.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $< \
	    $(O)/fuzz/libprof.a -Wl,--as-needed $(OUR_LIBS)

.SECONDARY: $(FUZZ_SRCS:%.c=$(O)/fuzz/obj/%.o)
-include $(FUZZ_LIB_OBJS:.o=.d) $(FUZZ_SRCS:%.c=$(O)/fuzz/obj/%.d)

fuzzers: $(FUZZ_BINS)

# Mutants that know their formats: one program without libFuzzer.
MUTANT_SRCS := $(wildcard tests/mutants/*.c)
MUTANT_OBJS := $(MUTANT_SRCS:%.c=$(O)/fuzz/obj/%.o)
-include $(MUTANT_OBJS:.o=.d)

$(O)/fuzz/mutants: $(MUTANT_OBJS) $(O)/fuzz/libprof.a
	$(call say,LD,$@)
	$(Q)$(CLANG) $(FUZZ_FLAGS) -o $@ $(MUTANT_OBJS) \
	    $(O)/fuzz/libprof.a -Wl,--as-needed $(OUR_LIBS)

mutants: $(O)/fuzz/mutants

#> fuzz: run every fuzzer for FUZZ_SECONDS
fuzz: fuzzers
	@sh mk/fuzz.sh $(O)/fuzz $(FUZZ_SECONDS) $(notdir $(FUZZ_BINS))

#> cov: which lines the tests execute (in build/cov)
cov:
	@sh mk/cov.sh $(O)/cov
