#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: compare of a store says what compare of the recordings says that
# were pushed, figure by figure: of hosts that changed their version one after
# the other, per event and span and by shares, and of the recordings of one
# host.
# Easy to get wrong: a host whose recordings of both versions are one; times of
# the store that are not the recordings'.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_cmd clickhouse-server curl python3
tmpdir
store_start
expect 0 "$DTPROF" store init "$store"
mkdir hosts one
"$B/tests/unit/deploys-are-told" write hosts 0.05 0 0 0 1 || fail "recordings"
for side in base new; do
	expect 0 "$DTPROF" push --label service=checkout \
	    --label "version=$side" "$store" hosts/"$side"*.dtp
done
cat >figures.py <<'END'
import json
import sys
one = json.load(open(sys.argv[1]))["comparisons"][0]
for name in ("base", "new"):
    del one[name]
json.dump(one, open(sys.argv[1], "w"), indent=1, sort_keys=True)
END
same()		# option ...
{
	expect 0 "$DTPROF" compare --json "$@" hosts/base*.dtp -- \
	    hosts/new*.dtp
	cp out files
	expect 0 "$DTPROF" compare --json "$@" "$store" \
	    --base-filter 'service=="checkout" && version=="base"' \
	    --filter 'service=="checkout" && version=="new"'
	cp out stored
	[ "$(json stored 'j["comparisons"][0]["new"]')" = "checkout new" ] ||
	    fail "the name: $(json stored 'j["comparisons"][0]["new"]')"
	python3 figures.py files
	python3 figures.py stored
	cmp files stored || fail "$*: $(diff files stored | head -20)"
}
same --per uprobe:/srv/app:handle
same --per span:request
same --window 20m
ok "a store and files say the same of hosts"

expect 0 "$DTPROF" compare "$store" --per span:request --from -2000h \
    --base-filter 'version=="base"' --filter 'version=="new"'
expect_out '^checkout new costs more: CPU per request \+' headline
expect_out '^base  checkout base, 7 hosts, ' base
expect 2 "$DTPROF" compare "$store" --filter 'version=="new"'
expect_err 'needs --base-filter and --filter'
expect 1 "$DTPROF" compare "$store" --base-filter 'version=="x"' \
    --filter 'version=="new"'
expect_err 'no samples of the base'
ok "headline and refusals"

for run in 1 2 3 4 5 6; do
	"$B/tests/unit/deploys-are-told" one "one/base-$run.dtp" \
	    "${run}00" 1 || fail "a recording"
	"$B/tests/unit/deploys-are-told" one "one/new-$run.dtp" \
	    "${run}50" 1.4 || fail "a recording"
done
for side in base new; do
	expect 0 "$DTPROF" push --label "version=one-$side" "$store" \
	    one/"$side"*.dtp
done
expect 0 "$DTPROF" compare --json one/base*.dtp -- one/new*.dtp
cp out files
expect 0 "$DTPROF" compare --json "$store" \
    --base-filter 'version=="one-base"' --filter 'version=="one-new"'
cp out stored
[ "$(json files 'j["comparisons"][0]["hosts"]')" = None ] || fail "hosts"
[ "$(json files 'j["comparisons"][0]["total"]["runs"]')" = "[6, 6]" ] ||
    fail "runs: $(json files 'j["comparisons"][0]["total"]["runs"]')"
python3 figures.py files
python3 figures.py stored
cmp files stored || fail "one host: $(diff files stored | head -20)"
ok "and of the recordings of one host"
