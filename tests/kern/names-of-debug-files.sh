#!/bin/sh
# ASSERTION: a recording names the functions of a stripped program by the
# debug file beside it, which a process without rights asks for; but not by
# one that the owner of the program could not read, whatever link names it.
#
# Easy to get wrong: root's recorder opens what a stranger's file tells it to,
# and its names are then in a recording that others get.
. "${SRC:=$PWD}/tests/kern/lib-names.sh"
need_cmd objcopy
program()	# name
{
	mkdir -m 755 "$1" || fail "mkdir"
	cp "$work/known" "$1/$1" || fail "cp"
	objcopy --only-keep-debug "$1/$1" "$1/$1.debug" || fail "objcopy"
	objcopy --strip-all --add-gnu-debuglink="$1/$1.debug" "$1/$1" ||
	    fail "objcopy"
	chown -R 65534 "$1"
	chmod 644 "$1/$1.debug"
}
program shown
program hidden
mkdir -m 700 ours
chown 0 hidden/hidden.debug
chmod 600 hidden/hidden.debug
mv hidden/hidden.debug ours/
ln -s ../ours/hidden.debug hidden/hidden.debug
record 0 -o a.dtp -F 4999 -- sh -c './shown/shown 30; ./hidden/hidden 30'
"$names" a.dtp >named || fail "the tool"
python3 - <<'END'
from recording import check, ok

seen = {"shown": [0, 0], "hidden": [0, 0]}
for line in open("named"):
    *_, module, why, name = line.rstrip("\n").split("\t")
    program = module.rsplit("/", 1)[-1]
    if program in seen:
        seen[program][0] += 1
        seen[program][1] += name != "?"
n, named = seen["shown"]
check(n > 50 and named > 0.9 * n, "beside it: %d of %d" % (named, n))
n, named = seen["hidden"]
check(n > 50 and named == 0, "by what only root may read: %d of %d" % (
    named, n))
ok("places with a name, of all: %s" % {key: "%d of %d" % (value[1], value[0])
                                       for key, value in seen.items()})
END
