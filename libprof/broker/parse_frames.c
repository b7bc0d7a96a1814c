/* SPDX-License-Identifier: ISC */
/* Call frame information of an ELF file, in the parser: see frames.h. */
#include <stdlib.h>
#include <string.h>

#include "elf/unwind_table.h"
#include "frames.h"

static void
send_answer(struct prof_task *task, const struct prof_object *object,
    const struct prof_frames *frames, bool is_all)
{
	struct prof_framed_head head;
	const size_t entries = frames->fm_nentries *
	    sizeof(*frames->fm_entry);

	memset(&head, 0, sizeof(head));
	head.fh_all = is_all;
	head.fh_ntext = object->ob_ntext;
	head.fh_nouter = (uint32_t)object->ob_nouter;
	head.fh_nentries = frames->fm_nentries;
	head.fh_bytes = frames->fm_size;
	memcpy(head.fh_text, object->ob_text, sizeof(head.fh_text));
	memcpy(head.fh_outer, object->ob_outer, sizeof(head.fh_outer));
	prof_task_answer(task, sizeof(head) + entries + frames->fm_size);
	prof_task_send(task, &head, sizeof(head));
	prof_task_send(task, frames->fm_entry, entries);
	prof_task_send(task, frames->fm_bytes, frames->fm_size);
}

/* All entries; their bytes stay the file's.  -1: no memory. */
static int
read_all(struct prof_elf *elf, struct prof_frames *frames)
{
	struct prof_cfi_input input = { 0 };

	memset(frames, 0, sizeof(*frames));
	if (!prof_unwind_frames(elf, &input))
		return (0);
	frames->fm_bytes = input.ci_bytes;
	frames->fm_size = input.ci_size;
	return (prof_cfi_entries(&input, &frames->fm_entry,
	    &frames->fm_nentries));
}

static void
places_answer(struct prof_task *task, struct prof_elf *elf,
    const struct prof_frames_request *request, size_t nplaces)
{
	struct prof_object *object = calloc(1, sizeof(*object) + 1);
	struct prof_frames frames;

	if (object == NULL)
		return;
	if (!request->fr_looked)
		prof_object_look(object, elf);
	if (nplaces > 0 && prof_unwind_frames_some(elf, request->fr_offset,
	    nplaces, &frames) == 0) {
		send_answer(task, object, &frames, false);
		free((void *)(uintptr_t)frames.fm_bytes);
		free(frames.fm_entry);
	} else if (read_all(elf, &frames) == 0) {
		send_answer(task, object, &frames, true);
		free(frames.fm_entry);
	}
	free(object);
}

void
prof_parse_frames(struct prof_task *task)
{
	const size_t known = offsetof(struct prof_frames_request, fr_offset);
	struct prof_elf elf;

	if (task->ta_size < known || prof_elf_open(&elf, task->ta_fd) == -1)
		return;
	places_answer(task, &elf, task->ta_bytes, (task->ta_size - known) /
	    sizeof(uint64_t));
	prof_elf_close(&elf);
}
