#!/bin/sh
# ASSERTION: kill9-leaves-a-recording.sh holds at 200 random moments.
# TIMEOUT: 3600
export KILLS=200
exec sh "${SRC:=$PWD}/tests/kern/kill9-leaves-a-recording.sh"
