# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What tests of Python's frames share: $python, this system's, and whether its
# frames are known.  Include it after tests/lib.sh.

python=/usr/bin/python3

need_known_python()
{
	[ -x $python ] || skip "no $python"
	$python -c '
import sys
sys.exit(not (3, 11) <= sys.version_info < (3, 15))' ||
	    skip "$python is not one whose frames are known"
}
