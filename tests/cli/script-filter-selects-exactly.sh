#!/bin/sh
# ASSERTION: script --filter prints exactly the samples for which the
# expression holds, --event exactly those of its event, --show just the
# records named, and what record --filter stores is what script --filter
# prints.  Easy to get wrong for the name of a thread, which changes.
. "${SRC:=$PWD}/tests/lib.sh"
need_bpf
need_root
need_cmd python3
tmpdir
cat >run.sh <<'END'
dd if=/dev/zero of=/dev/null bs=1 count=100 2>/dev/null
dd if=/dev/zero of=/dev/null bs=3 count=50 2>/dev/null
cat /etc/passwd >/dev/null
END
expect 0 "$DTPROF" record -q -o all.dtp -e syscalls:sys_enter_read \
    -e syscalls:sys_enter_write -- sh run.sh
expect 0 "$DTPROF" script --json all.dtp
cp out all.json
agree()		# filter, the same in Python
{
	expect 0 "$DTPROF" script --json --filter "$1" all.dtp
	python3 - "$2" <<'END' || fail "$1"
import json, sys
def load(name):
    return [json.loads(line) for line in open(name)]
want = [r for r in load('all.json') if r['type'] == 'sample' and
    eval(sys.argv[1], {}, dict(r, **r.get('args', {})))]
got = [r for r in load('out') if r['type'] == 'sample']
assert want, 'nothing to find'
assert len(want) < len(load('all.json')), 'everything'
assert got == want, '%d not %d' % (len(got), len(want))
print('%d samples' % len(got))
END
	ok "$1"
}
agree 'comm=="dd"' 'comm == "dd"'
agree 'comm!="dd" && count > 1' 'comm != "dd" and count > 1'
agree 'comm=="dd" && count==3' 'comm == "dd" and count == 3'
agree 'comm=="cat" || comm=="dd" && count==3' \
    'comm == "cat" or comm == "dd" and count == 3'
expect 0 "$DTPROF" script --json -e '*enter_write' --show samples all.dtp
[ "$(json_lines out '{r["event"] for r in j}')" = \
    "{'syscalls:sys_enter_write'}" ] || fail "--event"
ok "--event"
expect 0 "$DTPROF" script --json --show process-events all.dtp
[ "$(json_lines out '{r["type"] for r in j} <= {"fork", "exec", "exit",
    "comm", "task"} and len(j) > 5')" = True ] || fail "--show process-events"
ok "--show process-events"
expect 0 "$DTPROF" record -q -o some.dtp -e syscalls:sys_enter_read \
    -e syscalls:sys_enter_write --filter 'comm=="dd" && count==3' -- sh run.sh
expect 0 "$DTPROF" script --no-symbols --show samples some.dtp
kernel=$(wc -l <out)
expect 0 "$DTPROF" script --no-symbols --show samples \
    --filter 'comm=="dd" && count==3' \
    all.dtp
[ "$kernel" -eq 100 ] && [ "$(wc -l <out)" -eq 100 ] ||
    fail "100 calls: the kernel took $kernel, script $(wc -l <out)"
ok "the kernel's filter and script's agree"
expect 1 "$DTPROF" script --filter 'nosuch==1' all.dtp
expect_err 'column 1'
expect 1 "$DTPROF" script --event nosuch all.dtp
expect_err 'nosuch'
ok "a filter or event that fits nothing is refused"
