#!/bin/sh
# SPDX-License-Identifier: ISC
#
# Fetches what a guest is made of and unpacks it: a kernel that boots without
# modules, a static busybox, the headers and static libraries that the guest's
# build of dtprof links with, and a Python to be recorded there.  Called by
# mk/guest.mk; knows nothing of dtprof itself.
#
#	guest-fetch.sh OUT arm64|amd64 6.1|6.12|7
#
# Leaves OUT/vmlinuz, OUT/busybox, OUT/sysroot and OUT/python.  Packages come
# with apt from the distribution that this machine is configured for, through a
# package state of our own: neither the architectures nor the lists of the host
# are touched.  Downloads are kept in $XDG_CACHE_HOME/dtprof-guest, named by
# package and version, and once a set is complete no network is needed
# (GUEST_REFRESH=1 looks for newer ones).  Exit 77 when they cannot be had.

set -eu

. "$(dirname "$0")/lib-apt.sh"
out=${1:?usage: guest-fetch.sh OUT arm64|amd64 6.1|6.12|7}
arch=$2
series=$3
case $arch in
arm64)	machine=aarch64 ;;
*)	machine=x86_64 ;;
esac
cache=${GUEST_CACHE:-${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/dtprof-guest}
libraries="busybox-static libbpf-dev libelf-dev zlib1g-dev libzstd-dev
    libpfm4-dev libxxhash-dev libunwind-dev libdw-dev liblzma-dev
    libbz2-dev libiberty-dev"
# Of the guest's own Python: python3.11 stands for the version there is.
python="python3.11-minimal libpython3.11-minimal libpython3.11-stdlib libc6
    libexpat1 zlib1g"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

skip()
{
	echo "SKIP: $*"
	exit 77
}

for tool in qemu-system-$machine $machine-linux-gnu-gcc cpio; do
	command -v $tool >/dev/null 2>&1 ||
	    skip "no $arch guest: $tool is not installed"
done
for tool in apt-get apt-cache dpkg-deb tar; do
	command -v $tool >/dev/null 2>&1 ||
	    skip "no $arch packages: this system has no $tool"
done

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
[ -n "$codename" ] || skip "no $arch packages: /etc/os-release has no codename"
set=$cache/$codename-$arch-$series.list
state=$cache/apt-$codename-$arch-$series

# The distribution's own archives as apt would use them, for that machine, and
# beside the main one its backports, or for kernels newer than any of these the
# archive in which the next release is made.
write_sources()
{
	options=arch=$arch
	[ ! -e $keyring ] || options="$options signed-by=$keyring"
	apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' \
	    'Created-By: Packages' |
	awk -v codename="$codename" -v options="$options" -v series="$series" '
	$2 ~ "^" codename "(-|$)" && $3 == "main" && !seen[$0]++ {
		printf("deb [%s] %s %s %s\n", options, $1, $2, $3)
		if ($2 == codename && series ~ /^7/)
			printf("deb [%s] %s unstable %s\n", options, $1, $3)
		else if ($2 == codename && series != "6.1")
			printf("deb [%s] %s %s-backports %s\n", options, $1,
			    $2, $3)
	}' >"$state/sources.list"
	[ -s "$state/sources.list" ] ||
	    skip "no $arch packages: apt has no source for $codename"
}

# The package state, for that machine.
write_config()
{
	apt_state "$state"
	mkdir -p "$state/download"
	# Of what comes next nothing but the kernel: the libraries that the
	# guest's programs are linked with stay those of this distribution.
	cat >"$state/preferences" <<-END
	Package: *
	Pin: release a=unstable
	Pin-Priority: 100
	END
	cat >>"$state/apt.conf" <<-END
	#clear APT::Architectures;
	#clear APT::Default-Release;
	APT::Architecture "$arch";
	APT::Architectures { "$arch"; };
	APT::Get::List-Cleanup "false";
	Acquire::Languages "none";
	Dir::Etc::preferences "$state/preferences";
	END
}

# The newest kernel of the series that is signed and made for clouds: those
# have what a bare machine needs built in.  From 7 on the image is in a package
# that the one of that name only depends on.
kernel_name()
{
	case $series in
	7*)	package=linux-binary ;;
	*)	package=linux-image ;;
	esac
	apt-cache -c "$state/apt.conf" search --names-only \
	    "^$package-[0-9.].*-cloud-$arch\$" |
	awk -v prefix="$package-$series" '
	    index($1, prefix) == 1 &&
	    substr($1, length(prefix) + 1, 1) ~ /[.-]/ { print $1 }' |
	sort -V | tail -n 1
}

