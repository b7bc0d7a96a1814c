#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Of the user stacks of programs as the distribution ships them, at
# work, at least 99.5 % end where the process or the thread begins; of node,
# which makes code of its own, 98 %.
# TIMEOUT: 1800
#
# Easy to get wrong: a walk that ends early and says that it ended.  Where
# walks may end is read from the files by readelf.
#
# SAMPLES is how many each is to have (2000), ONLY the programs to look at.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd python3 perl sqlite3 git xz clang nginx ab redis-server \
    redis-benchmark readelf
tmpdir
samples=${SAMPLES:-2000}

bad=

# Record a process and all that it starts; a line of the table.
measure()	# name least percent [times 100] [ns]
{
	ms=$((samples * 3 / 2))
	record 0 -o a.dtp --duration ${ms}ms -e cpu-clock -c "${3:-100000}" \
	    -p "$worker"
	kill -- "-$worker" 2>/dev/null
	wait "$worker" 2>/dev/null
	python3 "$SRC/tests/kern/stacks.py" "$1" a.dtp >line || fail "$1"
	cat line
	awk -v least="$2" -v n="$samples" '
		$2 < n || $3 * 100 < least { exit 1 }' line || bad="$bad $1"
}

# Commands in the background, as a group of their own with all that they
# start; its number, which is their first process, in $group.
group_of()	# command ...
{
	setsid "$@" </dev/null 9>&- &
	group=$!
	kill_at_end "-$group"
}

# Is this program asked for?  Then $name is what it is called.
wanted()	# name
{
	[ -z "$ONLY" ] || case " $ONLY " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
	command -v "$1" >/dev/null || return 1
}

# A worker in the background, whose process is the program itself.
work_on()	# command ...
{
	group_of "$@" >/dev/null 2>work.err
	worker=$group
	await "$1 computes" computes "$worker"
}

computes()	# pid
{
	read -r stat <"/proc/$1/stat" || return 1
	# shellcheck disable=SC2086 # a list of numbers
	set -- ${stat##*) }
	[ $((${12} + ${13} + ${14} + ${15})) -gt 20 ]
}

cat >load.pl <<'PL'
while (1) {
	my %seen;
	my $text = join ",", map { $_ * 7919 % 10007 } 1 .. 3000;
	$seen{$_}++ for $text =~ /(\d+)/g;
	my @sorted = sort { $seen{$a} <=> $seen{$b} || $a <=> $b } keys %seen;
	$text =~ s/(\d)(\d)/$2$1/g;
	my $made = sprintf "%s %s", $text, scalar @sorted;
}
PL
cat >load.sql <<'SQL'
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 200000)
insert into t select i, hex(i * 7919), i * 0.5 from n;
create index tb on t(b);
with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 1000000000)
select count(*), max(t.b || n.i), avg(t.c) from n join t on
    t.a = n.i % 200000 group by t.b like '%' || (n.i % 100) || '%';
SQL
cat >load.js <<'JS'
for (;;) {
	const rows = [];
	for (let i = 0; i < 20000; i++)
		rows.push({ a: i * 7919 % 10007, b: 'x' + i });
	const text = JSON.stringify(rows);
	JSON.parse(text).sort((x, y) => x.a - y.a || (x.b < y.b ? -1 : 1));
	text.replace(/(\d)(\d)/g, '$2$1').match(/\d+/g)
	    .map(Number).reduce((x, y) => x + y, 0);
	const seen = new Map();
	for (const row of rows)
		seen.set(row.b, (seen.get(row.b) || 0) + row.a);
}
JS
cat >load.go <<'GO'
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"regexp"
	"sort"
	"strconv"
)

type row struct {
	A int
	B string
}

func work(digits *regexp.Regexp) {
	rows := make([]row, 2000)
	for i := range rows {
		rows[i] = row{i * 7919 % 10007, strconv.Itoa(i)}
	}
	text, _ := json.Marshal(rows)
	json.Unmarshal(text, &rows)
	sort.Slice(rows, func(i, j int) bool { return rows[i].A < rows[j].A })
	digits.FindAll(text, -1)
	var packed bytes.Buffer
	gz := gzip.NewWriter(&packed)
	gz.Write(text)
	gz.Close()
}

func main() {
	digits := regexp.MustCompile(`([0-9]+)`)
	for n := 0; n < 3; n++ {
		go func() {
			for {
				work(digits)
			}
		}()
	}
	for {
		work(digits)
	}
}
GO
sh "$SRC/tests/work/load_cxx.sh" 60 >load.cc

# Programs of our own first, longer than in check.
if [ -z "$ONLY" ]; then
	RUN=50 sh "$SRC/tests/kern/stacks-of-every-kind.sh" || exit 1
fi
echo "program               samples complete  other ends"
if wanted python3; then
	work_on /usr/bin/python3 "$SRC/tests/work/load.py"
	measure python3 9950
fi
if wanted perl; then
	work_on perl load.pl
	measure perl 9950
fi
if wanted sqlite3; then
	work_on sqlite3 :memory: ".read load.sql"
	measure sqlite3 9950
fi
if wanted git; then
	# shellcheck disable=SC2016 # for the other shell
	work_on sh -c 'while :; do git -C "$0" log -p --stat; done' "$SRC"
	measure git 9950
fi
if wanted xz; then
	tar -cf big.tar -C "$SRC" . -C /usr/include .
	work_on xz -9e -k -c big.tar
	measure xz 9950
fi
if wanted clang; then
	work_on sh -c 'while :; do clang++ -O2 -c -o load.o load.cc; done'
	measure clang 9950
fi
if wanted nginx; then
	cat >nginx.conf <<-CONF
	daemon off; worker_processes 2; pid $tmp/nginx.pid;
	error_log /dev/null crit; user root;
	events { worker_connections 256; }
	http { access_log off; gzip on; gzip_types *; gzip_comp_level 6;
	client_body_temp_path $tmp/b; proxy_temp_path $tmp/p;
	fastcgi_temp_path $tmp/f; uwsgi_temp_path $tmp/u;
	scgi_temp_path $tmp/s;
	server { listen unix:$tmp/unused; listen 127.0.0.1:18089;
	root $SRC; autoindex on; } }
	CONF
	group_of nginx -p "$tmp" -c nginx.conf >nginx.out 2>&1
	worker=$group
	await "nginx is there" test -s nginx.pid
	group_of sh -c 'while :; do
	    ab -q -c 8 -n 20000 -H "Accept-Encoding: gzip" \
	    http://127.0.0.1:18089/GNUmakefile; done' >/dev/null 2>&1
	load=$group
	measure nginx 9950 100000
	kill -- "-$load"
fi
if wanted redis-server; then
	group_of redis-server --port 18090 --save '' --appendonly no \
	    --dir "$tmp" >/dev/null 2>&1
	worker=$group
	await "redis answers" redis-cli -p 18090 ping
	group_of sh -c 'while :; do redis-benchmark -p 18090 -q -n 100000 -P 8 \
	    -t set,get,lpush,zadd,lrange_100; done' >/dev/null 2>&1
	load=$group
	measure redis-server 9950 100000
	kill -- "-$load"
fi
if wanted node; then
	work_on node load.js
	measure node 9800
fi
# Makes code that has neither tables nor, always, frame pointers: no aim.
if wanted go; then
	GOCACHE=$tmp/cache go build -o load-go load.go 2>go.err ||
	    fail "$(cat go.err)"
	work_on ./load-go
	measure go 0
fi
[ -z "$bad" ] || fail "too few whole stacks:$bad"
ok "stacks are whole"
