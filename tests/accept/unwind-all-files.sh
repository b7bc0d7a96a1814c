#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: Every row of every program and library of the system is in its
# unwind table as readelf reads it; at most 0.01 % differ, and are shown.
# TIMEOUT: 7200

ACCEPT=1 exec sh "${SRC:=$PWD}/tests/interop/unwind-rows-equal-readelf.sh"
