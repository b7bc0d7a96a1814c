#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: annotate takes a pattern for the function: of those that match, by
# name or with their module, it shows the one with the most samples, with
# --total the one with most below it, and says which others match; a name that
# holds * is still a name; time is in units that people read.
# Easy to get wrong: a pattern that also matches what nobody sampled, and a
# function that calls itself, which is in a stack several times.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
cat >write.py <<'PY'
stacks = [(["main", "parse_all", "parse_number"], 50),
          (["main", "parse_all", "parse_text"], 30),
          (["main", "parse_all"], 5), (["main", "operator*"], 10),
          (["main", "render"], 20),
          (["main"] + 3 * ["re_enter"], 12)]
address = {name: 0x401000 + 256 * n for n, name in enumerate(
    sorted({f for path, _ in stacks for f in path}))}
time = 0
with open("x.txt", "w") as file:
    for path, samples in stacks:
        for _ in range(samples):
            time += 1
            file.write("prog 7 [000] 1.%06d: 1000000 cpu-clock: \n" %
                       (1000 * time))
            for f in reversed(path):
                file.write("\t%x %s+0x4 (/bin/prog)\n" % (address[f] + 4, f))
            file.write("\n")
PY
python3 write.py || fail "no samples"
shows()		# function, its figures: of annotate ...
{
	shows=$1 has=$2
	shift 2
	expect 0 "$DTPROF" annotate "$@" x.txt
	case $(head -n 2 out | tr '\n' ' ') in
	"$shows  "*" $has of CPU time"*) ;;
	*)	fail "annotate $*: $(head -n 3 out)" ;;
	esac
}
shows parse_number '50.00 ms' 'parse_*'
expect_err "'parse_\*' matches 3 functions: .* other matches: parse_text, \
parse_all"
expect_out '^\* 100\.00  50\.00 ms +50 ' 'units'
! grep -q 50000000 out || fail "nanoseconds: $(cat out)"
shows parse_all '85.00 ms' --total 'parse_*'
shows parse_text '30.00 ms' 'parse_[st]*'
! grep -q matches err || fail "one function: $(cat err)"
shows render '20.00 ms' '*nde?'
shows parse_number '50.00 ms' 'prog:parse_n*'
shows render '20.00 ms' --total 're*'
expect_err "'re\*' matches 2 functions: .* other matches: re_enter$" two
shows parse_number '50.00 ms' '*[nm]*'
expect_err "other matches: .*, main" 'one that was only a caller'
shows 'operator*' '10.00 ms' 'operator*'
! grep -q matches err || fail "a name taken for a pattern: $(cat err)"
ok "the heaviest function that matches, and the names of others"
expect 1 "$DTPROF" annotate 'x*' x.txt
expect_err "'x\*' matches no function"
expect 1 "$DTPROF" annotate 'other:parse*' x.txt
ok "a pattern that matches nothing is refused"
