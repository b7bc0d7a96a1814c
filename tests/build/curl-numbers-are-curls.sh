#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: What libprof/network/curl_abi.h takes for numbers of libcurl's
# options are those of curl/curl.h, and its functions have the types there.
#
# Easy to get wrong: they are written by hand, and a wrong one sets another
# option.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir
cat >"$tmp/numbers.c" <<'END'
#define CURL_NUMBER	OURS
#include <curl/curl.h>
#define CURL_NUMBERS_ALONE
END
python3 - "$SRC/libprof/network/curl_abi.h" >>"$tmp/numbers.c" <<'END' ||
import re
import sys
text = open(sys.argv[1]).read()
found = re.findall(r"\bN\((CURL\w+), (\w+)\)", text)
assert len(found) > 20, found
for name, number in found:
    print('_Static_assert((long long)%s == %s, "%s");' % (name, number, name))
for kind, name in re.findall(r"\(\*cl_(easy|slist|global)_(\w+)\)", text):
    print("void *%s_%s = (void *)curl_%s_%s;" % (kind, name, kind, name))
END
	fail "curl_abi.h cannot be read"
${CC:-cc} -c -o "$tmp/numbers.o" "$tmp/numbers.c" >"$tmp/log" 2>&1 ||
	fail "$(cat "$tmp/log")"
ok "$(grep -c Static "$tmp/numbers.c") numbers are curl's"
