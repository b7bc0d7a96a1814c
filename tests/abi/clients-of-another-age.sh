#!/bin/sh
# ASSERTION: a program that was compiled when the structs of prof.h ended
# earlier, and one that was compiled when they will end later, get the same
# answers from this libprof.so.0, and nothing is written behind what they know;
# a newer one that sets an option of the future is refused with the name of the
# struct.  Easy to get wrong by a struct that the library fills as it knows it.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd gcc python3
tmpdir
printf 'main;a;b 7\nmain;c 5\n' >folded

build()		# name directory flags ...
{
	build_name=$1 build_dir=$2
	shift 2
	gcc -std=gnu11 -Wall -Wextra -Werror "$@" -I"$build_dir" \
	    -o "$build_name" "$SRC/tests/interop/client.c" \
	    "$B/libprof.so.0" || fail "$build_name"
}

run()		# name
{
	LD_LIBRARY_PATH=$B "./$1" "$SRC/tests/report/known.dtp" folded out.dtp \
	    >"$1.out" 2>&1
}

python3 "$SRC/tests/interop/headers.py" "$SRC/libprof" older older >structs ||
    fail "older headers"
python3 "$SRC/tests/interop/headers.py" "$SRC/libprof" newer newer >structs ||
    fail "newer headers"
build today "$SRC/libprof"
run today || fail "$(tail -3 today.out)"
[ "$(wc -l <today.out)" -ge 20 ] || fail "$(cat today.out)"

build old older
run old || fail "older: $(tail -3 old.out)"
diff today.out old.out || fail "an older program gets other answers"
ok "a program of structs cut off at their end"

build new newer -DNEWER '-DASK=""'
run new || fail "newer: $(tail -3 new.out)"
diff today.out new.out || fail "a newer program gets other answers"
ok "a program of longer structs that asks for nothing new"

grep options structs >options
[ "$(wc -l <options)" -eq 7 ] || fail "$(cat options)"
while read -r struct; do
	build ask newer -DNEWER "-DASK=\"$struct\""
	run ask
	[ $? -eq 3 ] || fail "$struct: not refused: $(tail -3 ask.out)"
	tail -1 ask.out | grep -q "^refused: E_USAGE: .* of struct $struct;" ||
	    fail "$struct: $(tail -1 ask.out)"
done <options
ok "$(wc -l <options) structs: what is unknown is refused by their name"
