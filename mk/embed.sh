#!/bin/sh
# SPDX-License-Identifier: ISC
#
# embed.sh name file: the bytes of a file as an array of C, on stdout.
# Templates are real files that open by themselves (reports/); this is how
# they get into the library.  Called by reports/Build.

printf 'static const unsigned char %s[] = {\n' "$1"
od -An -v -tx1 "$2" | sed 's/ \(..\)/0x\1,/g'
echo '};'
