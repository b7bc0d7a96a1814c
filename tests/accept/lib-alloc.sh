# SPDX-License-Identifier: ISC
# shellcheck shell=sh
#
# A leak to be planted in a program, and what a recording has of it.  Include it
# after tests/lib.sh.

# plant.so: each call of a function leaks below planted_leak(), when $PLANTED
# is set, into which goes how many bytes.
plant_make()	# function result parameters arguments
{
	cat >plant.c <<END
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static unsigned long n, bytes;
static void *volatile last;

__attribute__((noinline)) void
planted_leak(void)
{
	const size_t size = 1000 + n++ % 37;

	last = malloc(size);
	bytes += size;
}

$2
$1($3)
{
	static $2 (*real)($3);
	void *found;

	if (real == NULL) {
		found = dlsym(RTLD_NEXT, "$1");
		memcpy(&real, &found, sizeof(real));
	}
	if (getenv("PLANTED") != NULL)
		planted_leak();
	return (real($4));
}

__attribute__((destructor)) static void
leak_say(void)
{
	FILE *out = n == 0 ? NULL : fopen(getenv("PLANTED"), "w");

	if (out != NULL)
		fprintf(out, "%lu\n", bytes);
}
END
	gcc -O1 -g -fPIC -shared -fno-builtin -fno-optimize-sibling-calls \
	    -o plant.so plant.c || fail "gcc"
}

# Bytes of the stacks that have a pattern.
sum()		# recording pattern argument ...
{
	file=$1 pattern=$2
	shift 2
	"$DTPROF" export --format folded --weight weight \
	    --filter 'comm!="sh"' "$@" "$file" 2>err |
	    awk -v p="$pattern" '$0 ~ p { sum += $NF }
		END { printf "%d\n", sum }'
}
