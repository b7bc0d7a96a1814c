# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# A ClickHouse server of the test's own, below $tmp: no service, no fixed port.
# With STORE_PYTHON, a python3 that has chdb, it is of a current version.
#
#	store_start	starts it (again), waits; sets $port and $store
#	store_kill	kill -9
#	store_proxy SEED	store_proxy.py before it; sets $proxy, a store
#	sql QUERY	asks it, database dtprof
#	store_sums	what a table of samples has to add up to
#
# Include it after tests/lib.sh and tmpdir.

# Of what dtprof script --json writes: samples and their weight, by event.
store_sums()
{
	python3 -c '
import collections, json, sys
n, weight = collections.Counter(), collections.Counter()
for sample in map(json.loads, sys.stdin):
    if sample["type"] == "sample":
        n[sample["event"]] += 1
        weight[sample["event"]] += sample["weight"]
for event in sorted(n):
    print(event, n[event], weight[event], sep="\t")'
}

store_free_port()
{
	python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
}

store_config()
{
	port=$(store_free_port) tcp=$(store_free_port)
	mkdir -p "$tmp/ch/data" "$tmp/ch/tmp"
	cat >"$tmp/ch/config.xml" <<-END
	<yandex>
	<logger><level>warning</level><console>0</console>
	<log>$tmp/ch/log</log><errorlog>$tmp/ch/err</errorlog></logger>
	<http_port>$port</http_port><tcp_port>$tcp</tcp_port>
	<listen_host>127.0.0.1</listen_host>
	<path>$tmp/ch/data/</path><tmp_path>$tmp/ch/tmp/</tmp_path>
	<users_config>users.xml</users_config>
	<default_profile>default</default_profile>
	<default_database>default</default_database>
	<mark_cache_size>5368709</mark_cache_size>
	<timezone>UTC</timezone>
	</yandex>
	END
	cat >"$tmp/ch/users.xml" <<-END
	<yandex><profiles><default>
	<max_memory_usage>2000000000</max_memory_usage>
	</default></profiles>
	<users><default><password></password>
	<networks><ip>::/0</ip></networks>
	<profile>default</profile><quota>default</quota></default>
	<writer><password>open sesame</password>
	<networks><ip>::/0</ip></networks>
	<profile>default</profile><quota>default</quota></writer>
	</users><quotas><default></default></quotas></yandex>
	END
	store=clickhouse+http://127.0.0.1:$port/dtprof
	export store
}

store_answers()
{
	[ "$(curl -s "http://127.0.0.1:$port/ping")" = Ok. ]
}

store_start()
{
	need_cmd clickhouse-server curl python3
	[ -n "$port" ] || store_config
	if [ -n "$STORE_PYTHON" ]; then
		set -- "$STORE_PYTHON" \
		    "$SRC/tests/accept/current_clickhouse.py" "$port"
	else
		set -- clickhouse-server --config-file=config.xml
	fi
	(cd "$tmp/ch" && exec "$@" >>out 2>&1) &
	store_pid=$!
	kill_at_end "$store_pid"
	await "an answer of the store" store_answers
	[ -z "$STORE_PYTHON" ] || echo "version $(curl -s --data-binary \
	    "SELECT version()" "http://127.0.0.1:$port/")"
}

store_kill()
{
	kill -9 "$store_pid"
	wait "$store_pid" 2>/dev/null
}

# It starts the server again, where the one that was killed still holds the
# files.
store_proxy()
{
	echo "$store_pid" >server.pid
	cat >restart.sh <<-END
	. '$SRC/tests/lib.sh'
	. '$SRC/tests/interop/lib-store.sh'
	cd '$tmp/ch' || exit
	port=$port server=none
	restarted()
	{
		store_answers && return
		[ -e /proc/\$server/exe ] || {
			setsid clickhouse-server --config-file=config.xml \\
			    >>out 2>&1 </dev/null &
			server=\$!
			echo \$server >'$tmp/server.pid'
		}
		return 1
	}
	await "an answer of the store" restarted
	END
	at_end()
	{
		kill -9 "$(cat "$tmp/server.pid")" 2>/dev/null
	}
	python3 "$SRC/tests/interop/store_proxy.py" "$port" "$1" restart.sh \
	    >proxy.port 2>proxy.err &
	kill_at_end $!
	await "a port" test -s proxy.port
	proxy=clickhouse+http://127.0.0.1:$(cat proxy.port)/dtprof
	export proxy
}

sql()
{
	curl -s --data-binary "$1" "http://127.0.0.1:$port/?database=dtprof"
}
