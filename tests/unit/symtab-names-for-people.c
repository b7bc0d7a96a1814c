/*
 * ASSERTION: Names of C++, Rust and D are shown as in their sources, what is
 * not mangled is left alone, a name that would become endless costs neither
 * time nor memory, and folding takes off just what does not tell functions of
 * a kind apart.
 *
 * Easy to get wrong: "<" and "(" are also names of operators; a name of 200
 * bytes may stand for 2^60.
 */
/* SPDX-License-Identifier: ISC */
#include <stdbool.h>
#include <string.h>

#include "cli-check.h"
#include "elf/demangle.h"

struct pair {
	const char	*pa_from;
	const char	*pa_to;		/* NULL: nothing is made of it */
};

/* What c++filt makes of these is compared elsewhere. */
static const struct pair shown[] = {
	{ "main", NULL },
	{ "_start", NULL },
	{ "_Zfoo", NULL },
	{ "", NULL },
	{ "_", NULL },
	{ "_ZN3foo3barEv", "foo::bar()" },
	{ "_ZN3foo3barEv.cold", "foo::bar() [clone .cold]" },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi",
	    "std::vector<int, std::allocator<int> >::push_back(int const&)" },
	/* The hash of a Rust name goes. */
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
	    "core::fmt::Formatter::pad" },
	{ "_RNvC6_123foo3bar", "123foo::bar" },
	{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
	{ "_RNqCs4fqI2P2rA04_11utf8_identsu3__p1ba", NULL },
	{ "_D8demangle4testFaZv", "demangle.test(char)" },
	{ "_D8demangle11__T4testTiZ4testFiZv",
	    "demangle.test!(int).test(int)" },
};

static const struct pair folded[] = {
	{ "main", "main" },
	{ "memcpy@plt", "memcpy@plt" },
	{ "foo::bar()", "foo::bar()" },
	{ "foo::bar(int, char const*) const", "foo::bar()" },
	{ "foo::bar() [clone .cold]", "foo::bar()" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)",
	    "std::vector<..>::push_back()" },
	{ "void std::sort<long*>(long*, long*)", "std::sort<..>()" },
	{ "std::enable_if<(1)<(2), int>::type f<int>(int)", "f<..>()" },
	{ "unsigned long g<>()", "g<>()" },
	{ "(anonymous namespace)::f(int)", "(anonymous namespace)::f()" },
	{ "A::operator<(A const&) const", "A::operator<()" },
	{ "std::ostream& operator<< <int>(std::ostream&, int)",
	    "operator<<<..>()" },
	{ "A<int>::operator()(int) const", "A<..>::operator()()" },
	{ "A::operator->()", "A::operator->()" },
	{ "A::operator unsigned long() const",
	    "A::operator unsigned long()" },
	{ "A::operator std::vector<int>()", "A::operator std::vector<..>()" },
	{ "operator new(unsigned long)", "operator new()" },
	{ "operator delete[](void*)", "operator delete[]()" },
	{ "main::{lambda(int)#1}::operator()(int) const",
	    "main::{lambda()#1}::operator()()" },
	{ "work(int)::Local::twice(long)", "work()::Local::twice()" },
	{ "void f<&(g(int))>()", "f<..>()" },
	{ "f<A::operator->>(int)", "f<..>()" },
	{ "my_operator(int)", "my_operator()" },
	{ "operators::f(int)", "operators::f()" },
	/* Not of C++: as they are. */
	{ "<alloc::vec::Vec<T> as core::iter::Iterator>::next",
	    "<alloc::vec::Vec<T> as core::iter::Iterator>::next" },
	{ "core::ptr::drop_in_place<alloc::string::String>",
	    "core::ptr::drop_in_place<alloc::string::String>" },
	{ "LazyCompile:~read file:///a.js:12",
	    "LazyCompile:~read file:///a.js:12" },
	{ "main.(*T).Method", "main.(*T).Method" },
	{ "f(int", "f(int" },
	{ "f<int", "f<int" },
	{ ")", ")" },
	{ "", "" },
};

static void
compare(const char *what, char *is, const struct pair *pair)
{
	CHECK((is == NULL) == (pair->pa_to == NULL) &&
	    (is == NULL || strcmp(is, pair->pa_to) == 0),
	    "%s of \"%s\" is \"%s\", not \"%s\"", what, pair->pa_from,
	    is == NULL ? "-" : is, pair->pa_to == NULL ? "-" : pair->pa_to);
	free(is);
}

/* A reference to an earlier part, as Rust writes it, and D. */
static const char *
base62(char text[8], size_t value)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	value--;
	if (value < 62)
		sprintf(text, "%c_", digits[value]);
	else
		sprintf(text, "%c%c_", digits[value / 62], digits[value % 62]);
	return (text);
}

static const char *
base26(char text[8], size_t back)
{
	if (back < 26)
		sprintf(text, "Q%c", (char)('a' + back));
	else
		sprintf(text, "Q%c%c", (char)('A' + back / 26),
		    (char)('a' + back % 26));
	return (text);
}

/*
 * Each type is made of the one before, twice; so are 2^26 parts written in
 * some hundred bytes.
 */
static void
endless(void)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char cxx[1024] = "_Z1f1XIiiE", rust[1024] = "_RINvC1a1bThhE";
	char d[1024] = "_D1a1bFHaAa", text[8];
	size_t n, rust_at = 8, d_at = strlen("_D1a1bF"), here;

	for (n = 0; n < 26; n++) {
		sprintf(cxx + strlen(cxx), "S_IS%c_S%c_E", digits[n],
		    digits[n]);
		here = strlen(rust) - 2;
		base62(text, rust_at);
		sprintf(rust + strlen(rust), "TB%sB%sE", text, text);
		rust_at = here;
		here = strlen(d);
		strcat(d, "H");
		strcat(d, base26(text, strlen(d) - d_at));
		strcat(d, base26(text, strlen(d) - d_at));
		d_at = here;
	}
	strcat(rust, "E");
	strcat(d, "Zv");
	CHECK(prof_demangle(cxx) == NULL, "an endless name ended");
	CHECK(prof_demangle(rust) == NULL, "an endless name ended");
	CHECK(prof_demangle(d) == NULL, "an endless name ended");
}

static void
very_long(void)
{
	size_t length = 1u << 20;
	char *name = malloc(length + 1), *made;

	CHECK(name != NULL, "malloc");
	memset(name, '<', length);
	memcpy(name, "_Z", 2);
	name[length] = '\0';
	CHECK(prof_demangle(name) == NULL, "a megabyte was demangled");
	made = prof_name_fold(name);
	CHECK(made != NULL && strcmp(made, name) == 0, "folded a megabyte");
	free(made);
	memset(name, '(', length);
	made = prof_name_fold(name);
	CHECK(made != NULL && strcmp(made, name) == 0, "folded a megabyte");
	free(made);
	free(name);
}

int
main(void)
{
	size_t n;

	for (n = 0; n < sizeof(shown) / sizeof(shown[0]); n++)
		compare("name", prof_demangle(shown[n].pa_from), &shown[n]);
	for (n = 0; n < sizeof(folded) / sizeof(folded[0]); n++)
		compare("fold", prof_name_fold(folded[n].pa_from),
		    &folded[n]);
	endless();
	very_long();
	printf("ok: names of three languages, folded ones, endless ones\n");
	return (0);
}
