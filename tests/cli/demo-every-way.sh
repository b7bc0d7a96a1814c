#!/bin/sh
# ASSERTION: make demo shows an accounting and records whatever the kernel
# permits, and ends with the table of functions, a flame graph and what to do
# next: with BPF, without BPF through the fallback, and without perf_event_open
# from the recording that comes with the sources, which it then says in so many
# words.  Easy to get wrong where a real failure is taken for a refusal.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
mkdir -p b/tests/work
cp "$B/dtprof" b/
cp "$B/tests/work/demo" "$B/tests/work/can" b/tests/work/
cd "$SRC" || fail "no sources"
refuse=$B/tests/work/refuse

shows()
{
	expect_out 'fired' "accounting"
	expect_out 'cpu-clock' "the event"
	lines=$(sed -n '/^The first records/,$p' "$tmp/out" | wc -l)
	[ "$lines" -gt 5 ] || fail "no records are shown"
	# The end of it: table, flame graph, what next, in this order.
	grep -o -e '^Where the time went' -e '^ self% .* total% ' \
	    -e '^The flame graph .*/demo.html$' -e '^Next: ' \
	    -e 'dtprof flamegraph --open$' "$tmp/out" | cut -c 1-10 |
	    tr '\n' ',' >"$tmp/end"
	[ "$(cat "$tmp/end")" = \
	    'Where the , self%    ,The flame ,Next: ,dtprof fla,' ] ||
	    fail "it ends otherwise: $(cat "$tmp/end")"
	grep -q 'id="data"' "$tmp/b/demo.html" || fail "no flame graph"
	rm "$tmp/b/demo.html"
}

"$B/tests/work/can" perf || skip "perf_event_open is refused here"
expect 0 sh mk/demo.sh "$tmp/b"
shows
grep -q 'SHOWN INSTEAD' "$tmp/out" && fail "it recorded nothing"
ok "as permitted here"

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
