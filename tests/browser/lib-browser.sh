# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# What tests of pages share; include it after tests/lib.sh.  Chromium is
# driven by playwright-core, which npm puts into the build directory once, and
# so are the programs that read what dtprof exports, and axe-core, which looks
# for what keeps people from a page.

# playwright-core: the last that takes Node 18.
npm_packages="playwright-core@1.58.0 pprof-format@2.3.2 speedscope@1.25.0
    axe-core@4.10.3"

# All of them, or what was there stays as it is: tests may run at once.
need_npm()
{
	at=$B/browser
	for package in $npm_packages; do
		grep -qs "\"version\": \"${package#*@}\"" \
		    "$at/node_modules/${package%@*}/package.json" && continue
		need_cmd npm
		mkdir -p "$at"
		echo '{"private": true}' >"$at/package.json"
		# shellcheck disable=SC2086 # a list
		(cd "$at" && npm install --no-audit --no-fund \
		    --no-package-lock --fetch-retries=1 --ignore-scripts \
		    $npm_packages) >npm.log 2>&1 ||
		    skip "npm cannot get them: $(grep -m 1 -i err npm.log)"
		return
	done
}

need_browser()
{
	need_cmd chromium
	need_cmd node
	[ -x "$B/tests/browser/make_page" ] || fail "make tests-built first"
	need_npm
}

make_page()	# known|hostile|empty|N file
{
	"$B/tests/browser/make_page" "$@" || fail "make_page $*"
}

# Runs checks in one browser; a line for each that held.
in_browser()	# script argument ...
{
	script=$1
	shift
	node "$SRC/tests/browser/$script" "$@" || fail "$script: see above"
}
