#!/bin/sh
# ASSERTION: a rate asked of the cycle counter is the rate of the samples.
# SPDX-License-Identifier: ISC
# TIMEOUT: 400
#
# The kernel adapts the period from tick to tick, so the weights differ and
# their sum, not their number, stands for the cycles.

. "${SRC:=$PWD}/tests/guest/lib.sh"

guest_boot <<'END'
for hz in 1000 4000; do
	dtprof record -q --no-inherit --call-graph none -e cycles -F $hz \
	    -o $hz.dtp -- \
	    guest_burn -f 50 || exit
done
END
for hz in 1000 4000; do
	accounting results/$hz.dtp
	"$DTPROF" script --json results/$hz.dtp >samples || fail "no script"
	cp stats stats.$hz
	verify samples $hz stats.$hz <<-'END'
	import json
	hz = int(argv[0])
	a = json.load(open(argv[1]))["accounting"][1]
	weights = [r["weight"] for r in j if r["type"] == "sample"]
	rate = len(weights) / (a["running_ns"] / 1e9)
	need(0.8 * hz < rate < 1.2 * hz, "%d samples in %.3f s: %.0f a second"
	    % (len(weights), a["running_ns"] / 1e9, rate))
	need(len(set(weights)) > 1, "%d different weights" % len(set(weights)))
	need(sum(weights) == a["weight"], "the file has the weights of all")
	need(abs(sum(weights) / a["count"] - 1) < 0.05,
	    "they stand for %.2f %% of %d cycles" %
	    (100 * sum(weights) / a["count"], a["count"]))
	END
done
