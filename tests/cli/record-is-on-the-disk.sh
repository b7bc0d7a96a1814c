#!/bin/sh
# SPDX-License-Identifier: ISC
# ASSERTION: before record says that a recording is there, its bytes and its
# directory are on the disk and the file is closed, and each of that is looked
# at: where one fails it is said, with status 125.
# Easy to get wrong: all of them succeed on every machine but the one whose
# disk fails or whose power goes.
. "${SRC:=$PWD}/tests/lib.sh"
need_perf
tmpdir
cat >wrap.c <<'END'
#define _GNU_SOURCE
#include <sys/stat.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* What a descriptor of the test's directory is: nothing, file, directory. */
static const char *what(int fd)
{
	struct stat st, our;

	if (fd < 3 || fstat(fd, &st) == -1 || stat(".", &our) == -1)
		return "";
	if (S_ISDIR(st.st_mode))
		return st.st_ino == our.st_ino ? "directory" : "";
	return stat("x.dtp", &our) == 0 && st.st_ino == our.st_ino ?
	    "file" : "";
}
/* Write down the call; is it the one that is to fail? */
static int fails(const char *call, int fd)
{
	const char *wanted = getenv("FAILS");
	char name[64];
	FILE *log;

	if (*what(fd) == '\0')
		return 0;
	snprintf(name, sizeof(name), "%s-%s", call, what(fd));
	log = fopen("log", "ae");
	if (log != NULL) {
		fprintf(log, "%s\n", name);
		fclose(log);
	}
	return wanted != NULL && strcmp(wanted, name) == 0;
}
#define WRAP(call)							\
int call(int fd)							\
{									\
	int (*next)(int) = (int (*)(int))dlsym(RTLD_NEXT, #call);	\
	int is_failing = fails(#call, fd), rv = next(fd);		\
									\
	if (is_failing)							\
		errno = EIO;						\
	return is_failing ? -1 : rv;					\
}
WRAP(fdatasync)
WRAP(fsync)
WRAP(close)
END
${CC:-cc} -shared -fPIC -o wrap.so wrap.c -ldl 2>err || fail "cc: $(cat err)"
record()	# status
{
	rm -f log
	expect "$1" env LD_PRELOAD="$tmp/wrap.so" ASAN_OPTIONS=\
verify_asan_link_order=0 "$DTPROF" record -o x.dtp -e cpu-clock -- true
}
for again in 0 1; do
	record 0
	expect_err '^dtprof: record: [0-9]+ sample'
	# The recorder's last calls; the recording before is x.dtp.old.
	grep -Ex 'fdatasync-file|close-file|fsync-directory' log | tail -n 3 |
	    sort | tr '\n' ' ' >calls
	[ "$(cat calls)" = "close-file fdatasync-file fsync-directory " ] ||
	    fail "run $again: $(cat log)"
done
ok "the file is synced and closed, and the directory synced"
for call in fdatasync-file close-file fsync-directory; do
	FAILS=$call
	export FAILS
	record 125
	expect_err '^dtprof: record: x.dtp: .*error'
done
ok "each failure is told, with status 125"
