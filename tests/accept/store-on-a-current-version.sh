#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: what is true of the store on Debian's ClickHouse of 2019 is true on
# a current one, whose engine a package of Python embeds: init, push, status
# and drop-before, the documented tables and queries, sums to the unit, and
# reports, exports, drawings and comparisons that equal those of files.
# Easy to get wrong: types, settings and errors that a later version has
# renamed; a query that it reads otherwise.
# TIMEOUT: 900
. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_bpf
need_cmd python3 clickhouse-server
tmpdir
: "${CHDB:=$tmp/chdb}"
if [ ! -x "$CHDB/bin/python" ]; then
	python3 -m venv "$CHDB" >pip.log 2>&1 &&
	    "$CHDB/bin/pip" install -q chdb-core >pip.log 2>&1 ||
	    skip "no chdb-core: $(tail -1 pip.log)"
fi
STORE_PYTHON=$CHDB/bin/python
export STORE_PYTHON
for test in interop/store-holds-what-was-recorded \
    interop/store-reports-as-files accept/store-compares-as-files; do
	sh "$SRC/tests/$test.sh" >log 2>&1 || fail "$test: $(cat log)"
	grep -q '^version 2[6-9]' log || fail "$test: $(cat log)"
	ok "$test, $(grep '^version ' log)"
done
