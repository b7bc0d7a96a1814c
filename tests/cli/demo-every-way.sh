#!/bin/sh
# ASSERTION: make demo records whatever the kernel permits and shows, in at most
# 30 lines, the table of functions, then one line of accounting, a flame graph
# and what to do next: with BPF, without BPF through the fallback, and without
# perf_event_open from the recording that comes with the sources, which it then
# says.  Easy to get wrong where a real failure is taken for a refusal.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
mkdir -p b/tests/work
cp "$B/dtprof" b/
cp "$B/tests/work/demo" "$B/tests/work/can" b/tests/work/
cd "$SRC" || fail "no sources"
refuse=$B/tests/work/refuse

shows()
{
	# Functions first, then the accounting in one line, and what next.
	grep -o -e '^Functions' -e '^ *self% .* total% ' -e ' seventy' \
	    -e '^Accounting: [1-9][0-9]* fired = .* (balances)$' \
	    -e '^Flame graph .*/demo.html$' -e 'Next:$' \
	    -e 'dtprof flamegraph --open$' "$tmp/out" | tr -d ' ' |
	    cut -c 1-5 | uniq | tr '\n' ',' >"$tmp/order"
	[ "$(cat "$tmp/order")" = \
	    'Funct,self%,seven,Accou,Flame,Next:,dtpro,' ] || {
		cat "$tmp/out"
		fail "its parts: $(cat "$tmp/order")"
	}
	[ "$(cat "$tmp/out" "$tmp/err" | wc -l)" -le 30 ] || {
		cat "$tmp/out" "$tmp/err"
		fail "longer than 30 lines"
	}
	grep -q 'id="data"' "$tmp/b/demo.html" || fail "no flame graph"
	rm "$tmp/b/demo.html"
}

"$B/tests/work/can" perf || skip "perf_event_open is refused here"
expect 0 sh mk/demo.sh "$tmp/b"
shows
grep -q 'SHOWN INSTEAD' "$tmp/out" && fail "it recorded nothing"
samples=$(sed -n 's/^dtprof: record: \([0-9]*\) samples, .*/\1/p' "$tmp/err")
grep -q "^Accounting: .* = ${samples:-none} stored" "$tmp/out" ||
    fail "not $samples stored: $(grep ^Accounting "$tmp/out")"
ok "as permitted here, with the $samples samples that record counts"

expect 0 "$refuse" bpf sh mk/demo.sh "$tmp/b"
shows
grep -q 'SHOWN INSTEAD' "$tmp/out" && fail "the fallback was not tried"
ok "without BPF"

rm -f "$tmp"/b/demo.dtp*
expect 0 "$refuse" bpf,perf sh mk/demo.sh "$tmp/b"
shows
expect_out 'SHOWN INSTEAD: doc/demo.dtp' "what is shown"
expect_out 'seventy' "names in what is shown"
[ -e "$tmp/b/demo.dtp" ] && fail "a partial file was left"
ok "without perf_event_open"

# A dtprof that breaks is no refusal.
printf '#!/bin/sh\nexit 125\n' >"$tmp/b/dtprof"
expect 125 sh mk/demo.sh "$tmp/b"
ok "a failure of dtprof is not hidden"
