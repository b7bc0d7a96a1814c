#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: While a function is probed its first byte is a breakpoint; after
# the recording, and after the recorder was killed at any moment, the text of
# the process is what its file has, and the program goes on.
#
# Easy to get wrong: what the kernel takes back when descriptors are closed, it
# takes back from processes that map the file at that time, later than kill(1)
# returns.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd g++
tmpdir

g++ -O2 -o probed "$SRC/tests/work/probed/probed.cc" -ldl -pthread ||
    fail "g++"
gcc -O2 -shared -fPIC -o plug.so "$SRC/tests/work/probed/plug.c" ||
    fail "gcc"
mkfifo go
./probed 20 ./plug.so wait <go >said &
target=$!
kill_at_end $target
exec 9>go

# The first bytes of leaf, in the process and in the file.
cat >text.py <<'END'
import subprocess
import sys

pid, which = sys.argv[1:]
for line in subprocess.run(["nm", "probed"], capture_output=True, text=True,
                           check=True).stdout.splitlines():
    if line.endswith(" T leaf"):
        address = int(line.split()[0], 16)
base = None
for line in open("/proc/%s/maps" % pid):
    if line.rstrip().endswith("/probed"):
        base = int(line.split("-")[0], 16)
        break
with open("/proc/%s/mem" % pid, "rb") as mem:
    mem.seek(base + address)
    mapped = mem.read(16)
with open("probed", "rb") as file:
    file.seek(address)		# its text is where its addresses say
    there = file.read(16)
sys.exit(not {"probed": mapped[0] == 0xcc or mapped[:4] != there[:4],
              "own": mapped == there}[which])
END
[ "$(uname -m)" = x86_64 ] || skip "breakpoints of another machine"
await "its text is the file's" python3 text.py $target own

for kill in 1 2 3 4 5 6; do
	"$DTPROF" record -q -o a.dtp -e uprobe:./probed:leaf -p $target \
	    2>err 9>&- &
	recorder=$!
	kill_at_end "$recorder"
	if [ $kill -gt 4 ]; then
		await_recording "$recorder"
		python3 text.py $target probed || fail "no breakpoint"
	else
		sleep 0.0$((kill * 2))
	fi
	kill -9 "$recorder"
	wait "$recorder"
	await "its text is the file's, after kill $kill" \
	    python3 text.py $target own
done
ok "the text is the file's after each kill"

record_begin -o a.dtp -e uprobe:./probed:leaf -p $target
python3 text.py $target probed || fail "no breakpoint"
record_end 0
await "its text is the file's, at the end" python3 text.py $target own
echo go >&9
exec 9>&-
wait $target || fail "probed: $?"
grep -q '"leaf":' said || fail "it did not end well"
ok "and after a recording; the program went on"
