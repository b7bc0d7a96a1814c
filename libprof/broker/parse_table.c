/* SPDX-License-Identifier: ISC */
/*
 * The unwind table of an ELF file, and its interpreter, in the parser: see
 * parser.h, tables.h.
 */
#include <errno.h>
#include <string.h>

#include "tables.h"

static void
table_answer(struct prof_task *task, const struct prof_unwind_table *table,
    const struct prof_runtime *runtime)
{
	const struct prof_tabled_head head = {
		.td_what = PROF_TABLED,
		.td_machine = table->ut_machine,
		.td_base = table->ut_base,
		.td_span = table->ut_span,
		.td_nindex = table->ut_nindex,
		.td_nrows = table->ut_nrows,
		.td_nentries = table->ut_nentries,
		.td_runtime = *runtime,
	};
	const size_t index = table->ut_nindex * sizeof(*table->ut_index);
	const size_t rows = table->ut_nrows * sizeof(*table->ut_rows);
	const size_t entries = table->ut_nentries *
	    sizeof(*table->ut_entries);

	prof_task_answer(task, sizeof(head) + index + rows + entries);
	prof_task_send(task, &head, sizeof(head));
	prof_task_send(task, table->ut_index, index);
	prof_task_send(task, table->ut_rows, rows);
	prof_task_send(task, table->ut_entries, entries);
}

static void
answer_none(struct prof_task *task, enum prof_tabled what,
    const struct prof_runtime *runtime)
{
	const struct prof_tabled_head head = { .td_what = what,
	    .td_runtime = *runtime };

	prof_task_answer(task, sizeof(head));
	prof_task_send(task, &head, sizeof(head));
}

void
prof_parse_table(struct prof_task *task)
{
	struct prof_unwind_table *table;
	struct prof_runtime runtime = { 0 };
	struct prof_elf elf;

	/* It was one before: no memory, or it is being written to. */
	if (prof_elf_open(&elf, task->ta_fd) == -1) {
		answer_none(task, PROF_TABLED_LATER, &runtime);
		return;
	}
	prof_runtime_find(&elf, &runtime);
	table = prof_unwind_table_new(&elf);
	if (table == NULL)
		answer_none(task, errno != 0 ? PROF_TABLED_LATER :
		    PROF_TABLED_NONE, &runtime);
	else if (table->ut_nindex + table->ut_nrows > DTP_UW_SLAB_WORDS)
		answer_none(task, PROF_TABLED_LARGE, &runtime);
	else
		table_answer(task, table, &runtime);
	prof_unwind_table_free(table);
	prof_elf_close(&elf);
}

void
prof_parse_runtime(struct prof_task *task)
{
	struct prof_runtime runtime = { 0 };
	struct prof_elf elf;

	if (prof_elf_open(&elf, task->ta_fd) == 0) {
		prof_runtime_find(&elf, &runtime);
		prof_elf_close(&elf);
	}
	prof_task_answer(task, sizeof(runtime));
	prof_task_send(task, &runtime, sizeof(runtime));
}
