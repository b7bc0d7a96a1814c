#!/bin/sh
# ASSERTION: on a bare Debian 12, a user who may use sudo without a password
# needs to run nothing else: the demo installs its packages through it and
# records.  Easy to get wrong by asking sudo for a password without a terminal.
# TIMEOUT: 3600
. "${SRC:=$PWD}/tests/accept/lib-bare.sh"
bare_begin

bare_run root 'apt-get update && apt-get install -y sudo'
[ "$status" -eq 0 ] || skip "sudo cannot be installed"
bare_run user 'sh mk/run.sh demo'
bare_expect 125 'Run as root:' "sudo that wants a password is not waited for"
echo 'user ALL=(ALL) NOPASSWD: ALL' >"$bare/etc/sudoers.d/user"
bare_run user 'sh mk/run.sh demo'
bare_expect 0 'fired' "demo through sudo"
