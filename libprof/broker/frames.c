/* SPDX-License-Identifier: ISC */
/*
 * Asks a parser for the call frame information of a file, and checks it: that
 * entries are in order and lie in the bytes that come with them.
 *
 * Called by stacks/objects.c from the thread of the drain, which waits: so it
 * is not waited for long.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_unwind.h"
#include "base/grow.h"
#include "frames.h"

#define MOST_BYTES	(256UL << 20)
#define MOST_CPU_S	2
#define MOST_WALL_S	5

/* A byte that is a bool must be one before it is looked at as such. */
static bool
is_bool(const bool *it)
{
	unsigned char byte;

	memcpy(&byte, it, sizeof(byte));
	return (byte <= 1);
}

static bool
outers_hold(const struct prof_framed_head *head)
{
	const struct prof_outermost *outer;
	uint32_t n;

	for (n = 0; n < head->fh_nouter; n++) {
		outer = &head->fh_outer[n];
		if (outer->ou_from >= outer->ou_to ||
		    outer->ou_when > PROF_OUTER_ALWAYS ||
		    (outer->ou_rule != DTP_UW_STOP &&
		    outer->ou_rule != DTP_UW_SIGNAL &&
		    outer->ou_rule != DTP_UW_CHILD))
			return (false);
	}
	return (true);
}

static bool
entries_hold(const struct prof_framed_head *head,
    const struct prof_cfi_entry *entry)
{
	uint64_t n, before = 0;

	for (n = 0; n < head->fh_nentries; n++, entry++) {
		if (entry->en_start < before ||
		    entry->en_start >= entry->en_end ||
		    entry->en_initial > entry->en_initial_end ||
		    entry->en_initial_end > head->fh_bytes ||
		    entry->en_program > entry->en_program_end ||
		    entry->en_program_end > head->fh_bytes ||
		    !is_bool(&entry->en_signal))
			return (false);
		before = entry->en_start;
	}
	return (true);
}

/* Is the answer as long as it says, and are its numbers within bounds? */
static bool
head_holds(const struct prof_framed_head *head, size_t size)
{
	return (head->fh_ntext <= PROF_FRAMES_TEXTS &&
	    head->fh_nouter <= PROF_FRAMES_OUTERS &&
	    head->fh_bytes <= size && head->fh_nentries <= size /
	    sizeof(struct prof_cfi_entry) && size == sizeof(*head) +
	    head->fh_nentries * sizeof(struct prof_cfi_entry) +
	    head->fh_bytes && head->fh_all <= 1);
}

int
prof_frames_add(struct prof_object *object, const struct prof_frames *frames,
    bool is_all)
{
	struct prof_frames *to = prof_append(&object->ob_frames,
	    &object->ob_nframes, sizeof(*to));

	if (to == NULL)
		return (-1);
	*to = *frames;
	object->ob_is_all = is_all;
	if (frames->fm_nentries > 0)
		object->ob_state = OBJECT_READY;
	else if (object->ob_state == OBJECT_UNREAD)
		object->ob_state = OBJECT_BARE;
	return (0);
}

/* Where it lies: what was checked is ours. */
static bool
frames_take(struct prof_call *call)
{
	struct prof_object *object = call->ca_take_arg;
	char *bytes = call->ca_answer;
	struct prof_framed_head head;
	struct prof_cfi_entry *entries;
	struct prof_frames frames;

	/* It was no ELF file any more. */
	if (call->ca_answered == 0)
		return (true);
	if (call->ca_answered < sizeof(head))
		return (false);
	memcpy(&head, bytes, sizeof(head));
	if (!head_holds(&head, call->ca_answered) || !outers_hold(&head))
		return (false);
	entries = (struct prof_cfi_entry *)(void *)(bytes + sizeof(head));
	if (!entries_hold(&head, entries))
		return (false);
	frames = (struct prof_frames){
		entries, head.fh_nentries,
		(const uint8_t *)(entries + head.fh_nentries), head.fh_bytes,
		bytes
	};
	if (prof_frames_add(object, &frames, head.fh_all) == -1)
		return (true);
	call->ca_answer = NULL;
	if (object->ob_nframes > 1)
		return (true);
	object->ob_ntext = head.fh_ntext;
	memcpy(object->ob_text, head.fh_text, sizeof(object->ob_text));
	object->ob_nouter = head.fh_nouter;
	memcpy(object->ob_outer, head.fh_outer, sizeof(object->ob_outer));
	return (true);
}

int
prof_frames_ask(struct prof_broker *broker, int fd,
    struct prof_object *object, const struct prof_places *places)
{
	struct prof_frames_request request = {
		.fr_looked = object->ob_nframes > 0,
	};
	struct prof_call call = {
		.ca_what = PROF_PARSE_FRAMES,
		.ca_can_fail = true,
		.ca_fd = fd,
		.ca_name = object->ob_path,
		.ca_bytes = &request,
		.ca_size = offsetof(struct prof_frames_request, fr_offset) +
		    places->pl_n * sizeof(request.fr_offset[0]),
		.ca_most = MOST_BYTES,
		.ca_cpu_s = MOST_CPU_S,
		.ca_wall_s = MOST_WALL_S,
		.ca_take = frames_take,
		.ca_take_arg = object,
	};
	const size_t before = object->ob_nframes;

	memcpy(request.fr_offset, places->pl_offset,
	    places->pl_n * sizeof(request.fr_offset[0]));
	if (prof_broker_call(broker, &call) != PROF_CALLED)
		return (-1);
	return (object->ob_nframes == before ? -1 : 0);
}
