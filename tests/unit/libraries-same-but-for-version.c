/*
 * ASSERTION: When builds are compared, a library is the same under each
 * version of it, and is no other library; programs are all the program; and
 * --by module calls libraries by names that tell them apart.
 *
 * Easy to get wrong: digits stand within names, too: libQt5Core, libQt5Gui.
 */
/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli-check.h"
#include "compare/comparison.h"
#include "compare/names.h"

static void
is_same(const char *a, const char *b, bool same)
{
	char *ka = prof_function_key("f", a), *kb = prof_function_key("f", b);

	CHECK(ka != NULL && kb != NULL, "no memory");
	CHECK((strcmp(ka, kb) == 0) == same, "%s and %s are %s", a, b,
	    same ? "not the same" : "the same");
	free(ka);
	free(kb);
}

static void
is_called(const char *path, const char *want)
{
	char name[256];

	prof_module_base_name(path, name, sizeof(name));
	CHECK(strcmp(name, want) == 0, "%s is called %s, not %s", path, name,
	    want);
}

int
main(void)
{
	is_same("/lib/libc-2.36.so", "/usr/lib/libc.so.6", true);
	is_same("/lib/libpython3.9.so.1.0", "/lib/libpython3.11.so.1.0",
	    true);
	is_same("/lib/libgtk-3.so.0", "/lib/libgtk-4.so.1", true);
	is_same("/lib/libQt5Core.so.5.15.2", "/lib/libQt5Core.so.5.15.8",
	    true);
	is_same("/lib/libQt5Core.so.5", "/lib/libQt5Gui.so.5", false);
	is_same("/lib/libSDL2-2.0.so.0", "/lib/libSDL2_mixer-2.0.so.0",
	    false);
	is_same("/lib/libk5crypto.so.3", "/lib/libkrb5.so.3", false);
	is_same("/bin/sort.old", "/tmp/sort-9.1", true);
	is_same("/bin/sort", "/lib/libc.so.6", false);
	is_same("[kernel]", "[vdso]", false);
	OK("versions are passed over, other digits are not");
	is_called("/lib/libc-2.36.so", "libc.so");
	is_called("/lib/libQt5Gui.so.5", "libQt5Gui.so");
	is_called("/opt/sort-9.1", "sort-9.1");
	is_called("[kernel]", "[kernel]");
	OK("by module each has a name of its own");
	return (0);
}
