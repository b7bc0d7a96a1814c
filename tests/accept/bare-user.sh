#!/bin/sh
# ASSERTION: on a bare Debian 12, as an ordinary user, both commands name in
# one line what root must run, and exit with 125; after exactly that line was
# run, both do what they say, with and without a network.  Easy to get wrong
# where something is tried that only root may do.
# TIMEOUT: 7200
. "${SRC:=$PWD}/tests/accept/lib-bare.sh"
bare_begin

for command in demo check; do
	bare_run user "sh mk/run.sh $command"
	bare_expect 125 'Run as root:' "$command without packages"
	line=$(sed -n 's/^ *\(apt-get update && .*\)/\1/p' "$tmp/out")
	[ "$(echo "$line" | grep -c .)" -eq 1 ] || fail "not one line: $line"
	bare_run root "$line"
	[ "$status" -eq 0 ] || fail "the line that $command names does not work"
	ok "the line that $command names works"
	for who in user offline-user; do
		what=$command
		# Once in full is enough.
		[ "$who" = offline-user ] && [ $command = check ] &&
		    what='check T=tests/abi'
		bare_run $who "sh mk/run.sh $what"
		case $command in
		demo)	bare_expect 0 'fired' "demo as $who" ;;
		check)	bare_expect 0 ' passed, 0 failed, ' "check as $who"
			tail -n 1 "$tmp/out" ;;
		esac
	done
done
