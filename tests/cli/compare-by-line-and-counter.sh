#!/bin/sh
# ASSERTION: by line, compare names the line that was made to cost more, by
# the number it has in what is new, and lines that only moved are the same; by
# module it names the program; profiles of pprof of the same runs say the same
# as the recordings, function by function.
# Page faults are counted one by one, so what each line costs is known.
# Easy to get wrong: lines above it that were added, so that all are new.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_bpf	# an ordinary user's rings lose most of these faults
tmpdir
mkdir old new
cat >old/prog.c <<'END'
#include <sys/mman.h>
int main(void)
{
	char *a = mmap(0, 40 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(a, 40 << 20, MADV_NOHUGEPAGE);
	for (long i = 0; i < 2000; i++)
		a[i << 12] = 1;			/* grows */
	for (long i = 5000; i < 7000; i++)
		a[i << 12] = 1;			/* stays */
	return (0);
}
END
{
	printf '/*\n * Five\n * lines\n * more.\n */\n'
	sed 's/i < 2000/i < 4000/' old/prog.c
} >new/prog.c
for side in old new; do
	${CC:-cc} -g -O1 -o "$side/prog" "$side/prog.c" ||
	    fail cc
done
# In turns, so that what the machine has in its cache changes for both.
for run in 1 2 3 4 5 6 7; do
	for side in old new; do
		"$DTPROF" record -q -e cpu-clock -e page-faults \
		    -o "$side$run.dtp" -- "$side/prog" ||
		    fail record
	done
done
grows=$(grep -n grows new/prog.c | cut -d: -f1)
stays=$(grep -n stays new/prog.c | cut -d: -f1)
named()		# what was called changed
{
	json out '" ".join("%s=%s" % (f["name"], f["verdict"]) for f in
	    j["comparisons"][0]["functions"] if f["verdict"] in
	    ("costs more", "costs less"))'
}
compare()	# arguments
{
	expect 0 "$DTPROF" compare --json -e page-faults "$@" old?.dtp -- \
	    new?.dtp
}
compare --by line
[ "$(named)" = "main prog.c:$grows=costs more" ] || fail "by line: $(named)"
[ "$(json out '"%g" % max(f["mean"][1] for f in
    j["comparisons"][0]["functions"])')" = 4000 ] || fail "4000 faults"
[ "$(json out '[f["verdict"] for f in j["comparisons"][0]["functions"]
    if f["name"] == "main prog.c:'"$stays"'"]')" = "['no change']" ] ||
    fail "line $stays has moved, and is not the same"
compare --by module
[ "$(named)" = "prog=costs more" ] || fail "by module: $(named)"
expect 0 "$DTPROF" compare --by line -e page-faults old?.dtp -- new?.dtp
expect_out "of it main prog.c:$grows [0-9]+%\$" 'explained'
expect 1 "$DTPROF" compare -e no-such-event old?.dtp -- new?.dtp
expect_err 'no such event in this recording' 'an event that there is not'
ok "line $grows costs more, line $stays has only moved; by module: prog"

for side in old new; do
	for run in 1 2 3 4 5 6 7; do
		"$DTPROF" export --inline --format pprof \
		    -o "$side$run.pb.gz" \
		    "$side$run.dtp" 2>/dev/null || fail export
	done
	strict_pprof "$side"?.pb.gz
done
compare
json out '[(f["name"], f["mean"], f["p"]) for f in
    j["comparisons"][0]["functions"]]' >wanted
expect 0 "$DTPROF" compare --json -e page-faults old?.pb.gz -- new?.pb.gz
json out '[(f["name"], f["mean"], f["p"]) for f in
    j["comparisons"][0]["functions"]]' | cmp - wanted ||
    fail "profiles of pprof say something else"
head -c 300 old1.pb.gz >cut.pb.gz
expect 1 "$DTPROF" compare cut.pb.gz -- new1.pb.gz
expect_err 'is truncated or damaged' 'a pprof file that was cut'
ok "profiles of pprof of the same runs say the same"

# A function that one build calls and the other has inlined.
cat >inline.c <<'END'
#include <sys/mman.h>
static HOW void touch(char *a, long n)
{
	for (long i = 0; i < n; i++)
		a[i << 12] = 1;
}
int main(void)
{
	char *a = mmap(0, 8 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(a, 8 << 20, MADV_NOHUGEPAGE);
	touch(a, 1000);
	touch(a + (4 << 20), 1000);
	return (0);
}
END
for how in noinline always_inline; do
	inline=$([ $how = noinline ] || echo inline)
	${CC:-cc} -g -O1 -DHOW="__attribute__(($how)) $inline" -o inlined \
	    inline.c || fail cc
	"$DTPROF" record -q -e page-faults -o $how.dtp -- ./inlined ||
	    fail record
done
expect 0 "$DTPROF" compare noinline.dtp -- always_inline.dtp
expect_out ' inlined now +touch$' 'inlined'
expect 0 "$DTPROF" compare always_inline.dtp -- noinline.dtp
expect_out ' not inlined +touch$' 'not inlined'
ok "a function that was inlined is said to be"
