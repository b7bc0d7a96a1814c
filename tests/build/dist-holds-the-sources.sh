#!/bin/sh
# ASSERTION: make dist makes one archive of exactly the files of the last
# commit, the same bytes each time.  Easy to get wrong with a clock in it.
. "${SRC:=$PWD}/tests/build/lib.sh"
need_cmd git gzip
git -C "$SRC" rev-parse HEAD >/dev/null 2>&1 || {
	# In an unpacked archive there is nothing to make one of.
	make -C "$SRC" O="$B" dist >/dev/null 2>&1 &&
	    fail "an archive of nothing"
	ok "no repository: make dist fails"
	exit 0
}
tmpdir
for n in 1 2; do
	make -C "$SRC" O="$tmp/o$n" dist >log 2>&1 || fail "$(cat log)"
done
cmp o1/dtprof-*.tar.gz o2/dtprof-*.tar.gz || fail "the bytes differ"
ok "the same bytes each time"
tar -tzf o1/dtprof-*.tar.gz | sed 's,^dtprof-[^/]*/,,' | grep -v '/$' |
    grep . | sort >in-archive
git -C "$SRC" ls-tree -r --name-only HEAD | sort >in-commit
diff in-commit in-archive || fail "the files differ"
grep -qx mk/run.sh in-archive || fail "mk/run.sh is not in it"
ok "$(wc -l <in-archive) files"
