#!/bin/sh
# SPDX-License-Identifier: ISC
#
# config.sh compiler flags ...: is there what the build needs?  Asks for each
# library's header and for the tools, and names the packages of what is not
# there, once, before a compiler would say it in its own words.  Called by
# mk/config.mk; the environment: CLANG, BPFTOOL.

missing=

header()	# header package compiler flags ...
{
	header=$1 package=$2
	shift 2
	echo "#include <$header>" | "$@" -E -x c - >/dev/null 2>&1 ||
	    missing="$missing
  <$header>, in Debian's $package"
}

tool()		# command package
{
	command -v "$1" >/dev/null || missing="$missing
  $1, in Debian's $2"
}

tool "$1" gcc
tool "${CLANG:-clang}" clang
tool "${BPFTOOL:-bpftool}" bpftool
header bpf/libbpf.h libbpf-dev "$@"
header libelf.h libelf-dev "$@"
header zlib.h zlib1g-dev "$@"
header perfmon/pfmlib.h libpfm4-dev "$@"
header zstd.h libzstd-dev "$@"
header xxhash.h libxxhash-dev "$@"
header elfutils/libdw.h libdw-dev "$@"
header lzma.h liblzma-dev "$@"
header libiberty/demangle.h libiberty-dev "$@"
header libunwind.h libunwind-dev "$@"
header linux/bpf.h linux-libc-dev "$@"

[ -z "$missing" ] && exit 0
echo "The build needs:$missing" >&2
echo "As root: make deps (or sh mk/deps.sh build)" >&2
exit 1
