/* SPDX-License-Identifier: ISC */
/*
 * Values of arguments, where a profile is to have them above its functions
 * (PROF_ROOT_ARGS): what a sample has of all that are asked for is one text,
 *
 *	prev_comm, prev_state		bash\0 1\0
 *
 * and the same text has the same number.  An event without the argument has
 * "-" for it.  Called by gather.c, by each thread with tables of its own, and
 * by tree.c, which makes labels of the texts.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile_impl.h"
#include "recording/query.h"

#define VALUE_SIZE	256	/* of one value; strings are shorter */
/* Memory, with what tables and later steps keep of the same. */
#define TEXT_BYTES	128

static bool
is_signed(const struct prof_event_info *info,
    const struct prof_record *record, uint32_t n)
{
	const struct prof_syscall *call = info->pi_is_call && n >= 2 ?
	    prof_record_call(info, record) : NULL;

	if (call != NULL && n - 2 < call->cl_nargs)
		return (call->cl_arg_is_signed[n - 2]);
	return (n < info->pi_nargs && info->pi_arg_is_signed[n]);
}

/* As script prints it; how many bytes, with the 0 behind it. */
static size_t
put_value(char *text, const struct prof_event_info *info,
    const struct prof_record *record, int n)
{
	const uint64_t value = n < 0 ? 0 : record->pr_args[n];

	if (n < 0)
		(void)snprintf(text, VALUE_SIZE, "-");
	else if (record->pr_strs[n] != NULL)
		(void)snprintf(text, VALUE_SIZE, "%s", record->pr_strs[n]);
	else if (is_signed(info, record, (uint32_t)n))
		(void)snprintf(text, VALUE_SIZE, "%" PRId64, (int64_t)value);
	else if (value >> 47 != 0)
		(void)snprintf(text, VALUE_SIZE, "0x%" PRIx64, value);
	else
		(void)snprintf(text, VALUE_SIZE, "%" PRIu64, value);
	return (strlen(text) + 1);
}

static uint32_t
text_number(struct prof_args *args, const char *text, size_t length)
{
	char **slot;
	size_t *size;
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&args->ag_by_text, text, length, &is_new);
	if (n == PROF_INTERN_FAILED || !is_new)
		return (n);
	slot = prof_grow((void **)&args->ag_text, &args->ag_n, &args->ag_cap,
	    sizeof(*slot));
	if (slot == NULL)
		return (PROF_INTERN_FAILED);
	*slot = malloc(length);
	size = prof_grow((void **)&args->ag_length, &args->ag_nlengths,
	    &args->ag_cap_length, sizeof(*size));
	if (*slot == NULL || size == NULL)
		return (PROF_INTERN_FAILED);
	memcpy(*slot, text, length);
	*size = length;
	return (n);
}

uint32_t
prof_args_of(struct prof_args *args, struct prof_budget *budget,
    const struct prof_profile_options *options,
    const struct prof_event_info *info, const struct prof_record *record)
{
	char text[PROF_MAX_ARGS * VALUE_SIZE];
	size_t length = 0;
	uint32_t n;

	for (size_t i = 0; i < options->pl_nargs && i < PROF_MAX_ARGS; i++)
		length += put_value(text + length, info, record,
		    prof_record_argument(info, record, options->pl_args[i]));
	n = prof_dict_peek(&args->ag_by_text, text, length);
	if (n != PROF_INTERN_FAILED)
		return (n);
	if (!prof_budget_take(budget, TEXT_BYTES + 2 * length))
		return (PROF_ARGS_OVER);
	return (text_number(args, text, length));
}

uint32_t
prof_args_join(struct prof_args *args, const struct prof_args *from,
    uint32_t n)
{
	return (text_number(args, from->ag_text[n], from->ag_length[n]));
}

void
prof_args_fini(struct prof_args *args)
{
	for (size_t i = 0; i < args->ag_n; i++)
		free(args->ag_text[i]);
	free(args->ag_text);
	free(args->ag_length);
	prof_dict_free(&args->ag_by_text);
}
