# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# Waits of real programs, each with an answer key: what the program itself says
# of its waits, and what a report must say.  The Python of a test has
# scenarios.py at hand.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
export PYTHONPATH="$SRC/tests/accept:$SRC/tests/kern"

# A report of a recording as JSON, in FILE.json.
scenario_report()	# file by [argument ...]
{
	scenario_file=$1 scenario_by=$2
	shift 2
	"$DTPROF" report --json --by "$scenario_by" "$@" "$scenario_file" \
	    >"$scenario_by.json" || fail "no report by $scenario_by"
}

as_postgres()		# command ...
{
	setpriv --reuid=postgres --regid=postgres --init-groups "$@"
}

psql()			# argument ...
{
	as_postgres "$pg_bin/psql" -h "$tmp" -qAtX postgres "$@"
}

# A server of PostgreSQL in $tmp, recorded from its begin with off-cpu/min=MIN/.
# Settings are lines of postgresql.conf.
pg_begin()		# recording min setting ...
{
	pg_file=$1 pg_min=$2
	shift 2
	pg_bin=$(find /usr/lib/postgresql -name bin | sort | tail -n 1)
	[ -n "$pg_bin" ] || skip "postgresql is not installed"
	chown postgres "$tmp"
	as_postgres "$pg_bin/initdb" -D "$tmp/data" -A trust >initdb.out 2>&1 ||
	    fail "initdb: $(tail -n 3 initdb.out)"
	printf '%s\n' "listen_addresses = ''" \
	    "unix_socket_directories = '$tmp'" "$@" >>data/postgresql.conf
	record_begin -e "off-cpu/min=$pg_min/" -o "$pg_file" -- setpriv \
	    --reuid=postgres --regid=postgres --init-groups \
	    "$pg_bin/postgres" -D "$tmp/data"
	await "a server" psql -c 'select 1'
}

# The server ends, and its recording with it.
pg_end()
{
	kill -INT "$(head -n 1 data/postmaster.pid)"
	record_wait 0
	rm -rf data
}
