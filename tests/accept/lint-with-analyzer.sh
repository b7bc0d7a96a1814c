#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: clang's analyzer finds nothing in the library and the command.
# TIMEOUT: 3600
exec sh "${SRC:=$PWD}/tests/build/lint-is-clean.sh"
