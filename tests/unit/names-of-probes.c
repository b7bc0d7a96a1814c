/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A probe of a program is taken apart into file, function, offset
 * and arguments, quotes or not, as bpftrace writes it, too; what cannot be
 * taken apart is refused, and other events keep their meaning.
 *
 * Easy to get wrong: a path begins with the slash that begins settings, C++
 * names have colons and commas, and operator+ is no offset.
 */
#include "names.h"

/* The line. */
static uint32_t
taken(const char *text, const char *file, const char *function,
    uint64_t offset, size_t nterms)
{
	struct prof_spec spec;
	struct prof_err error;

	CHECK(prof_spec_parse(&spec, text, &error) == 0, "%s: %s", text,
	    error.pe_text);
	CHECK(spec.sp_is_probe && spec.sp_file != NULL &&
	    strcmp(spec.sp_provider, "uprobe") == 0, "%s", text);
	CHECK(strcmp(spec.sp_file, file) == 0, "%s: %s", text, spec.sp_file);
	CHECK(strcmp(spec.sp_function, function) == 0, "%s: %s", text,
	    spec.sp_function);
	CHECK(spec.sp_offset == offset && spec.sp_nterms == nterms,
	    "%s: +%llu, %zu terms", text, (unsigned long long)spec.sp_offset,
	    spec.sp_nterms);
	return (spec.sp_line);
}

static void
refused(const char *text, const char *why)
{
	struct prof_spec spec;
	struct prof_err error = { 0 };

	CHECK(prof_spec_parse(&spec, text, &error) == -1, "%s was taken",
	    text);
	CHECK(error.pe_code == PROF_E_EVENT_SYNTAX &&
	    strstr(error.pe_text, why) != NULL, "%s: %s", text,
	    error.pe_text);
}

/* Its filter, and the arguments that it names. */
static void
filtered(const char *text, const char *filter, const char *used)
{
	struct prof_spec spec;
	struct prof_err error = { 0 };
	char names[256] = "";

	CHECK(prof_spec_parse(&spec, text, &error) == 0, "%s: %s", text,
	    error.pe_text);
	CHECK(filter == NULL ? spec.sp_filter == NULL :
	    strcmp(spec.sp_filter, filter) == 0, "%s: %s", text,
	    spec.sp_filter);
	for (size_t n = 0; n < spec.sp_nused; n++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names),
		    n == 0 ? "%s" : " %s", spec.sp_used[n]);
	CHECK(strcmp(names, used) == 0, "%s: %s", text, names);
}

static void
other(const char *text)
{
	struct prof_spec spec;
	struct prof_err error = { 0 };

	CHECK(prof_spec_parse(&spec, text, &error) == 0 &&
	    spec.sp_file == NULL, "%s: %s", text, error.pe_text);
}

int
main(void)
{
	taken("uprobe:/bin/bash:readline", "/bin/bash", "readline", 0, 0);
	taken("uprobe:libc:malloc", "libc", "malloc", 0, 0);
	taken("u:libc:mem*", "libc", "mem*", 0, 0);
	taken("uprobe:./a:ns::f", "./a", "ns::f", 0, 0);
	taken("uprobe:./a:cpp:ns::f", "./a", "ns::f", 0, 0);
	taken("uprobe:./a:cpp::f", "./a", "cpp::f", 0, 0);
	taken("uprobe:./a:f(int, char*)", "./a", "f(int, char*)", 0, 0);
	taken("uprobe:./a:\"f<int, 4>::g\"", "./a", "f<int, 4>::g", 0, 0);
	taken("uprobe:\"/a:b/c d\":f", "/a:b/c d", "f", 0, 0);
	taken("uprobe:./a:f+16", "./a", "f", 16, 0);
	taken("uprobe:./a:\"f\"+0x10", "./a", "f", 16, 0);
	taken("uprobe:./a:operator+", "./a", "operator+", 0, 0);
	taken("uprobe:./a:operator++", "./a", "operator++", 0, 0);
	taken("uprobe:./a:\"operator/\"", "./a", "operator/", 0, 0);
	taken("uprobe:./a:f/arg0,arg1/", "./a", "f", 0, 2);
	CHECK(taken("uprobe:./a:f@12/arg0/", "./a", "f", 0, 1) == 12 &&
	    taken("uprobe:./a:\"f<a, 1>\"@7", "./a", "f<a, 1>", 0, 0) == 7 &&
	    taken("uprobe:./a:f@b", "./a", "f@b", 0, 0) == 0, "lines");

	filtered("uprobe:./a:f{arg0>1}", "arg0>1", "arg0");
	filtered("uprobe:./a:f/arg1/{str(arg0)=='a}{' && 3<arg1 || pid==1}",
	    "str(arg0)=='a}{' && 3<arg1 || pid==1", "str(arg0) arg1");
	filtered("kprobe:vfs_read{file->f_inode.i_ino in (1, 0x2)}",
	    "file->f_inode.i_ino in (1, 0x2)", "file->f_inode.i_ino");
	filtered("cycles/period=3/u{comm==\"a/b\"}", "comm==\"a/b\"", "");
	filtered("uprobe:\"/a{b\":\"f{g\"", NULL, "");

	refused("uprobe:", "file is missing");
	refused("uprobe:/bin/bash", "function is missing");
	refused("uprobe:/bin/bash:", "function is missing");
	refused("uprobe::f", "file is missing");
	refused("uprobe:\"/bin/bash:f", "a quote");
	refused("uprobe:./a:\"f", "a quote");
	refused("uprobe:./a:\"f\"g", "unexpected text");
	refused("uprobe:./a:\"f\"+g", "invalid offset");
	refused("uprobe:./a:\"f\"@0", "invalid offset or line");
	refused("uprobe:./a:f/arg0", "two slashes");
	refused("uprobe:./a:f/arg0/u", "two slashes");
	refused("uprobe:./a:f{arg0>1", "does not end in '}'");
	refused("uprobe:./a:f{arg0>1},g", "does not end in '}'");
	refused("uprobe:./a:f,g", "unexpected text");

	other("cycles/period=1000003/u");
	other("uprobes:x");
	other("unix:y:u");
	other("syscall:openat");
	return (passed());
}
