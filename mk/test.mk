# SPDX-License-Identifier: ISC
#
# What tests and measures.  tests/run.sh runs tests one by one, with a time
# limit each; this file says what must be built before.

.PHONY: check check-unit tests-built

tests-built: all $(UNIT_BINS) $(WORK_BINS)

#> check: build and run the tests (T=pattern: those whose name matches)
check: tests-built
	@B=$(abspath $(O)) DTPROF=$(abspath $(O)/dtprof) MAKE='$(MAKE)' \
	    sh tests/run.sh $(T)

#> check-unit: just the programs of tests/unit
check-unit: $(UNIT_BINS)
	@B=$(abspath $(O)) sh tests/run.sh -u $(T)
