#!/bin/sh
# ASSERTION: there are no fewer tests and no fewer assertions, and no more
# exemptions from lint, than tests/pins says.  Easy to get wrong: a test that
# was renamed away, or an assertion dropped to make it pass, is seen by nobody.
. "${SRC:=$PWD}/tests/lib.sh"
tmpdir

count()		# what
{
	case $1 in
	tests)
		sh "$SRC/tests/run.sh" -p | wc -l
		;;
	accept)
		find "$SRC/tests/accept" "$SRC/tests/guest" -name '*.sh' \
		    ! -name 'lib*.sh' | wc -l
		;;
	assertions)
		find "$SRC/tests" -type f \( -name '*.sh' -o -name '*.[ch]' \
		    -o -name '*.py' -o -name '*.js' \) -exec cat {} + |
		    grep -E '(assert|check|CHECK|fail|expect[a-z_]*)\b' |
		    grep -vcE '^[[:space:]]*(#|\*|//)'
		;;
	exemptions)
		# This file names them, too.
		find "$SRC" -path "$SRC/build" -prune -o -type f \
		    ! -path '*/.git/*' ! -path "$SRC/mk/lint.sh" \
		    ! -name "${0##*/}" -print0 |
		    xargs -0 grep -hIE \
		    'shellcheck disable|NOLINT|cppcheck-suppress|lint: long' |
		    wc -l
		;;
	*)	fail "tests/pins: what is \"$1\"?" ;;
	esac
}

pins()		# file: compare each line with what there is
{
	while read -r what relation pinned; do
		now=$(count "$what") || fail "$now"
		case $relation in
		at-least)	[ "$now" -ge "$pinned" ] ;;
		at-most)	[ "$now" -le "$pinned" ] ;;
		*)		fail "tests/pins: \"$relation\"" ;;
		esac || {
			echo "$now $what, pinned: $relation $pinned"
			return 1
		}
		ok "$now $what, pinned: $relation $pinned"
	done <"$1"
}

pins "$SRC/tests/pins" || fail "change tests/pins only with a reason"
# The check itself can fail: one more test, one exemption fewer.
awk '$2 == "at-least" { $3 = 1000000 } { print }' "$SRC/tests/pins" >pins-more
awk '$2 == "at-most" { $3 = 0 } { print }' "$SRC/tests/pins" >pins-fewer
pins pins-more >out && fail "a million tests are there"
pins pins-fewer >out && fail "no exemption is there"
ok "a pin that does not hold is seen"
