#!/bin/sh
# ASSERTION: a terminal shows a line with samples, rate, lost and size, not
# more than five times a second, erased before anything else is printed; a
# file sees nothing of it, and -q nothing at all.  Easy to get wrong where the
# terminal is narrow and the line wraps.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
need_root
need_cmd python3
tmpdir
term="$SRC/tests/cli/term.py"
record="$DTPROF record -a -e cpu-clock -o x.dtp --duration 900ms"
# shellcheck disable=SC2086 # words
{
expect 0 python3 "$term" 100 $record
python3 - out <<'END' || fail "$(cat -v out)"
import re, sys
text = open(sys.argv[1], 'rb').read().decode()
text = text.split('\n', 1)[1]          # the echo of our newline
shown = re.findall(r'\r\x1b\[K([^\r]*)\r(?!\n)', text)
lines = [s for s in shown if s]
assert lines, 'no status line'
seconds = float(lines[-1].split()[0])
assert len(lines) <= seconds * 5 + 1, '%d in %f s' % (len(lines), seconds)
for s in lines:
    assert re.fullmatch(r'[\d.]+ s  \d+ samples  \d+/s  \d+ lost  [\d.]+ '
        r'[kMGT]?B', s), s
last = text.rindex('\x1b[K')
assert 'dtprof: record: ' in text[last:], 'the summary is not behind it'
assert 'dtprof: record: ' not in text[:last], 'printed into the line'
END
ok "at most five times a second, erased at the end"
expect 0 python3 "$term" 20 $record
python3 - out <<'END' || fail "$(cat -v out)"
import re, sys
text = open(sys.argv[1], 'rb').read().decode()
lines = [s for s in re.findall(r'\r\x1b\[K([^\r]*)\r(?!\n)', text) if s]
assert lines and max(map(len, lines)) < 20, lines
END
ok "a narrow terminal gets a short line"
expect 0 $record
grep -q "$(printf '\033')" err && fail "escapes in a file: $(cat -v err)"
# And a hint behind it where samples were lost, a note of what others do.
grep -v -e '^dtprof: hint: dtprof report --stats' -e ': note: ' err >summary
[ "$(wc -l <summary)" -eq 1 ] || fail "more than the summary: $(cat err)"
ok "a file sees the summary alone"
expect 0 python3 "$term" 100 $record -q
[ "$(tr -d '\r\n' <out | wc -c)" -eq 0 ] || fail "-q: $(cat -v out)"
ok "-q prints nothing"
}
