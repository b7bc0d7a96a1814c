#!/bin/sh
# ASSERTION: .ci/run ends with one line that sums up all parts, and fails when
# a test failed, when a part died without its closing line, and when another
# number of tests was skipped than is pinned in it.  Easy to get wrong by
# looking at the status of the last pipe only.
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd bash
tmpdir
unset DTPROF_EXPECTED_SKIPS
mkdir -p .ci mk
pinned=$(sed -n 's/^expected_skips=.*:-\([0-9]*\)}.*/\1/p' "$SRC/.ci/run")
[ -n "$pinned" ] || fail "no number of skips is pinned"
cp "$SRC/.ci/run" .ci/

parts()		# closing line of check, of check-guest, exit status
{
	cat >mk/run.sh <<END
[ "\$CI" = true ] || exit 9
case \$1 in
check)		echo "$1" ;;
check-guest)	echo "$2" ;;
*)		echo '1 passed, 0 failed, 0 skipped' ;;
esac
exit $3
END
}

run()		# status last-line
{
	bash .ci/run >out 2>&1
	status=$?
	[ "$status" -eq "$1" ] && [ "$(tail -n 1 out)" = "$2" ] && return
	cat out
	fail "status $status, expected $1 and: $2"
}

parts "3 passed, 0 failed, $pinned skipped" '4 passed, 0 failed, 0 skipped' 0
run 0 "8 passed, 0 failed, $pinned skipped"
ok "the sum"
parts "3 passed, 0 failed, $((pinned + 1)) skipped" \
    '4 passed, 0 failed, 0 skipped' 0
run 1 "8 passed, 1 failed, $((pinned + 1)) skipped"
ok "one skip too many"
parts "3 passed, 2 failed, $pinned skipped" '4 passed, 1 failed, 0 skipped' 1
run 1 "8 passed, 3 failed, $pinned skipped"
ok "failures"
parts "3 passed, 0 failed, $pinned skipped" 'killed' 1
run 1 "4 passed, 1 failed, $pinned skipped"
ok "a part without its closing line"
parts "3 passed, 0 failed, $pinned skipped" '4 passed, 0 failed, 0 skipped' 1
run 1 "8 passed, 0 failed, $pinned skipped"
ok "make failed though no test did"