# The packages of the distribution's Python.
python_names()
{
	version=$(apt-cache -c "$state/apt.conf" depends python3-minimal |
	    sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal$/\1/p')
	echo "$python" | sed "s/python3\.11/${version:-python3}/g"
}

fetch()
{
	write_config
	write_sources
	# A network that fails is only a warning for apt.
	apt-get -qq -c "$state/apt.conf" update >"$state/log" 2>&1 ||
	    skip "no $arch packages: $(tail -n 1 "$state/log")"
	kernel=$(kernel_name)
	[ -n "$kernel" ] ||
	    skip "no $package-$series*-cloud-$arch to be had" \
	    "$(sed -n 's/^W: /(/p' "$state/log" | head -n 1 | sed 's/$/)/')"
	rm -f "$state/wanted"
	for name in $kernel $libraries $(python_names); do
		version=$(apt-cache -c "$state/apt.conf" policy "$name" |
		    sed -n 's/^ *Candidate: //p')
		case $version in
		''|'(none)') skip "no $arch packages: $name is unknown" ;;
		esac
		file=$(echo "${name}_${version}_$arch.deb" | sed 's/:/%3a/')
		echo "$file" >>"$state/wanted"
		[ ! -e "$cache/pool/$file" ] || continue
		(cd "$state/download" && apt-get -qq -c "$state/apt.conf" \
		    download "$name=$version") >"$state/log" 2>&1 ||
		    skip "no $arch packages: $(tail -n 1 "$state/log")"
		mv "$state/download/$file" "$cache/pool/$file" 2>/dev/null ||
		    mv "$state/download/${name}_"*.deb "$cache/pool/$file"
	done
	mv "$state/wanted" "$set"
}

have_all()
{
	[ -s "$set" ] || return 1
	for name in $libraries; do
		grep -q "^${name}_" "$set" || return 1
	done
	grep -q '^python3' "$set" || return 1
	while read -r file; do
		[ -s "$cache/pool/$file" ] || return 1
	done <"$set"
}

unpack()
{
	rm -rf "$out.new"
	mkdir -p "$out.new/sysroot"
	while read -r file; do
		deb=$cache/pool/$file
		case $file in
		linux-image-*)
			dpkg-deb --fsys-tarfile "$deb" |
			    tar -xf - -C "$out.new" --wildcards \
			    --strip-components=2 './boot/vmlinuz-*'
			mv "$out.new"/vmlinuz-* "$out.new/vmlinuz" ;;
		linux-binary-*)
			dpkg-deb --fsys-tarfile "$deb" |
			    tar -xf - -C "$out.new" --wildcards \
			    --strip-components=5 \
			    './usr/lib/modules/*/vmlinuz' ;;
		busybox-static_*)
			dpkg-deb --fsys-tarfile "$deb" |
			    tar -xf - -C "$out.new" --strip-components=2 \
			    ./bin/busybox ;;
		python3*|libpython3*|libc6_*|libexpat1_*|zlib1g_*)
			dpkg-deb -x "$deb" "$out.new/python" ;;
		*)
			dpkg-deb -x "$deb" "$out.new/sysroot" ;;
		esac
	done <"$set"
	[ -s "$out.new/vmlinuz" ] && [ -s "$out.new/busybox" ] ||
	    skip "no $arch packages: kernel or busybox not where expected"
	cp "$set" "$out.new/packages"
	rm -rf "$out"
	mkdir -p "$(dirname "$out")"
	mv "$out.new" "$out"
}

mkdir -p "$cache/pool"
if [ -n "${GUEST_REFRESH:-}" ] || ! have_all; then
	fetch
fi
cmp -s "$set" "$out/packages" || unpack
