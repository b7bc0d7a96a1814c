# SPDX-License-Identifier: ISC
#
# Shell functions of the guest's tests: boot the arm64 guest with a script
# and bring back the files that it left.  Sourced by tests/guest/*.sh; the
# environment comes from mk/guest.mk:
#
#	GUEST	directory of vmlinuz and busybox
#	ARM64	build directory of the arm64 build
#	DTPROF	the host's dtprof, which reads the recordings
#	B	the host's build directory
#
# The guest has one CPU and counts instructions as time (-icount), without
# which its cycle counter is not exact; it cannot reach the network or any
# file of the host.  Results travel as text over the console.

. "${SRC:=$PWD}/tests/lib.sh"

[ -z "${GUEST_SKIP:-}" ] || skip "${GUEST_SKIP#SKIP: }"
[ -s "${GUEST:-}/vmlinuz" ] || skip "needs the arm64 guest (make check-guest)"
tmpdir

# An archive with the test's script as /test.sh, as the first file system.
guest_pack()
{
	rm -rf root
	mkdir -p root/bin
	cp "$GUEST/busybox" "$ARM64/dtprof" "$ARM64"/tests/work/guest_* \
	    root/bin/
	cp "$SRC/tests/guest/init" root/init
	chmod 755 root/init
	cat >root/test.sh
	(cd root && find . ! -name '*.d' | cpio -o -H newc --quiet) |
	    gzip -1 >initrd
}

# The files between the marks of the console.
guest_unpack()
{
	rm -rf results
	mkdir results
	tr -d '\r' <console | awk '
	/^GUEST-FILE / && $2 !~ /\// {
		file = "results/" $2 ".base64"
		print $3 >("results/" $2 ".md5")
		next
	}
	/^GUEST-END/ { close(file); file = "" }
	file != "" { print >file }'
	for sum in results/*.md5; do
		[ -e "$sum" ] || continue
		file=${sum%.md5}
		: >>"$file.base64"
		base64 -d "$file.base64" >"$file" &&
		    [ "$(md5sum <"$file" | cut -d' ' -f1)" = \
		    "$(cat "$sum")" ] ||
		    fail "$(basename "$file") did not arrive whole"
		rm -f "$sum" "$file.base64"
	done
}

# Boot with the script on stdin; its files are then in results/.  Fails unless
# the script ended with 0.  The limit is for a guest that hangs.
guest_boot()
{
	guest_pack
	timeout --foreground 170 qemu-system-aarch64 -M virt -cpu cortex-a53 \
	    -icount shift=1 -smp 1 -m 512 -nographic -no-reboot -nic none \
	    -kernel "$GUEST/vmlinuz" -initrd initrd \
	    -append 'console=ttyAMA0 rdinit=/init quiet panic=-1' \
	    </dev/null >console 2>&1
	ended=$?
	if ! grep -q '^GUEST-EXIT rc=0' console; then
		grep -av '^[A-Za-z0-9+/=]\{60,\}' console | tail -n 40
		fail "the guest did not end well (qemu: $ended)"
	fi
	guest_unpack
}
