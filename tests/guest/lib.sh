# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# Shell functions of the guests' tests: boot a guest with a script and bring
# back the files that it left.  Sourced by tests/guest/*.sh; the
# environment comes from mk/guest.mk:
#
#	GUEST	directory of vmlinuz and busybox
#	GUEST_BUILD	build directory of the guest's build
#	GUEST_ARCH	arm64 or amd64
#	DTPROF	the host's dtprof, which reads the recordings
#	B	the host's build directory
#	GUEST_MAKE	how the guest's build is made
#
# A guest has one CPU (GUEST_CPUS), boots with the defaults of its kernel and
# what GUEST_APPEND says, and counts instructions as time (-icount): so the
# cycle counter of arm64 is exact, and what else this machine does costs no
# samples.  That of amd64 has no counter: $counter is a clock there.  There is a
# Python if GUEST_PYTHON is set, and tests/lib.sh is /lib.sh.  No guest can
# reach the network or any file of the host.  Results travel as text over the
# console.

. "${SRC:=$PWD}/tests/lib.sh"

[ -z "${GUEST_SKIP:-}" ] || skip "${GUEST_SKIP#SKIP: }"
[ -s "${GUEST:-}/vmlinuz" ] || skip "needs the guest (make check-guest)"
# shellcheck disable=SC2034 # the tests use it
case $GUEST_ARCH in
arm64)	counter='cycles -c 50000' ;;
*)	counter='cpu-clock -c 100000' ;;
esac
tmpdir

# An archive with the test's script as /test.sh, as the first file system.
guest_pack()
{
	rm -rf root
	mkdir -p root/bin
	cp "$GUEST/busybox" "$GUEST_BUILD/dtprof" \
	    "$GUEST_BUILD"/tests/work/guest_* "$GUEST_BUILD/tests/work/runs" \
	    root/bin/
	[ -z "${GUEST_PYTHON:-}" ] || cp -a "$GUEST/python/." root/
	cp "$SRC/tests/guest/init" root/init
	cp "$SRC/tests/lib.sh" root/lib.sh
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
	console=ttyAMA0 append=${GUEST_APPEND:-}
	set -- qemu-system-aarch64 -M virt -cpu cortex-a53
	if [ "$GUEST_ARCH" = amd64 ]; then
		# Its timers are not tried in real time.
		console='ttyS0 no_timer_check'
		set -- qemu-system-x86_64 -M pc -cpu max -accel tcg
	fi
	timeout --foreground "${GUEST_LIMIT:-380}" "$@" -icount shift=1 \
	    -smp "${GUEST_CPUS:-1}" -m 512 -nographic -no-reboot -nic none \
	    -kernel "$GUEST/vmlinuz" -initrd initrd \
	    -append "console=$console rdinit=/init quiet panic=-1 $append" \
	    </dev/null >console 2>&1
	ended=$?
	if ! grep -q '^GUEST-EXIT rc=0' console; then
		tr -d '\r' <console | awk '/^GUEST-FILE/ { quiet = 1 }
		    !quiet { print } /^GUEST-END/ { quiet = 0 }' | tail -n 40
		fail "the guest did not end well (qemu: $ended)"
	fi
	guest_unpack
}

# The accounting of a recording, which must balance, in the file stats.
accounting()	# recording
{
	"$DTPROF" report --stats --json "$1" >stats ||
	    fail "$1 cannot be read"
	verify stats "${1##*/}" <<-'END'
	need(j["recording"]["cut"] is None, argv[0] + " is whole")
	for a in j["accounting"]:
	    need(a["fired"] == a["stored"] + a["full"] + a["nested"] +
	        a["filtered"] + a["error"] and a["balances"] and
	        a["read"] == a["stored"], argv[0] +
	        " {event}: fired {fired} = stored {stored} + full {full} + "
	        "nested {nested} + filtered {filtered} + error {error}"
	        .format(**a))
	END
}
