#!/bin/sh
# ASSERTION: DIAGNOSTICS of dtprof(1) describes every way to fail that
# errors.def knows, with its sentence, and every counter that a report shows.
# Easy to get wrong when a code or a counter is added.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
page=$SRC/cmd/dtprof/dtprof.1
sed -n '/^\.Sh DIAGNOSTICS/,/^\.Sh SEE/p' "$page" >diagnostics
sed -n 's/^PROF_ERROR(\([A-Z_]*\), "\([^"]*\)".*/\1 \2/p' \
    "$SRC/libprof/errors.def" >codes
[ "$(wc -l <codes)" -ge 20 ] || fail "no codes in errors.def"
[ "$(grep -c '^PROF_ERROR' "$SRC/libprof/errors.def")" -eq \
    "$(wc -l <codes)" ] || fail "a code of errors.def was not understood"
while read -r code text; do
	grep -Fqx ".It Er $code No ($text)" diagnostics ||
	    fail "not in the manual: .It Er $code No ($text)"
done <codes
ok "$(wc -l <codes) codes"

# What one accounting shows; a list of numbers is one name.
grep -o '{ "[a-z_]*", pa->' "$SRC/cmd/dtprof/stats_json.c" |
    cut -d '"' -f 2 >counters
grep -o '[\\]"[a-z_]*[\\]":%' "$SRC/cmd/dtprof/stats_json.c" | tr -d '\\":%' |
    grep -v 'schema_version\|samples\|process_ev\|mapping\|markers\|sideband' |
    grep -v 'in_progress\|period\|frequency\|balances\|_ns' >>counters
[ "$(wc -l <counters)" -ge 15 ] || fail "no counters: $(cat counters)"
sort -u counters | while read -r counter; do
	sed -n 's/^\.\(It \)\{0,1\}Cm //p' diagnostics | tr -s ' ,' '\n\n' |
	    grep -qx "$counter" || fail "counter $counter is not in the manual"
done || exit 1
ok "$(sort -u counters | wc -l) counters"
