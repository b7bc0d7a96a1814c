#!/bin/sh
# ASSERTION: mk/deps.sh does not call apt when everything is installed, uses
# sudo only if it is needed and asks nothing, names in one line what to run
# when it cannot install (exit 125), and names the packages where there is no
# apt (exit 125).  Easy to get wrong on machines unlike the developer's.
. "${SRC:=$PWD}/tests/build/lib.sh"
tmpdir
mkdir bin
for tool in sh env cat grep echo rm touch; do
	ln -s "$(command -v $tool)" bin/
done

fake()		# name, its script on stdin
{
	{ echo '#!/bin/sh'; cat; } >"bin/$1"
	chmod +x "bin/$1"
}

# dpkg-query knows what the file "installed" lists; apt-get adds to it.
fake_debian()	# uid
{
	rm -f calls
	fake dpkg-query <<'END'
for package; do :; done
grep -qx "$package" installed && printf installed
END
	fake apt-get <<'END'
echo "apt-get $*" >>calls
[ -e offline ] && exit 100
for word; do echo "$word"; done >>installed
END
	echo "echo $1" | fake id
	fake sudo <<'END'
echo "sudo $*" >>calls
[ -e sudo-asks ] && exit 1
[ "$1" = -n ] && shift
"$@"
END
}

deps()		# status set ...
{
	want=$1
	shift
	PATH=$tmp/bin sh "$SRC/mk/deps.sh" "$@" >out 2>err
	status=$?
	[ $status -eq "$want" ] || {
		cat out err
		fail "status $status, not $want"
	}
}

fake_debian 0
echo make >installed
deps 0 build
grep -q '^apt-get .*install -y .*bpftool' calls || fail "root: apt"
grep -q sudo calls && fail "root needs no sudo"
grep -q ' make' calls && fail "what is there is asked for again"
ok "root: apt installs what is missing"
fake_debian 0
deps 0 build
[ -e calls ] && fail "apt was called with everything there"
ok "everything there: no apt"

fake_debian 1000
echo make >installed
deps 0 build
grep -q '^sudo -n env .*apt-get .*install' calls || fail "sudo is not used"
ok "user: through sudo, without a question"
fake_debian 1000
echo make >installed
touch sudo-asks
deps 125 build
grep -q apt-get calls && fail "apt as a user"
[ "$(grep -c 'apt-get install' err)" -eq 1 ] || fail "not one line"
ok "sudo asks: one line, 125"
rm bin/sudo
deps 125 build
[ "$(grep -c 'apt-get install' err)" -eq 1 ] || fail "not one line"
ok "no sudo: one line, 125"

fake_debian 0
echo make >installed
touch offline
deps 125 build
[ "$(grep -c 'apt-get install' err)" -eq 1 ] || fail "not one line"
ok "no network: one line, 125"

rm bin/apt-get
deps 125 build check
grep -q 'libbpf-dev.*shellcheck' err || fail "the packages are not named"
ok "no apt: names, 125"
deps 2 nonsense
ok "an unknown set: 2"
