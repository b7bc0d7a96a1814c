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

/* Compilers name parts of a function by it, with a dot: main.cold. */
static bool
is_in(const char *const *names, const char *function)
{
	const size_t length = strcspn(function, ".");

	for (; names != NULL && *names != NULL; names++)
		if (strlen(*names) == length &&
		    memcmp(*names, function, length) == 0)
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

bool
prof_language_has_chain(unsigned kind)
{
	for (size_t n = 0; n < NLANGUAGES; n++)
		if (languages[n]->la_kind == kind &&
		    languages[n]->la_has_chain)
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

const char *
prof_runtime_advice(const struct prof_runtime *runtime)
{
	const struct prof_language *language =
	    languages[runtime->rt_language - 1];

	if (language->la_advice != NULL)
		return (language->la_advice(runtime));
	return (language->la_missing != NULL ? language->la_missing : "");
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

static void
inlined_list(const struct prof_code_object *code,
    struct prof_table_inlined *inlined)
{
	const struct prof_code_inlined *from = code->co_inlined;

	for (uint32_t n = 0; n < code->co_ninlined; n++, from++)
		inlined[n] = (struct prof_table_inlined){ from->in_name,
		    from->in_file, from->in_line, from->in_at };
}

void
prof_language_name_all(prof_language_fn *language,
    const struct prof_peek *memory, const struct prof_code_key *keys,
    size_t n, struct prof_buf *body)
{
	struct prof_table_inlined inlined[PROF_TABLE_INLINED];
	struct prof_code_object *code = malloc(sizeof(*code));
	void *kept[NLANGUAGES + 1] = { NULL };
	struct prof_peek peek = *memory;
	const struct prof_language *of;
	size_t i;

	for (; code != NULL && n > 0; n--, keys++) {
		of = language(keys->ck_language);
		memset(code, 0, offsetof(struct prof_code_object, co_step));
		peek.pk_kept = &kept[keys->ck_language % (NLANGUAGES + 1)];
		if (of == NULL || of->la_describe == NULL ||
		    !of->la_describe(&peek, keys, code) ||
		    code->co_name[0] == '\0')
			continue;
		inlined_list(code, inlined);
		prof_table_pack_code(body, &(struct prof_table_code){
		    .tc_number = keys->ck_number, .tc_name = code->co_name,
		    .tc_file = code->co_file, .tc_line = code->co_line,
		    .tc_step = code->co_step, .tc_nsteps = code->co_nsteps,
		    .tc_inlined = inlined,
		    .tc_ninlined = code->co_ninlined });
	}
	for (i = 1; i <= NLANGUAGES; i++)
		if (kept[i] != NULL)
			languages[i - 1]->la_forget(kept[i]);
	free(code);
}
