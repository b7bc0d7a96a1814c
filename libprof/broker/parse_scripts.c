/* SPDX-License-Identifier: ISC */
/* Code objects in a process's memory, in the parser: see scripts.h. */
#include "scripts.h"

void
prof_parse_scripts(struct prof_task *task)
{
	const struct prof_peek memory = { .pk_fd = task->ta_fd };
	const size_t n = task->ta_size / sizeof(struct prof_code_key);
	struct prof_buf body = { 0 };

	if (n > PROF_SCRIPTS_MOST)
		return;
	prof_language_name_all(prof_language_at, &memory, task->ta_bytes, n,
	    &body);
	if (body.bf_failed)
		body.bf_len = 0;
	prof_task_answer(task, body.bf_len);
	prof_task_send(task, body.bf_data, body.bf_len);
	prof_buf_free(&body);
}
