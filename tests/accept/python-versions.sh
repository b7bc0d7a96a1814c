# SPDX-License-Identifier: ISC
# ASSERTION: In 10,000 calls each of the Python of this system, of Debian 13 and
# unstable (unpacked, with their own C library and loader), and of every other
# python3.11 to 3.14 on PATH, the Python frames of each sample are the list that
# the interpreter itself has: functions, files and lines, as in
# tests/interop/python-stacks-as-the-interpreter.sh.
#
# Easy to get wrong: what lies elsewhere in another version or build; a shared
# libpython; a program that the loader was started with.
# TIMEOUT: 900

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd apt-get dpkg-deb
tmpdir

# The packages of a release of Debian, through a package state of our own.
unpacked()	# release version
{
	to=$B/python/$1-$2
	[ ! -e "$to/done" ] || return 0
	state=$PWD/apt-$1
	mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$to"
	: >"$state/status"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
	    awk -v keyring=$keyring -v release="$1" '/\/debian\/?$/ {
		printf("deb [signed-by=%s] %s %s main\n", keyring, $1, release)
		exit
	    }' >"$state/sources.list"
	cat >"$state/apt.conf" <<-END
	#clear APT::Update::Post-Invoke;
	#clear APT::Update::Post-Invoke-Success;
	Dir::State "$state";
	Dir::State::lists "$state/lists";
	Dir::State::status "$state/status";
	Dir::Cache "$state/cache";
	Dir::Etc::sourcelist "$state/sources.list";
	Dir::Etc::sourceparts "/dev/null";
	Dir::Etc::preferencesparts "/dev/null";
	APT::Sandbox::User "root";
	END
	apt-get -qq -c "$state/apt.conf" update >apt.log 2>&1 || return 1
	mkdir -p deb-"$1"
	(cd deb-"$1" && apt-get -qq -c "$state/apt.conf" download \
	    python"$2" python"$2"-minimal libpython"$2"-minimal \
	    libpython"$2"-stdlib libc6 libexpat1 zlib1g libssl3t64 libffi8 \
	    libbz2-1.0 liblzma5 libzstd1 libuuid1) >>apt.log 2>&1 || return 1
	for deb in deb-"$1"/*.deb; do
		dpkg-deb -x "$deb" "$to" || return 1
	done
	: >"$to/done"
}

tokens()	# what command ...
{
	what=$1
	shift
	"$DTPROF" record -o x.dtp -e syscall:newfstatat:entry -- \
	    "$@" "$SRC/tests/work/tokens.py" 10000 4 tokens.json \
	    2>record.err || {
		cat record.err
		fail "record $what"
	}
	"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
	    fail "script: $(cat script.err)"
	python3 "$SRC/tests/interop/python_tokens.py" tokens.json \
	    <script.json || fail "$what: see above"
	ok "$what"
}

tokens "$(/usr/bin/python3 --version)" /usr/bin/python3
for release in trixie:3.13 unstable:3.14; do
	version=${release#*:}
	release=${release%:*}
	unpacked "$release" "$version" ||
	    skip "no python$version of $release: $(tail -n 1 apt.log)"
	root=$B/python/$release-$version/usr
	tokens "Python $version of $release" env PYTHONHOME="$root" \
	    "$root/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2" \
	    --library-path "$root/lib/x86_64-linux-gnu" \
	    "$root/bin/python$version"
done
for python in $(echo "$PATH" | tr : '\n' | while read -r folder; do
	for name in 3.11 3.12 3.13 3.14; do
		[ ! -x "$folder/python$name" ] || echo "$folder/python$name"
	done
done) ${PYTHONS-}; do
	"$python" --version >/dev/null 2>&1 || continue
	tokens "$python" "$("$python" -c 'import sys; print(sys.executable)')"
done
