#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Short commands have whole stacks in the root of a container, too:
# on an overlay the kernel maps a file of the file system below, whose device
# stat(2) does not show; and libraries are copies of others with the same
# build-id.
#
# Easy to get wrong: they are whole without an overlay, and here nearly all of
# them wait for user space, which refuses most at this rate.

. "${SRC:=$PWD}/tests/kern/lib-kern.sh"
need_recording
need_cmd unshare chroot ldd
if [ -z "$IN_NAMESPACE" ]; then
	# The mounts end with their namespace.
	IN_NAMESPACE=1 unshare -m sh "$0"
	exit
fi
tmpdir
at_end()
{
	umount -l "$tmp/root" 2>/dev/null
}
mkdir below above work root
for file in /bin/sh /bin/ls; do
	for name in "$file" $(ldd "$file" | grep -o '/[^ ]*'); do
		mkdir -p "below${name%/*}"
		cp -L "$name" "below$name"
	done
done
mount -t overlay overlay -o lowerdir=below,upperdir=above,workdir=work root \
    2>mount.err || skip "no overlay here: $(cat mount.err)"
mkfifo go
exec 9<>go
# shellcheck disable=SC2016 # for the other shell
lists='n=0; while [ $n -lt 200 ]; do n=$((n + 1)); /bin/ls /; done'
chroot root /bin/sh -c "read -r go; $lists" <go >list &
shell=$!
kill_at_end $shell
in_root()
{
	[ "$(readlink /proc/$shell/root)" = "$tmp/root" ]
}
await "the shell is in the overlay" in_root
record_begin -o a.dtp -F 3989 -e cpu-clock -p $shell
echo >go
record_wait 0
# The libraries outside are copies of those inside, and are met first.
record 0 -o b.dtp -F 3989 -e cpu-clock -- chroot root /bin/sh -c "$lists"
for file in a.dtp b.dtp; do
	py $file <<'END'
import collections
import sys
import recording as rec

by = collections.Counter(s.get("user_status", "none")
                         for s in rec.samples(sys.argv[1], "cpu-clock"))
total = sum(by.values()) - by["none"]
rec.check(total >= 100, "only %d samples" % total)
rec.check(by["ok"] >= 0.95 * total, "too few are whole: %s" % by)
rec.ok("%d of %d stacks are whole" % (by["ok"], total))
END
done
