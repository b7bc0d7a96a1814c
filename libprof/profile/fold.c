/* SPDX-License-Identifier: ISC */
/*
 * What of a sample makes it differ from others: the key of a fold.  Called by
 * gather.c.
 */
#include "base/error.h"
#include "waits.h"

static bool
is_cut(uint8_t status)
{
	return (status != PROF_STACK_NONE && status != PROF_STACK_OK);
}

bool
prof_record_is_unwalked(const struct prof_record *record)
{
	return (record->pr_by_chance &&
	    record->pr_kstatus == PROF_STACK_NONE &&
	    record->pr_ustatus == PROF_STACK_NONE);
}

void
prof_fold_key(struct prof_fold *fold, const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;

	memset(fold, 0, sizeof(*fold));
	fold->fo_event = record->pr_event;
	if (sample->sm_kernel.sk_there) {
		fold->fo_bits |= PROF_FOLD_KERNEL;
		fold->fo_kleaf = sample->sm_kernel.sk_leaf;
		fold->fo_kstack = sample->sm_kernel.sk_number;
	}
	if (sample->sm_user.sk_there) {
		fold->fo_bits |= PROF_FOLD_USER;
		fold->fo_uleaf = sample->sm_user.sk_leaf;
		fold->fo_ustack = sample->sm_user.sk_number;
	}
	if (sample->sm_script.sk_there) {
		fold->fo_script = sample->sm_script.sk_number;
		fold->fo_instruction = (uint32_t)sample->sm_script.sk_leaf;
	}
	if (record->pr_by_chance)
		fold->fo_bits |= PROF_FOLD_CHANCE |
		    (uint64_t)record->pr_by_chance << PROF_FOLD_STEP_SHIFT;
	if (prof_record_is_unwalked(record))
		fold->fo_bits |= PROF_FOLD_UNWALKED;
	if (is_cut(record->pr_kstatus))
		fold->fo_bits |= PROF_FOLD_KERNEL_CUT;
	if (is_cut(record->pr_ustatus))
		fold->fo_bits |= PROF_FOLD_USER_CUT;
	if (fold->fo_bits & (PROF_FOLD_KERNEL | PROF_FOLD_USER) ||
	    record->pr_ip == 0)
		return;
	if (record->pr_in_kernel) {
		fold->fo_bits |= PROF_FOLD_KERNEL_PC;
		fold->fo_kleaf = record->pr_ip;
	} else {
		fold->fo_bits |= PROF_FOLD_USER_PC;
		fold->fo_uleaf = record->pr_ip;
	}
}

/* Which frame is the innermost of a mixed stack is known once it is merged. */
void
prof_fold_leaf(struct prof_fold *fold)
{
	const uint64_t kernel = PROF_FOLD_KERNEL | PROF_FOLD_KERNEL_PC;
	const uint64_t user = PROF_FOLD_USER | PROF_FOLD_USER_PC;

	if (fold->fo_bits & (kernel | PROF_FOLD_KERNEL_CUT)) {
		fold->fo_bits &= ~(user | PROF_FOLD_USER_CUT);
		fold->fo_uleaf = 0;
		fold->fo_script = fold->fo_instruction = 0;
	}
	if (fold->fo_bits >> PROF_FOLD_CALL_SHIFT != 0) {
		fold->fo_bits &= ~(kernel | user | PROF_FOLD_KERNEL_CUT |
		    PROF_FOLD_USER_CUT);
		fold->fo_kleaf = fold->fo_uleaf = 0;
		fold->fo_script = fold->fo_instruction = 0;
	}
	if (fold->fo_bits & (kernel | user))
		fold->fo_bits &= ~(uint64_t)(PROF_FOLD_KERNEL_CUT |
		    PROF_FOLD_USER_CUT);
	fold->fo_kstack = 0;
	if (fold->fo_script == 0)
		fold->fo_ustack = 0;
}

int
prof_folding_init(struct prof_folding *folding,
    const struct prof_reader *reader,
    const struct prof_profile_options *options, struct prof_err *error)
{
	folding->fg_reader = reader;
	folding->fg_leaves = options->pl_leaves != 0;
	if (prof_wait_event(reader) != 0 &&
	    (folding->fg_outside = prof_outside_new(reader)) == NULL)
		return (prof_fail_nomem(error));
	return (0);
}

void
prof_fold_make(struct prof_fold *fold, const struct prof_folding *folding,
    const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;

	prof_fold_key(fold, sample);
	fold->fo_bits |= (uint64_t)prof_fold_call(folding->fg_reader,
	    record) << PROF_FOLD_CALL_SHIFT;
	if (folding->fg_outside != NULL)
		fold->fo_bits |= prof_outside_bits(folding->fg_outside,
		    prof_reader_event(folding->fg_reader, record->pr_event),
		    record);
	/* tree.c looks at the callers of a wait. */
	if (folding->fg_leaves && (fold->fo_bits & PROF_FOLD_BLOCKED) == 0)
		prof_fold_leaf(fold);
}

void
prof_folding_fini(struct prof_folding *folding)
{
	prof_outside_free(folding->fg_outside);
}

uint32_t
prof_fold_call(const struct prof_reader *reader,
    const struct prof_record *record)
{
	const struct prof_event_info *info;

	if (record->pr_nargs == 0 || record->pr_strs[0] != NULL)
		return (0);
	info = prof_reader_event(reader, record->pr_event);
	return (record->pr_args[0] < info->pi_ncalls ?
	    (uint32_t)record->pr_args[0] + 1 : 0);
}
