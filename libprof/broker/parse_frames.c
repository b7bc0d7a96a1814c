/* SPDX-License-Identifier: ISC */
/* Call frame information of an ELF file, in the parser: see frames.h. */
#include <stdlib.h>
#include <string.h>

#include "frames.h"

static void
send_answer(struct prof_task *task, const struct prof_object *object)
{
	struct prof_framed_head head;
	const size_t entries = object->ob_nentries *
	    sizeof(*object->ob_entry);

	memset(&head, 0, sizeof(head));
	head.fh_ready = object->ob_state == OBJECT_READY;
	head.fh_ntext = object->ob_ntext;
	head.fh_nouter = (uint32_t)object->ob_nouter;
	head.fh_nentries = object->ob_nentries;
	head.fh_bytes = object->ob_frames_bytes;
	memcpy(head.fh_text, object->ob_text, sizeof(head.fh_text));
	memcpy(head.fh_outer, object->ob_outer, sizeof(head.fh_outer));
	prof_task_answer(task, sizeof(head) + entries +
	    object->ob_frames_bytes);
	prof_task_send(task, &head, sizeof(head));
	prof_task_send(task, object->ob_entry, entries);
	prof_task_send(task, object->ob_frames, object->ob_frames_bytes);
}

void
prof_parse_frames(struct prof_task *task)
{
	struct prof_object *object = calloc(1, sizeof(*object) + 1);
	struct prof_elf elf;

	if (object == NULL)
		return;
	if (prof_elf_open(&elf, task->ta_fd) == 0) {
		if (prof_object_look(object, &elf) == 0)
			send_answer(task, object);
		prof_elf_close(&elf);
	}
	free(object->ob_entry);
	free(object);
}
