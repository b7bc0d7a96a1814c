#!/bin/sh
# ASSERTION: the packages of make deb install, record, report, upgrade and are
# removed without a trace in a bare Debian 12.  Easy to get wrong with a
# library that only the machine of the build has.
# TIMEOUT: 1800
BARE_RELEASE=bookworm
export BARE_RELEASE
. "${SRC:=$PWD}/tests/accept/lib-packages.sh"
packages_go
