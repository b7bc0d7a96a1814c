# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# py-spy of a known version from the package index, once, into $B/peers; its
# path is $PYSPY, which is empty where it cannot be had.  Included behind
# tests/lib.sh by what compares with it.

: "${PYSPY=$B/peers/py-spy/bin/py-spy}"
if [ -n "$PYSPY" ] && [ ! -x "$PYSPY" ]; then
	mkdir -p "$B/peers"
	python3 -m pip install --quiet --no-deps --disable-pip-version-check \
	    --target "$B/peers/py-spy" py-spy==0.4.3 \
	    >"$B/peers/py-spy.log" 2>&1 || PYSPY=
fi
export PYSPY
