#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: of Debian's sqlite3 what is allocated in all, and what is held at
# the end, is to the byte what valgrind says of a second run; a leak planted in
# it is found below the function that leaks, to the byte but for what was leaked
# before the unwind tables of a program that has just begun were there, and said
# to be; with an interval of 4K both are right within what sampling allows.
# TIMEOUT: 300
#
# Easy to get wrong: what sqlite3 keeps in its page cache is no leak, but held;
# valgrind frees what the C library holds unless it is told not to.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
. "$SRC/tests/accept/lib-alloc.sh"
need_recording
need_cmd gcc valgrind sqlite3
tmpdir

plant_make sqlite3_step int 'void *statement' statement
cat >sql <<'END'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x+1 from c where x<20000)
    insert into t select x, printf('%020d', x * 7919) from c;
create index i on t(b);
select count(*), sum(length(b)) from t where b like '%1%';
select a from t where a < 5000;
END
cat >run.sh <<END
LD_PRELOAD=$tmp/plant.so\${LD_PRELOAD:+:\$LD_PRELOAD} PLANTED=$tmp/planted \\
    exec sqlite3 :memory: <$tmp/sql >/dev/null
END

valgrind --leak-check=no --run-libc-freeres=no --trace-children=yes \
    sh run.sh 2>heap || fail "valgrind: $(cat heap)"
total=$(sed -n 's/,//g;s/.*frees \([0-9]*\) bytes allocated$/\1/p' heap |
    tail -n 1)
held=$(sed -n 's/,//g;s/.*in use at exit: \([0-9]*\) bytes.*/\1/p' heap |
    tail -n 1)
planted=$(cat planted)
[ "$total" -gt 0 ] && [ "$held" -gt "$planted" ] || fail "$(cat heap)"
for interval in 1 4K; do
	record 0 -e alloc/interval=$interval/ -o $interval.dtp -- sh run.sh
	[ "$(cat planted)" = "$planted" ] || fail "it leaked $(cat planted)"
done
is_total=$(sum 1.dtp .) is_held=$(sum 1.dtp . --held)
leak=$(sum 1.dtp ';planted_leak;' --held)
cut=$(sum 1.dtp 'not known' --held)
echo "total $is_total, held $is_held, planted $planted: $leak, no callers $cut"
[ "$is_total" -eq "$total" ] || fail "valgrind: $total bytes"
[ "$is_held" -eq "$held" ] || fail "valgrind: $held bytes held"
[ "$leak" -le "$planted" ] && [ "$leak" -ge $((planted - cut)) ] &&
    [ "$leak" -ge $((planted / 100 * 95)) ] || fail "the leak"
ok "sqlite3 allocated $total bytes and held $held, as valgrind says"
ok "of $planted bytes planted $leak are below planted_leak"
py <<END || fail "see above"
import recording as rec
for what, got, true in (("total", $(sum 4K.dtp .), $total),
                        ("held", $(sum 4K.dtp . --held), $held)):
    rec.check(abs(got - true) < 5 * (true * 4096) ** 0.5, "%s: %d, not %d" %
              (what, got, true))
    rec.ok("with an interval of 4K %s %d, not far from %d" % (what, got, true))
END
