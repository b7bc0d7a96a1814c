#!/bin/sh
# SPDX-License-Identifier: ISC
#
# deps.sh set ...: make sure that sets of packages are installed.
#
#	build		what make needs
#	check		what the tests need beside that
#	guest		what the emulated machine of make check-guest needs
#	accept		what make accept needs beside all that
#	browser		what tests of pages in a browser need
#
# What is missing is installed by apt without questions, through sudo if that
# is needed and there.  With everything there neither apt nor a network is
# asked.  Where this cannot be done, one line says what to run; exit 125.
# Called by mk/run.sh and make deps; installs nothing else.

packages_of()	# set
{
	case $1 in
	build)
		echo make gcc libc6-dev linux-libc-dev clang bpftool
		echo libbpf-dev libelf-dev zlib1g-dev libpfm4-dev libzstd-dev
		echo libxxhash-dev libdw-dev liblzma-dev libiberty-dev
		echo libunwind-dev
		;;
	check)
		echo g++ python3 python3-jsonschema python3-protobuf
		echo libclang-rt-dev llvm git
		echo pkg-config libcurl4 libcurl4-openssl-dev clickhouse-server
		echo shellcheck cppcheck clang-tidy mandoc valgrind linux-perf
		echo bash procps util-linux bsdextrautils libcap2-bin gdb dwz
		echo bpftrace gnuplot-nox hyperfine xz-utils zstd sqlite3
		echo zsh fish curl strace binutils
		;;
	guest)
		echo qemu-system-arm gcc-aarch64-linux-gnu
		echo libc6-dev-arm64-cross cpio python3
		;;
	accept)
		echo debootstrap qemu-system-x86 clang-16
		echo nginx-light apache2-utils redis-server redis-tools
		echo musl-tools nodejs golang-go
		echo debhelper lintian fakeroot jq iproute2
		echo postgresql default-jdk-headless ruby php-cli libc6-dbg
		;;
	browser)
		echo chromium nodejs fonts-dejavu-core
		# Some packages of nodejs bring it along.
		command -v npm >/dev/null || echo npm
		;;
	*)
		echo "deps.sh: no package set $1: build, check, guest," \
		    "accept, browser" >&2
		exit 2
		;;
	esac
}

is_installed()	# package
{
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = \
	    installed ]
}

missing_of()	# package ...
{
	for package; do
		is_installed "$package" || printf ' %s' "$package"
	done
}

apt()		# argument ...
{
	$become env DEBIAN_FRONTEND=noninteractive apt-get -q \
	    -o DPkg::Lock::Timeout=300 "$@" </dev/null
}

[ $# -gt 0 ] || set -- build
wanted=
for set; do
	packages=$(packages_of "$set") || exit
	wanted="$wanted $packages"
done
# shellcheck disable=SC2086 # a list of words
set -- $wanted

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null
then
	# Whatever the packages are called here, the tools may be there.
	[ -n "$DTPROF_DEPS_PRESENT" ] && exit 0
	echo "This system has no apt.  Install what it calls the following,"
	echo "then set DTPROF_DEPS_PRESENT=1 and run this again:"
	echo "  $*"
	exit 125
fi >&2

missing=$(missing_of "$@")
[ -z "$missing" ] && exit 0

line="apt-get update && apt-get install -y --no-install-recommends$missing"
become=
if [ "$(id -u)" -ne 0 ]; then
	if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
		become='sudo -n'
	elif command -v sudo >/dev/null && [ -t 0 ] && sudo true; then
		become=sudo
	else
		echo "Packages are missing.  Run as root:" >&2
		echo "  $line" >&2
		exit 125
	fi
fi

echo "installing:$missing" >&2
apt update >&2 || echo "apt-get update failed; trying what is known" >&2
# shellcheck disable=SC2086 # a list of words
apt install -y --no-install-recommends $missing >&2
missing=$(missing_of "$@")
if [ -n "$missing" ]; then
	echo "Packages could not be installed:$missing" >&2
	echo "Look above for the reason; then run as root:" >&2
	echo "  $line" >&2
	exit 125
fi
