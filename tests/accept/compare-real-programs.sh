#!/bin/sh
# ASSERTION: of zlib, xz and sqlite3, built from Debian's sources with -O1 and
# with -O2, and with a loop planted in one function, compare names the planted
# function first and says of each function that changed what perf's own
# figures say: the same direction, and the same size within what runs differ;
# where it calls nothing changed, perf's total lies in its interval.
# TIMEOUT: 10800
. "${SRC:=$PWD}/tests/lib.sh"
. "$SRC/tests/accept/lib-compare.sh"
need_perf
need_cmd perf apt-get dpkg-source tclsh xz
tmpdir
# SIZE of the input: 6 are runs of MIN_SAMPLES samples and more.  ONLY: these
# programs.  Runs: with 10 a side, twice, some 60 functions of sqlite3 tested
# together and the other comparison, chance can just not be ruled out.
: "${ONLY:=zlib xz sqlite3}" "${RUNS:=12}" "${SIZE:=6}" "${MIN_SAMPLES:=3000}"

# A list of sources beside the machine's own lists of packages.
fetch()
{
	list=/etc/apt/sources.list.d/debian.sources
	[ -e "$list" ] || skip "no list of Debian's packages"
	mkdir -p parts lists/partial
	sed 's/^Types: deb$/Types: deb-src/' "$list" >parts/src.sources
	set -- -o Dir::Etc::sourcelist=/dev/null \
	    -o "Dir::State::lists=$PWD/lists" \
	    -o "Dir::Etc::sourceparts=$PWD/parts"
	apt-get "$@" update >apt.log 2>&1 &&
	    apt-get "$@" source zlib xz-utils sqlite3 >>apt.log 2>&1 ||
	    skip "apt-get source: $(tail -n 1 apt.log)"
	for name in zlib xz-utils sqlite3; do
		mv "$name"-*/ "$name" 2>/dev/null ||
		    mv "${name%-*}"-[0-9]*/ "$name" || fail "unpacking $name"
	done
}

