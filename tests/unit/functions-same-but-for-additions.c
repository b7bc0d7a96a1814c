/*
 * ASSERTION: when builds are compared, a function is the same whatever
 * compilers and linkers add to its name, also behind a demangled one with
 * templates; functions whose names are no such additions stay apart.
 *
 * Easy to get wrong: dots belong to names in Go; a dot within an addition;
 * what stands within the brackets of a template; a name that is made to take
 * long.
 */
/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "cli-check.h"
#include "compare/comparison.h"
#include "compare/names.h"

static void
is_base(const char *name, const char *want)
{
	char base[256];

	prof_function_base_name(name, base, sizeof(base));
	CHECK(strcmp(base, want) == 0, "%s is taken for %s, not %s", name,
	    base, want);
}

/* A name that nothing was added to. */
static void
stays(const char *name)
{
	is_base(name, name);
}

/* A million additions take no longer than a few. */
static void
endless(void)
{
	const size_t n = (2u << 20) + 1;
	char *name = malloc(n + 1), base[4];

	CHECK(name != NULL, "no memory");
	name[0] = 'f';
	for (size_t i = 1; i < n; i++)
		name[i] = i % 2 ? '.' : '1';
	name[n] = '\0';
	prof_function_base_name(name, base, sizeof(base));
	CHECK(strcmp(base, "f.1") == 0, "cut: %s", base);
	free(name);
	OK("a name of additions alone");
}

int
main(void)
{
	char base[4];

	is_base("f.isra.0", "f");
	is_base("f.constprop.12", "f");
	is_base("f.part.3", "f");
	is_base("f.cold", "f");
	is_base("f.cold.1", "f");
	is_base("f.lto_priv.0", "f");
	is_base("f.llvm.1234567890", "f");
	is_base("f.localalias", "f");
	is_base("f.123", "f");
	is_base("f.isra.0.part.1.cold", "f");
	is_base("f.constprop.0.isra.0", "f");
	OK("additions, one or several");
	is_base("max<int>(int, int) [clone .isra.0]", "max<int>(int, int)");
	is_base("a::b<c<d> >::e() [clone .constprop.1] [clone .cold]",
	    "a::b<c<d> >::e()");
	stays("max<int>(int, int)");
	stays("max<long>(long, long)");
	stays("operator<<(f.cold&)");
	stays("main::{lambda(int)#1}::operator()(int) const");
	OK("behind templates, and not within them");
	stays("main.main");
	stays("main.part");
	stays("main.clone");
	stays("runtime.exit");
	stays("main.startup");
	stays("main.partial.0x");
	stays(".cold");
	stays("");
	stays("cold");
	stays("coldest.coldest");
	OK("names that are none");
	prof_function_base_name("function.cold", base, sizeof(base));
	CHECK(strcmp(base, "fun") == 0, "cut: %s", base);
	OK("a name that is cut");
	endless();
	return (0);
}
