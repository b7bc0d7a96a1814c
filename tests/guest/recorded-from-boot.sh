#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: the command of dtprof-boot.service, as the first program that a
# machine starts, has in its ring each numbered system call of a program that
# starts during the boot, and a signal writes them minutes later; --wait-for
# has them from the first instruction also in this kernel, of a program that a
# script starts in another PID namespace.
# TIMEOUT: 400
#
# Easy to get wrong: what a recorder needs and the first unit does not have yet.

. "${SRC:=$PWD}/tests/guest/lib.sh"

unit=$SRC/mk/dtprof-boot.service.in
options=$(sed -n 's/^Environment="DTPROF_BOOT=\(.*\)"$/\1/p' "$unit")
command=$(sed -n 's,^ExecStart=@BINDIR@/\(.*\) [$]DTPROF_BOOT$,\1,p' "$unit" |
    sed 's/%%/%/')
[ -n "$options" ] && [ -n "$command" ] || fail "the unit is not as expected"
guest_boot <<END
mkdir -m 700 -p /run/dtprof
$command $options -e cpu-clock -e syscall::close:entry </dev/null &
recorder=\$!
until dtprof mark --recorder \$recorder ready >/dev/null 2>&1; do
	kill -0 \$recorder || exit
	usleep 100000
done
guest_tokens || exit
# The rest of a boot.
guest_burn 5
kill -USR2 \$recorder
while [ ! -e /run/dtprof/boot-1.dtp ]; do
	kill -0 \$recorder || exit
	usleep 100000
done
kill -INT \$recorder
wait \$recorder || exit
mv /run/dtprof/boot-1.dtp .
printf '#!/bin/sh\nunshare -p -f /bin/guest_tokens\n' >/script
chmod +x /script
dtprof record -q -o awaited.dtp --wait-for guest_tokens \
    -e syscall::close:entry </dev/null &
recorder=\$!
until dtprof mark --recorder \$recorder ready >/dev/null 2>&1; do
	kill -0 \$recorder || exit
	usleep 100000
done
/script || exit
wait \$recorder || exit
END
for name in boot-1 awaited; do
	"$DTPROF" script --json --show samples --filter 'fd>=0x40000000' \
	    -e syscall::close:entry results/$name.dtp >tokens ||
	    fail "$name cannot be read"
	verify tokens $name <<-'END'
	tokens = [r["args"]["fd"] - 0x40000000 for r in j]
	need(tokens == list(range(10)), "%s: tokens %r" % (argv[0], tokens))
	END
done