# Behind the line of the definition, at its first brace, "{" or "){": a loop
# of n rounds.
plant()		# file pattern n
{
	awk -v pattern="$2" -v n="$3" '
	$0 ~ pattern { here = 1 }
	here && /^[)]?[{]/ {
		sub(/[{]/, "{ for (volatile int p_ = 0; p_ < " n \
		    "; p_++) continue;")
		here = 0
		planted++
	}
	{ print }
	END { exit(planted != 1) }' "$1" >planted.c || fail "planting in $1"
	cp "$1" "$1.orig"
	mv planted.c "$1"
}

# Three programs of each: o2, planted, o1.
build_zlib()	# output flags
{
	out=$1
	shift
	(cd zlib && $CC "$@" -DHAVE_UNISTD_H -I. -o "$out" ./*.c \
	    test/minigzip.c) >>cc.log 2>&1 || fail "zlib: $(tail -n 1 cc.log)"
}

build_xz()
{
	out=$1
	shift
	(cd xz-utils && { [ -e Makefile ] || ./configure --quiet \
	    --disable-shared --disable-nls --disable-doc --disable-scripts; } &&
	    make -C src/liblzma clean && make -C src/liblzma \
	    CFLAGS="$*" && rm -f src/xz/xz && make -C src/xz CFLAGS="$*" xz &&
	    cp src/xz/xz "$out") >>cc.log 2>&1 ||
	    fail "xz: $(tail -n 1 cc.log)"
}

build_sqlite3()
{
	out=$1
	shift
	(cd sqlite3 && { [ -e sqlite3.c ] ||
	    { ./configure --quiet && make sqlite3.c shell.c; }; } &&
	    $CC "$@" -DSQLITE_OMIT_LOAD_EXTENSION -o "$out" shell.c \
	    sqlite3.c -lm -lpthread) >>cc.log 2>&1 ||
	    fail "sqlite3: $(tail -n 1 cc.log)"
}

build()		# name file pattern n
{
	"build_$1" "$PWD/$1.o2" -O2 -no-pie
	"build_$1" "$PWD/$1.o1" -O1 -no-pie
	plant "$2" "$3" "$4"
	"build_$1" "$PWD/$1.planted" -O2 -no-pie
	mv "$2.orig" "$2"
}

# What was sampled, by perf; runs of the three in turns.  In user space alone,
# and addresses without names, which nm has: perf 6.1 may abort over build-ids.
perf_costs()	# name command-line
{
	rm -f "$1".*.perf
	for _ in $(seq "$RUNS"); do
		for kind in o2 planted o1; do
			sh -c "exec perf record -q -B -N -e cpu-clock:u -F 999 \
			    -o p.data -- ./$1.$kind $2" 2>perf.log ||
			    skip "perf: $(tail -n 1 perf.log)"
			perf script -i p.data -F period,ip 2>perf.log \
			    >script || skip "perf: $(tail -n 1 perf.log)"
			cat script >>"$1.$kind.perf"
		done
	done
}

cat >agree.py <<'END2'
# Of the functions that compare calls changed: what does perf say?
import bisect, collections, json, re, subprocess, sys
name, kind, runs = sys.argv[1], sys.argv[2], int(sys.argv[3])
def costs(kind):
    symbols = []
    for line in subprocess.run(["nm", "-n", f"{name}.{kind}"], text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        address, letter, symbol = line.rsplit(None, 2) if line[0] != " " \
            else ("0", "U", "")
        if letter in "tTwWi":
            symbols.append((int(address, 16), symbol))
    cost = collections.Counter()
    for line in open(f"{name}.{kind}.perf"):
        period, ip = line.split()[:2]
        n = bisect.bisect(symbols, (int(ip, 16), "~")) - 1
        symbol = symbols[n][1] if 0 <= n and int(ip, 16) < 1 << 32 else "?"
        cost[re.sub(r"(\.(isra|constprop|part|cold)(\.\d+)?)+$", "",
                    symbol)] += int(period) / runs
    return cost
base, new = costs("o2"), costs(kind)
total = sum(base.values())
pair = [c for c in json.load(open(name + ".json"))["comparisons"]
        if c["new"] == kind][0]
changed = [f for f in pair["functions"]
           if f["verdict"] in ("costs less", "costs more", "faster",
               "slower")]
print(f"{name}, {kind}: total {100 * pair['total']['change']:+.1f} %, "
      f"perf {100 * (sum(new.values()) / total - 1):+.1f} %")
bad = 0
for f in sorted(changed, key=lambda f: -abs(f["change"]))[:5]:
    theirs = (new[f["name"]] - base[f["name"]]) / total
    ok = theirs * f["change"] > 0 and \
        abs(theirs - f["change"]) <= max(0.01, 0.25 * abs(f["change"]))
    bad += not ok
    print(f"  {f['name']}: {100 * f['change']:+.2f} % of the total, "
          f"perf {100 * theirs:+.2f} %{'' if ok else ': DISAGREE'}")
first = pair["functions"][0]["name"] if pair["functions"] else ""
if len(sys.argv) > 4 and (first != sys.argv[4] or
                          not any(f["name"] == first for f in changed)):
    print(f"  first is {first}, where {sys.argv[4]} must be called changed")
    bad += 1
if kind != "planted" and not changed:
    # Optimising may change next to nothing; then perf must see no more.
    low, high = pair["total"]["ci95"]
    bad += not low - 0.01 <= sum(new.values()) / total - 1 <= high + 0.01
    print(f"  nothing is called changed: {100 * low:+.1f} to "
          f"{100 * high:+.1f} %{': DISAGREE' if bad else ''}")
sys.exit(bad > 0 or (kind == "planted" and not changed))
END2

check()		# name command-line planted
{
	perf_costs "$1" "$2"
	"$DTPROF" bench --record -S -w 1 -r "$RUNS" -n o2 -n planted -n o1 \
	    -o "$1.bench" "exec ./$1.o2 $2" "exec ./$1.planted $2" \
	    "exec ./$1.o1 $2" >bench.log 2>&1 || fail "$(tail -n 2 bench.log)"
	"$DTPROF" compare --json "$1.bench" >"$1.json" || fail "compare"
	"$DTPROF" report --json "$1.bench/b00000-a-1.dtp" >report ||
	    fail "report"
	samples=$(json report 'sum(f["samples"] for f in j["functions"])')
	[ "$samples" -ge "$MIN_SAMPLES" ] ||
	    fail "$1: $samples samples in a run are too few"
	python3 agree.py "$1" planted "$RUNS" "$3" || fail "$1, planted"
	python3 agree.py "$1" o1 "$RUNS" || fail "$1, -O1"
	ok "$1: planted and -O1, as perf says"
}

fetch
build zlib zlib/trees.c '^local void compress_block\(s, ltree' 800000
build xz xz-utils/src/liblzma/lzma/lzma_encoder.c '^lzma_lzma_encode\(' 300000
build sqlite3 sqlite3/sqlite3.c '^SQLITE_PRIVATE int sqlite3BtreeInsert\($' 120
cat sqlite3/sqlite3.c sqlite3/shell.c >source
for _ in $(seq "$SIZE"); do
	cat source
done >text
cat text text text >text3
cat >load.sql <<END2
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n
    where i < 400000 * $SIZE)
insert into t select i, hex(i * 7919 % 100003), i * 0.5 from n;
create index tb on t(b);
select count(*), sum(c) from t where b > '33';
select b, count(*) from t group by b order by 2 desc limit 5;
END2
for program in $ONLY; do
	case $program in
	zlib)	check zlib '<text3 >/dev/null' compress_block ;;
	xz)	check xz '-1 -T1 -c <text >/dev/null' lzma_lzma_encode ;;
	sqlite3)
		check sqlite3 ':memory: <load.sql >/dev/null' \
		    sqlite3BtreeInsert ;;
	*)	fail "no program $program" ;;
	esac
done
