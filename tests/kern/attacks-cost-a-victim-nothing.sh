#!/bin/sh
# ASSERTION: whatever an ordinary user does beside a recording of the whole
# machine, by leases, floods of programs and of perf maps, storms of mappings
# and forks, hostile ELF files, links, FIFOs and a PID namespace: of another
# process's calls all are stored or counted as lost, to the unit of its own
# count, at least 99 % are stored, and its program and the recorder's last word
# are as without.  A program whose debug information says that it was compiled
# from /etc/shadow has root see nothing of that.
#
# Easy to get wrong: each of these made the recorder wait, or take memory, in
# the thread that empties the rings.  All at once; with ATTACK_S also each by
# itself, for so many seconds.
. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd unshare objcopy
tmpdir
mkdir -m 777 theirs
cp "$work/attacks" "$work/storms" theirs/
objcopy --strip-debug "$work/spin" theirs/small || fail "objcopy"
cp "$SRC"/tests/fuzz/corpus/symbols/elf-* "$work/known" theirs/
chmod 755 theirs/*
cat >named.c <<'END'
#line 1 "/etc/shadow"
int named_so(void)
{
	volatile unsigned n = 0;
	while (n < 40000000) n++;
	return (n != 0);
}
int main(void)
{
	return (!named_so());
}
END
"${CC:-cc}" -g -O0 -Wl,--build-id -o theirs/named named.c || fail "cc"
cat >theirs/dwarf.sh <<'END'
cp named mine
while :; do ./mine; done
END
cat >theirs/all.sh <<'END'
for kind in lease maps links; do ./attacks $kind & done
sh dwarf.sh &
for kind in mmap fork; do ./storms $kind & done
(mkdir -p a && cd a && ../attacks modules ../small) &
(mkdir -p b && cd b && ../attacks fifos ../small) &
./attacks hostile ./elf-b ./elf-e ./elf-l ./elf-m ./known &
wait
END

# The attacker has a /tmp of his own, where nothing is left behind.
attack()	# name command ...
{
	attack_name=$1
	shift
	record_begin -o a.dtp -a -F 997 -e cpu-clock \
	    -e syscall::getpriority:entry
	"$work/attacks" victim >count &
	victim=$!
	# shellcheck disable=SC2016 # another shell's
	(cd theirs && exec unshare -m sh -c 'mount -t tmpfs none /tmp &&
	    exec setpriv --reuid=1234 --regid=1234 --clear-groups \
	    --inh-caps=-all timeout -s KILL "$@"' sh "${ATTACK_S:-2}" "$@") \
	    >/dev/null 2>&1
	kill -TERM "$victim"
	wait "$victim" || fail "$attack_name: the victim"
	record_end 0
	"$DTPROF" report --stats a.dtp >stats || fail "$attack_name: --stats"
	py "$attack_name" "$victim" "$(cat count)" <<'END'
import sys
import recording as rec

name, pid, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rows = rec.balance("a.dtp")
row = next(rows[key] for key in rows if "getpriority" in key)
stored = sum(sample["pid"] == pid and "getpriority" in sample["event"]
             for sample in rec.samples("a.dtp"))
lost = row["full"] + row["nested"] + row["error"]
rec.check(stored + lost == count, "%s: %d stored + %d lost, not %d" % (
    name, stored, lost, count))
rec.check(stored >= 0.99 * count, "%s: %d of %d stored" % (name, stored,
                                                          count))
rec.ok("%s: %d calls, %d stored, %d lost" % (name, count, stored, lost))
END
	sed -n 's/^file readers/ok: &/p' stats
}

# What it says is known, and what stands there is not.
see_nothing()
{
	"$DTPROF" annotate --source named_so a.dtp >shown 2>&1
	grep -q '^/etc/shadow' shown || fail "no such lines: $(cat shown)"
	if grep -qF "$(head -n 1 /etc/shadow)" shown; then
		fail "/etc/shadow is shown"
	fi
	ok "of /etc/shadow nothing is shown"
}

attack "all at once" sh all.sh
see_nothing
[ -n "${ATTACK_S:-}" ] || exit 0
attack lease ./attacks lease
attack modules ./attacks modules ./small
attack hostile ./attacks hostile ./elf-b ./elf-e ./elf-l ./elf-m ./known
attack maps ./attacks maps
attack links ./attacks links
attack fifos ./attacks fifos ./small
attack dwarf sh dwarf.sh
see_nothing
attack mmap ./storms mmap
attack fork ./storms fork
if setpriv --reuid=1234 --regid=1234 --clear-groups unshare -Urpf true \
    2>/dev/null; then
	attack namespace unshare -Urpf ./attacks lease
fi
