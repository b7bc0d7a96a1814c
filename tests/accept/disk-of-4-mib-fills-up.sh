#!/bin/sh
# ASSERTION: disk-full-ends-the-file.sh holds on a tmpfs of 4 MiB, five
# times.
# TIMEOUT: 1800
export DISK=4M ROUNDS=5
exec sh "${SRC:=$PWD}/tests/kern/disk-full-ends-the-file.sh"
