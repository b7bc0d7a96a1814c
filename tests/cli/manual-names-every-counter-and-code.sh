#!/bin/sh
# ASSERTION: DIAGNOSTICS of dtprof(1) describes every way to fail that
# errors.def knows, with its sentence, and every counter of counters.def, with
# its text; dtprof-format(5) has each counter at its bit.  Easy to get wrong
# when a code or a counter is added.
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

# Each counter, with its text in counters.def; that of the file, by its bit.
cat >counters.c <<END
#include <stdio.h>
#define PROF_NO_BIT	-1
int
main(void)
{
#define PROF_COUNTER(bit, name, type, role, source, text)		\\
	printf("%d\\t%s\\t%s%c", bit, #name, text, 0);
#include "$SRC/libprof/counters.def"
	return (0);
}
END
cc -o counters counters.c && ./counters >table || fail "counters.def"
python3 - "$page" "$SRC/doc/dtprof-format.5" <<'END' || fail "see above"
import re, sys
manual, layout = (open(name).read() for name in sys.argv[1:])
rows = [row.split("\t", 2) for row in open("table").read().split("\0")[:-1]]
assert len(rows) >= 25, rows
for bit, name, text in rows:
    entry = ".It Cm %s\n%s" % (name, text)
    assert entry in manual, "not in the manual:\n" + entry
    assert bit == "-1" or re.search(r"^\.It %s Ta %s\b" % (bit, name), layout,
        re.M), "not in dtprof-format(5): %s %s" % (bit, name)
print("ok: %d counters" % len(rows))
END

# The rest of what one accounting shows.
for key in unaccounted_excess in_file kernel_stacks user_stacks; do
	sed -n 's/^\.\(It \)\{0,1\}Cm //p' diagnostics | tr -s ' ,' '\n\n' |
	    grep -qx "$key" || fail "$key is not in the manual"
done
ok "the keys beside them"
