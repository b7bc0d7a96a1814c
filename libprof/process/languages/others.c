/* SPDX-License-Identifier: ISC */
/*
 * Interpreters whose frames are not known: programs that they run are native
 * ones, and are said to be so.  Each is recognized by a symbol that its
 * programs and extensions need, so that it is there in stripped files; so is it
 * in programs that could run a script and do not.
 */
#include <stdio.h>

#include "elf/view.h"
#include "language.h"

static const struct {
	const char	*ot_name;
	const char	*ot_symbol;
	const char	*ot_advice;	/* NULL: nothing helps */
} others[] = {
	{ "Java", "gHotSpotVMStructs", " without a perf map: write a perf map "
	    "with java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit" },
	{ "Erlang", "enif_make_atom", " without a perf map: write a perf map "
	    "with erl +JPperf true" },
	{ "PyPy", "pypy_main_startup", NULL },
	{ "SBCL", "lisp_startup_options", NULL },
	{ "Ruby", "ruby_run_node", NULL },
	{ "PHP", "zend_execute_scripts", NULL },
	{ "Perl", "Perl_runops_standard", NULL },
};
#define NOTHERS	(sizeof(others) / sizeof(others[0]))

static bool
others_find(struct prof_elf *elf, struct prof_runtime *runtime)
{
	for (uint32_t n = 0; n < NOTHERS; n++)
		if (prof_elf_exports(elf, others[n].ot_symbol)) {
			runtime->rt_version = n;
			(void)snprintf(runtime->rt_name,
			    sizeof(runtime->rt_name), "%s", others[n].ot_name);
			return (true);
		}
	return (false);
}

static const char *
others_advice(const struct prof_runtime *runtime)
{
	return (runtime->rt_version < NOTHERS &&
	    others[runtime->rt_version].ot_advice != NULL ?
	    others[runtime->rt_version].ot_advice : "");
}

const struct prof_language prof_language_others = {
	.la_name = "others",
	.la_kind = PROF_FRAME_NATIVE,
	.la_find = others_find,
	.la_advice = others_advice,
};
