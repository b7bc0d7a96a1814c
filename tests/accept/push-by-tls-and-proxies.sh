#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: push and report speak TLS with a real ClickHouse server whose
# certificate the system trusts, and only then: with one of an unknown
# authority, or for another name, no request is made; by a real proxy
# (tinyproxy) of http_proxy and https_proxy they do the same, which gets no
# password and no request of what TLS carries; no_proxy goes past it.
# Easy to get wrong: a child without rights that cannot read certificates; a
# library that trusts everybody.
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/interop/lib-store.sh"
need_root
need_cmd clickhouse-server curl openssl python3 unshare
tmpdir
tinyproxy=$(command -v tinyproxy)
if [ -z "$tinyproxy" ]; then
	mkdir deb
	(cd deb && apt-get -qq download tinyproxy-bin >apt.log 2>&1 &&
	    dpkg-deb -x ./*.deb .) ||
	    skip "no tinyproxy: $(tail -1 deb/apt.log)"
	tinyproxy=$tmp/deb/usr/bin/tinyproxy
fi

certificate()	# name: NAME.crt of localhost, by the authority NAME.ca
{
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj "/CN=$1" \
	    -keyout "$1.ca.key" -out "$1.ca" 2>/dev/null &&
	    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost \
	    -keyout "$1.key" -out "$1.csr" 2>/dev/null &&
	    echo subjectAltName=DNS:localhost >"$1.ext" &&
	    openssl x509 -req -days 2 -in "$1.csr" -CA "$1.ca" \
	    -CAkey "$1.ca.key" -CAcreateserial -extfile "$1.ext" \
	    -out "$1.crt" 2>/dev/null || fail "no certificate"
}
certificate known
certificate unknown
store_config
tls=$(store_free_port)
cp known.crt known.key ch
sed -i "s#<http_port>#<https_port>$tls</https_port><openSSL><server>\
<certificateFile>known.crt</certificateFile>\
<privateKeyFile>known.key</privateKeyFile>\
<verificationMode>none</verificationMode>\
<loadDefaultCAFile>false</loadDefaultCAFile></server></openSSL>&#" \
    ch/config.xml
store_start
curl -s --cacert known.ca "https://localhost:$tls/ping" | grep -q Ok. ||
    skip "this server does not speak TLS"
secure=clickhouse+https://writer@localhost:$tls/dtprof
printf 'open sesame\n' >password

# The system's list of authorities is this one, for a command.
trusting()	# authority command ...
{
	trusted=$1
	shift
	unshare -m sh -c 'mount --bind "$0" \
	    /etc/ssl/certs/ca-certificates.crt && exec "$@"' \
	    "$tmp/$trusted.ca" "$@"
}
sums()
{
	sql "SELECT event, sum(n), sum(n * weight) FROM samples WHERE attempt
	    IN (SELECT min(attempt) FROM accounts GROUP BY recording, batch)
	    GROUP BY event ORDER BY event FORMAT TabSeparated"
}
has_no_tables()
{
	[ "$(curl -s --data-binary "EXISTS TABLE dtprof.samples" \
	    "http://127.0.0.1:$port/")" = 0 ]
}
cp "$SRC/tests/report/known.dtp" a.dtp
"$DTPROF" script --json a.dtp 2>/dev/null | store_sums >want

expect 1 trusting unknown "$DTPROF" store init --secret-file password "$secure"
expect_err 'certificate'
has_no_tables || fail "asked a server that nobody knows"
expect 1 trusting known "$DTPROF" store init --secret-file password \
    "clickhouse+https://writer@127.0.0.1:$tls/dtprof"
expect_err 'certificate|name'
has_no_tables || fail "asked a server of another name"
ok "servers that are not known, or are others, are asked nothing"

expect 0 trusting known "$DTPROF" store init --secret-file password "$secure"
expect 0 trusting known "$DTPROF" push --secret-file password "$secure" a.dtp
sums | cmp want - || fail "sums: $(cat want; sums)"
"$DTPROF" report a.dtp >want.report 2>/dev/null
trusting known "$DTPROF" report --secret-file password "$secure" \
    >got.report 2>err || fail "$(cat err)"
cmp want.report got.report || fail "$(diff want.report got.report)"
ok "by TLS: $(tr '\t\n' '  ' <want)"

proxy=$(store_free_port)
printf 'Port %s\nListen 127.0.0.1\nLogFile "%s"\nLogLevel Info\n' "$proxy" \
    "$tmp/proxy.log" >proxy.conf
"$tinyproxy" -d -c proxy.conf >proxy.out 2>&1 &
kill_at_end $!
# What the proxy gets and gives is kept.
cat >keep.py <<'END'
import socket, socketserver, sys, threading

def copy(source, to):
    while data := source.recv(65536):
        with open("kept", "ab") as kept:
            kept.write(data)
        to.sendall(data)
    to.shutdown(socket.SHUT_WR)

class Keeper(socketserver.BaseRequestHandler):
    def handle(self):
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as to:
            back = threading.Thread(target=copy, args=(to, self.request))
            back.start()
            copy(self.request, to)
            back.join()

server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Keeper)
print(server.server_address[1], flush=True)
server.serve_forever()
END
python3 keep.py "$proxy" >keep.port 2>keep.err &
kill_at_end $!
await "a port" test -s keep.port
password=$(printf 'writer:open sesame' | base64)
through()	# command ...: by the proxy
{
	(http_proxy=http://127.0.0.1:$(cat keep.port) https_proxy=$http_proxy
	export http_proxy https_proxy
	"$@")
}
await "a proxy" curl -s -x "http://127.0.0.1:$proxy" \
    "http://127.0.0.1:$port/ping"
for url in "$secure" "clickhouse+http://writer@127.0.0.1:$port/dtprof"; do
	for table in stacks samples accounts; do
		sql "DROP TABLE $table"
	done
	: >proxy.log
	: >kept
	expect 0 through trusting known "$DTPROF" store init \
	    --secret-file password "$url"
	expect 0 through trusting known "$DTPROF" push --secret-file password \
	    "$url" a.dtp
	sums | cmp want - || fail "by the proxy: $(cat want; sums)"
	case $url in
	*https*) method=CONNECT open=false ;;
	*) method=POST open=true ;;
	esac
	[ "$(grep -c "Request .*$method" proxy.log)" -ge 5 ] ||
	    fail "not by the proxy: $(cat proxy.log)"
	for text in "$password" 'INSERT.*samples'; do
		has=false
		! grep -aq "$text" kept || has=true
		[ $has = $open ] || fail "the proxy got $text: $has"
	done
	ok "by a proxy: $(grep -c "Request .*$method" proxy.log) of $method"
done
: >proxy.log
expect 0 through env no_proxy=127.0.0.1 "$DTPROF" store status \
    --secret-file password "clickhouse+http://writer@127.0.0.1:$port/dtprof"
[ ! -s proxy.log ] || fail "no_proxy: $(cat proxy.log)"
ok "no_proxy goes past it"
