#!/bin/sh
# ASSERTION: tests/kern/attacks-cost-a-victim-nothing.sh, with each attack by
# itself and for ten seconds: what one of them does slowly, as filling memory
# or running out of numbers, two seconds do not show.
# TIMEOUT: 600
: "${SRC:=$PWD}"
ATTACK_S=${ATTACK_S:-10}
export SRC ATTACK_S
exec sh "$SRC/tests/kern/attacks-cost-a-victim-nothing.sh"
