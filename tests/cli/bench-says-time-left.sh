#!/bin/sh
# ASSERTION: on a terminal bench says which run it is at, of how many, of which
# command, and for how long it will go on; all of it is erased before the
# result, and a file sees nothing of it.
# Easy to get wrong: runs that were there already counted as done in no time.
. "${SRC:=$PWD}/tests/lib.sh"
need_cmd python3
tmpdir
term="$SRC/tests/cli/term.py"
cat >lines.py <<'END2'
import re, sys
text = open("out", "rb").read().decode()
at = re.findall(r"(warm-up|run) (\d+) of (\d+)  sleep 0\.[12]  "
                r"(\?|\d+ s|\d+ min \d+ s) left", text)
assert len(at) >= 3, text
assert {int(total) for _, _, total, _ in at} == {int(sys.argv[1])}, at
numbers = [int(n) for _, n, _, _ in at]
assert numbers == sorted(set(numbers)) and numbers[-1] <= int(sys.argv[1]), at
assert at[0][3] == "?" and any(left != "?" for *_, left in at), at
assert not re.search(r"left", text[text.rindex("base  "):]), text
print(len(at))
END2
expect 0 python3 "$term" 100 "$DTPROF" bench -w 1 -r 5 -o d 'sleep 0.1' \
    'sleep 0.2'
n=$(python3 lines.py 12) || fail "what the terminal saw"
# And only what is missing, when it goes on.
expect 0 python3 "$term" 100 "$DTPROF" bench -w 0 -r 9 -o d
m=$(python3 lines.py 8) || fail "what the terminal saw of the rest"
ok "$n and $m lines with the time left"
expect 0 "$DTPROF" bench -w 0 -r 5 -o f 'sleep 0.1' 'sleep 0.2'
! grep -q ' left' out err || fail "a file sees it"
ok "a file sees nothing of it"
