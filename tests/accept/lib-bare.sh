# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# A bare machine for tests: the smallest Debian 12, or BARE_RELEASE, that
# debootstrap makes, where not even make is installed, with the sources of the
# last commit in /src.  Made once below the build directory; each test gets it
# afresh, as the lower side of an overlay.
#
# Packages come from where this machine gets its own, found through apt.

. "${SRC:=$PWD}/tests/lib.sh"

: "${BARE_RELEASE:=bookworm}"
bare_base=$B/bare/$BARE_RELEASE
bare_room=

# "uri release" of Debian's own archives, as this machine uses them; another
# release lies beside this machine's own.
bare_archives()
{
	# shellcheck disable=SC2016 # apt fills these in
	apt-get indextargets 'Created-By: Packages' 'Origin: Debian' \
	    'Component: main' --format '$(REPO_URI) $(RELEASE)' | sort -u |
	    sed -n "s/ bookworm/ $BARE_RELEASE/p"
}

# Make the lower side, unless it is there.
bare_make_base()
{
	[ -e "$bare_base/.made" ] && return
	archive=$(bare_archives | sed -n "s/ $BARE_RELEASE\$//p" | head -n 1)
	[ -n "$archive" ] || skip "apt here does not know Debian"
	rm -rf "$bare_base"
	mkdir -p "$bare_base"
	debootstrap --variant=minbase "$BARE_RELEASE" "$bare_base" "$archive" \
	    >"$tmp/debootstrap.log" 2>&1 || {
		tail -n 5 "$tmp/debootstrap.log"
		skip "debootstrap failed: is there a network?"
	}
	bare_archives | sed 's/.*/deb & main/' \
	    >"$bare_base/etc/apt/sources.list"
	# A proxy, or what an archive of the past needs.
	for file in /etc/apt/apt.conf /etc/apt/apt.conf.d/*; do
		grep -qs '^Acquire::' "$file" || continue
		cp "$file" "$bare_base/etc/apt/apt.conf.d/90$(basename "$file")"
	done
	cp /etc/resolv.conf /etc/hosts "$bare_base/etc/"
	# npm comes to its own by TLS: whom this machine trusts, it trusts too.
	cp /etc/ssl/certs/ca-certificates.crt "$bare_base/etc/trusted.crt" \
	    2>/dev/null
	chroot "$bare_base" useradd -m user
	rm -rf "$bare_base"/var/cache/apt/archives/*.deb
	touch "$bare_base/.made"
}

# The test goes on in a mount namespace of its own, with a fresh machine.
bare_begin()
{
	need_root
	need_cmd debootstrap unshare git chroot
	if [ -z "$BARE_INSIDE" ]; then
		# The namespace takes all mounts with it, whatever happens.
		BARE_INSIDE=1 exec unshare -m --propagation private sh "$0"
	fi
	tmpdir
	bare_make_base
	bare_machine
}

# A fresh machine in $bare, instead of the one before.
bare_machine()
{
	at_end
	# Not on tmpfs: a few hundred megabytes of packages are installed.
	bare_room=$(mktemp -d "$B/bare/room.XXXXXX") || fail "no room"
	bare=$bare_room/root
	mkdir "$bare" "$bare_room/upper" "$bare_room/work"
	bare_dirs=lowerdir=$bare_base,upperdir=$bare_room/upper
	mount -t overlay overlay "$bare" \
	    -o "$bare_dirs,workdir=$bare_room/work" ||
	    skip "no overlay file system here"
	mount -t proc proc "$bare/proc"
	mount -t sysfs sysfs "$bare/sys"
	mount --rbind /dev "$bare/dev"
	mkdir "$bare/src"
	git -C "$SRC" archive HEAD | tar -x -C "$bare/src"
	chroot "$bare" chown -R user:user /src
	chroot "$bare" sh -c 'command -v make gcc' &&
	    fail "the machine is not bare"
	ok "a machine with $(chroot "$bare" dpkg -l | grep -c ^ii) packages"
}

at_end()
{
	[ -n "$bare_room" ] || return
	umount -l "$bare" 2>/dev/null
	rm -rf "$bare_room"
}

# Commands inside, in /src; output to $tmp/out, status to $status.
bare_run()	# root|user|offline|offline-user command
{
	bare_who=$1
	bare_env='env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp TERM=dumb'
	[ -s "$bare/etc/trusted.crt" ] &&
	    bare_env="$bare_env NODE_EXTRA_CA_CERTS=/etc/trusted.crt"
	bare_as=
	bare_net=
	case $bare_who in
	*user)	bare_as='setpriv --reuid=user --regid=user --init-groups' ;;
	esac
	case $bare_who in
	offline*)	bare_net='unshare -n' ;;
	esac
	# shellcheck disable=SC2086 # lists of words
	$bare_net chroot "$bare" $bare_env $bare_as \
	    sh -c "cd /src && $2" >"$tmp/out" 2>&1 </dev/null
	status=$?
	echo "   as $bare_who: $2: status $status"
}

bare_expect()	# status pattern what
{
	if [ "$status" -ne "$1" ] || ! grep -Eq -e "$2" "$tmp/out"; then
		grep -A 20 '^fail ' "$tmp/out" | head -n 100
		tail -n 20 "$tmp/out"
		fail "$3: status $status, expected $1 and \"$2\""
	fi
	ok "$3"
}
