#!/bin/sh
# ASSERTION: on a bare Debian 12, as root, both commands of the README do what
# they say: the demo records and shows it, check runs the tests, and both work
# again without a network once the packages are there.  Easy to get wrong with
# a package that happens to be on every developer's machine.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/accept/lib-bare.sh"
bare_begin
demo_shows='demo: [0-9]+ rounds'

bare_run offline 'sh mk/run.sh demo'
bare_expect 125 'apt-get install -y' "no packages, no network: says what to run"

bare_run root 'sh mk/run.sh demo'
bare_expect 0 "$demo_shows" "demo"
grep -q "^Accounting: .* fired = " "$tmp/out" ||
    fail "the demo shows no accounting"
chroot "$bare" dpkg-query -W shellcheck >/dev/null 2>&1 &&
    fail "the demo installed what only check needs"
ok "the demo takes the packages of the build only"

bare_run offline 'sh mk/run.sh demo'
bare_expect 0 "$demo_shows" "demo without a network"

bare_run root 'sh mk/run.sh check'
bare_expect 0 '^[0-9]+ passed, 0 failed, [0-9]+ skipped$' "check"
tail -n 1 "$tmp/out"
grep '^skip' "$tmp/out"

bare_run offline 'sh mk/run.sh check T=tests/abi'
bare_expect 0 '^[0-9]+ passed, 0 failed, 0 skipped$' "check without a network"

# What the README goes on with: five tasks, by what the two commands installed.
bare_run root 'SRC=/src B=/src/build DTPROF=/src/build/dtprof \
    bash tests/accept/documented-commands-run.sh'
bare_expect 0 '^ok: README: [0-9]+ commands, and they show what they say$' \
    "the five tasks of the README"
