/* SPDX-License-Identifier: ISC */
/* Where probes can be in an ELF file, in the parser: see parser.h, sites.h. */
#include <errno.h>
#include <string.h>

#include "elf/debug_file.h"
#include "sites.h"

static int
ask_debug(void *task, struct prof_debug_want *want)
{
	return (prof_task_ask(task, want, sizeof(*want)));
}

void
prof_parse_sites(struct prof_task *task)
{
	struct prof_sited_head head = { 0 };
	const struct prof_sited_ask *ask = task->ta_bytes;
	struct prof_sites_want want;
	struct prof_sites sites = { 0 };
	size_t bytes;

	if (task->ta_size != sizeof(*ask))
		return;
	prof_debug_open_by(ask_debug, task);
	want.sw_kind = (enum prof_site_kind)ask->sa_kind;
	want.sw_pattern = ask->sa_pattern;
	want.sw_offset = ask->sa_offset;
	want.sw_line = ask->sa_line;
	want.sw_words = ask->sa_has_words ? ask->sa_words : NULL;
	if (prof_sites_find(task->ta_fd, &want, &sites) == -1)
		head.sd_errno = (uint32_t)errno;
	head.sd_n = sites.st_n;
	head.sd_found = sites.st_found;
	head.sd_functions = sites.st_functions;
	for (size_t n = 0; n < PROF_NOTE_N; n++)
		head.sd_bad[n] = sites.st_bad[n];
	bytes = sites.st_n * sizeof(*sites.st_site);
	prof_task_answer(task, sizeof(head) + bytes);
	prof_task_send(task, &head, sizeof(head));
	prof_task_send(task, sites.st_site, bytes);
	prof_sites_free(&sites);
}
