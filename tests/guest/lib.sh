# SPDX-License-Identifier: ISC
# shellcheck shell=sh
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
	timeout --foreground "${GUEST_LIMIT:-380}" qemu-system-aarch64 \
	    -M virt -cpu cortex-a53 -icount shift=1 -smp 1 -m 512 \
	    -nographic -no-reboot -nic none \
	    -kernel "$GUEST/vmlinuz" -initrd initrd \
	    -append 'console=ttyAMA0 rdinit=/init quiet panic=-1' \
	    </dev/null >console 2>&1
	ended=$?
	if ! grep -q '^GUEST-EXIT rc=0' console; then
		tr -d '\r' <console | awk '/^GUEST-FILE/ { quiet = 1 }
		    !quiet { print } /^GUEST-END/ { quiet = 0 }' | tail -n 40
		fail "the guest did not end well (qemu: $ended)"
	fi
	guest_unpack
}

# Look at JSON with the Python on stdin: j is the value (of lines, the list
# of them), argv what follows, need(condition, text) says ok or fails.
verify()	# file [argument ...]
{
	cat >verify.py
	python3 - "$@" <<-'END' || fail "$1 is not as it must be"
	import json, sys
	def need(condition, text):
	    print(("ok: " if condition else "FAIL: ") + text)
	    if not condition:
	        sys.exit(1)
	text = open(sys.argv[1]).read()
	try:
	    j = json.loads(text)
	except ValueError:
	    j = [json.loads(line) for line in text.splitlines()]
	exec(open("verify.py").read(),
	    dict(j=j, argv=sys.argv[2:], need=need))
	END
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
