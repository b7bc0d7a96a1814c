/* SPDX-License-Identifier: ISC */
/*
 * --max-memory: ten times a second, what the recorder has in memory.  Where
 * little is left to the limit, memory that is free goes back to the system;
 * then the oldest samples that are kept in memory are given up, those of a ring
 * or of --keep-if; where there are none to give up, recording ends.
 *
 * Called by record.c; the parsers of files are other processes, with limits of
 * their own.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "../ui/terminal.h"
#include "record.h"

#define LOOK_NS		100000000ULL
#define PATIENCE_NS	1000000000ULL	/* what is given up is freed later */
#define ROOM		(2U << 20)	/* for what comes between two looks */
#define AT_ONCE		16	/* at least this part of what is kept */
#define LARGE		(16 << 10)	/* bytes, given back when freed */

/* From /proc/self/status, in bytes; 0: unknown. */
struct memory_status {
	uint64_t	ms_now;
	uint64_t	ms_most;	/* the peak */
};

static struct memory_status
status_read(void)
{
	unsigned long long kilobytes;
	struct memory_status status = { 0, 0 };
	char line[128];
	FILE *file = fopen("/proc/self/status", "re");

	if (file == NULL)
		return (status);
	while ((status.ms_now == 0 || status.ms_most == 0) &&
	    fgets(line, sizeof(line), file) != NULL)
		if (sscanf(line, "VmHWM: %llu", &kilobytes) == 1)
			status.ms_most = kilobytes * 1024;
		else if (sscanf(line, "VmRSS: %llu", &kilobytes) == 1)
			status.ms_now = kilobytes * 1024;
	fclose(file);
	return (status);
}

uint64_t
record_memory_bytes(void)
{
	return (status_read().ms_now);
}

/* So many bytes of samples can be kept, where room is left, or is missing. */
static uint64_t
most_kept(uint64_t kept, int64_t room)
{
	const int64_t most = (int64_t)kept + (room >= 0 ||
	    -room > (int64_t)kept / AT_ONCE ? room :
	    -(int64_t)kept / AT_ONCE);

	return (most > (int64_t)RECORD_RING_MIN ? (uint64_t)most :
	    RECORD_RING_MIN);
}

/* 0, 1: there is nothing to give up, or -1 with a message printed. */
static int
kept_shrink(struct record_memory *rm, struct prof_session *session,
    uint64_t most, uint64_t bytes)
{
	char why[128], text[160];
	int rv = 0;

	snprintf(why, sizeof(why), "memory was %.1f MB, and --max-memory is "
	    "%.1f MB", (double)bytes / 1e6, (double)rm->rm_limit / 1e6);
	if (rm->rm_keeps)
		rv = prof_session_shrink(session, most, why);
	if (rv == -1)
		return (msg_prof("record", prof_session_error(session)));
	if (rv == 1) {
		rm->rm_most = most;
		rm->rm_shrunk_ns = rm->rm_looked_ns;
		snprintf(rm->rm_action, sizeof(rm->rm_action),
		    "only %.1f MB of samples are kept", (double)most / 1e6);
		msg_warning("record", "only %.1f MB of samples are kept: %s",
		    (double)most / 1e6, why);
		return (0);
	}
	if (most > RECORD_RING_MIN || bytes + ROOM <= rm->rm_limit ||
	    rm->rm_looked_ns - rm->rm_shrunk_ns < PATIENCE_NS)
		return (0);
	strcpy(rm->rm_action, "stopped");
	snprintf(text, sizeof(text), "stopped: %s", why);
	msg_warning("record", "%s", text);
	return (prof_session_mark(session, text) == -1 ? msg_prof("record",
	    prof_session_error(session)) : 1);
}

/* Twice what came since the last look may come until the next one. */
static bool
is_short(const struct record_memory *rm, uint64_t bytes)
{
	const uint64_t more = bytes <= rm->rm_bytes ? 0 : bytes - rm->rm_bytes;

	return (bytes + ROOM + 2 * more > rm->rm_limit);
}

/* The most up to now, for the recording and for those who ask. */
static int
budget_tell(const struct record_memory *rm, struct prof_session *session,
    const struct memory_status *status)
{
	return (prof_session_budget(session, "max-memory",
	    (double)rm->rm_limit, (double)status->ms_most,
	    rm->rm_action[0] == '\0' ? "none" : rm->rm_action) == -1 ?
	    msg_prof("record", prof_session_error(session)) : 0);
}

int
record_memory_look(struct record_memory *rm, struct prof_session *session,
    uint64_t kept)
{
	const uint64_t now_ns = term_now_ns();
	struct memory_status status;
	bool is_now;
	int rv;

	if (rm->rm_limit == 0 || now_ns - rm->rm_looked_ns < LOOK_NS)
		return (0);
	status = status_read();
	if (status.ms_now == 0) {
		rm->rm_limit = 0;
		msg_warning("record", "--max-memory is not kept: "
		    "/proc/self/status is invalid or missing");
		return (0);
	}
	if (rm->rm_looked_ns == 0) {
		(void)mallopt(M_MMAP_THRESHOLD, LARGE);
		rm->rm_bytes = status.ms_now;
	}
	rm->rm_looked_ns = now_ns;
	is_now = is_short(rm, status.ms_now);
	if (is_now) {
		malloc_trim(0);
		status = status_read();
		is_now = is_short(rm, status.ms_now);
	}
	rm->rm_bytes = status.ms_now;
	/* If more is kept than allowed, the writer has not yet come to it. */
	if (!is_now || (kept > rm->rm_most &&
	    now_ns - rm->rm_shrunk_ns < PATIENCE_NS))
		return (budget_tell(rm, session, &status));
	rv = kept_shrink(rm, session, most_kept(kept,
	    (int64_t)(rm->rm_limit - ROOM) - (int64_t)status.ms_now),
	    status.ms_now);
	return (rv != -1 && budget_tell(rm, session, &status) == -1 ? -1 :
	    rv);
}
