# SPDX-License-Identifier: ISC
# ASSERTION: In 10,000 calls each of the Python of this system, of Debian 13 and
# unstable (unpacked, with their own C library and loader), and of every other
# python3.11 to 3.14 on PATH, the Python frames of each sample are the list that
# the interpreter itself has: functions, files and lines, as in
# tests/interop/python-stacks-as-the-interpreter.sh.
#
# Easy to get wrong: what lies elsewhere in another version or build; a shared
# libpython; a program that the loader was started with, or that has the
# interpreter as a library; a thread that was in several interpreters.
# TIMEOUT: 900

. "${SRC:=$PWD}/tests/lib.sh"
need_root
need_cmd apt-get dpkg-deb gcc
tmpdir
. "$SRC/tests/accept/lib-python.sh"

judge()		# what
{
	"$DTPROF" script --json --lines x.dtp >script.json 2>script.err ||
	    fail "script: $(cat script.err)"
	python3 "$SRC/tests/interop/python_tokens.py" tokens.json \
	    <script.json || fail "$1: see above"
	ok "$1"
}

record()	# what command ...
{
	what=$1
	shift
	"$DTPROF" record -o x.dtp -e syscall:newfstatat:entry -- "$@" \
	    2>record.err || {
		cat record.err
		fail "record $what"
	}
	judge "$what"
}

tokens()	# what command ...
{
	what=$1
	shift
	record "$what" "$@" "$SRC/tests/work/tokens.py" 10000 4 tokens.json
	record "$what, subinterpreters" "$@" \
	    "$SRC/tests/work/subinterpreters.py" 1000 tokens.json
}

# A program that has the interpreter as a library, in a thread of its own.
embedded()	# libpython home
{
	[ -e "$1" ] || return 0
	record "embedded: ${1##*/}" env PYTHONHOME="$2" ./embed "$1" \
	    "$SRC/tests/work/tokens.py" 3000 3 tokens.json
}

cat >embed.c <<'END'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static int argc;
static char **argv;

static void *
run(void *arg)
{
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
	int (*bytes_main)(int, char **);

	bytes_main = library == NULL ? NULL : dlsym(library, "Py_BytesMain");
	if (bytes_main == NULL || bytes_main(argc - 1, argv + 1) != 0)
		printf("%s\n", library == NULL ? dlerror() : "failed");
	return (arg);
}

int
main(int c, char **v)
{
	pthread_t thread;

	argc = c;
	argv = v;
	return (pthread_create(&thread, NULL, run, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0);
}
END
compile -o embed embed.c -ldl -lpthread || fail gcc

tokens "$(/usr/bin/python3 --version)" /usr/bin/python3
for library in /usr/lib/*-linux-gnu/libpython3.1[1-4].so.1.0; do
	embedded "$library" /usr
done
with_unpacked tokens
for python in $(other_pythons); do
	[ "$python" = /usr/bin/python3.11 ] || {
		tokens "$python" "$python"
		home=$(dirname "$(dirname "$python")")
		embedded "$(echo "$home"/lib/libpython3.*.so.1.0)" "$home"
	}
done
