/* SPDX-License-Identifier: ISC */
/*
 * The languages of languages.def, and what is asked of all of them.
 */
#include <stdlib.h>
#include <string.h>

#include "language.h"
#include "recording/frame.h"

static const struct prof_language *const languages[] = {
#define PROF_LANGUAGE(name) &prof_language_##name,
#include "languages.def"
#undef PROF_LANGUAGE
};
#define NLANGUAGES	(sizeof(languages) / sizeof(languages[0]))

const struct prof_language *
prof_language_at(unsigned number)
{
	return (number == 0 || number > NLANGUAGES ? NULL :
	    languages[number - 1]);
}

static bool
is_in(const char *const *names, const char *function)
{
	for (; names != NULL && *names != NULL; names++)
		if (strcmp(*names, function) == 0)
			return (true);
	return (false);
}

bool
prof_language_runs(unsigned kind, const char *function)
{
	for (size_t n = 0; n < NLANGUAGES; n++)
		if (languages[n]->la_kind == kind &&
		    is_in(languages[n]->la_runs, function))
			return (true);
	return (false);
}

enum prof_frame_kind
prof_language_of_jit(const char *function)
{
	const char *const *jit;

	for (size_t n = 0; n < NLANGUAGES; n++)
		for (jit = languages[n]->la_jit; jit != NULL && *jit != NULL;
		    jit++)
			if (strncmp(*jit, function, strlen(*jit)) == 0)
				return (languages[n]->la_kind);
	return (PROF_FRAME_NATIVE);
}

uint64_t
prof_runtime_head(const struct prof_runtime *runtime)
{
	return ((uint64_t)languages[runtime->rt_language - 1]->la_kind <<
	    PROF_WORD_KIND_SHIFT | (uint64_t)(runtime->rt_language |
	    runtime->rt_variant << PROF_LANGUAGE_BITS) <<
	    PROF_WORD_FLAGS_SHIFT);
}

void
prof_runtime_find(struct prof_elf *elf, struct prof_runtime *runtime)
{
	memset(runtime, 0, sizeof(*runtime));
	for (uint32_t n = 0; n < NLANGUAGES; n++)
		if (languages[n]->la_find != NULL &&
		    languages[n]->la_find(elf, runtime)) {
			runtime->rt_language = n + 1;
			runtime->rt_chain.ch_head = prof_runtime_head(runtime);
			return;
		}
}

void
prof_language_name_all(prof_language_fn *language,
    const struct prof_peek *memory, const struct prof_code_key *keys,
    size_t n, struct prof_buf *body)
{
	struct prof_code_object *code = malloc(sizeof(*code));
	const struct prof_language *of;

	for (; code != NULL && n > 0; n--, keys++) {
		of = language(keys->ck_language);
		memset(code, 0, offsetof(struct prof_code_object, co_step));
		if (of == NULL || of->la_describe == NULL ||
		    !of->la_describe(memory, keys, code) ||
		    code->co_name[0] == '\0')
			continue;
		prof_table_pack_code(body, &(struct prof_table_code){
		    .tc_number = keys->ck_number, .tc_name = code->co_name,
		    .tc_file = code->co_file, .tc_line = code->co_line,
		    .tc_step = code->co_step, .tc_nsteps = code->co_nsteps });
	}
	free(code);
}
