/* SPDX-License-Identifier: ISC */
/*
 * --rotate: when the recording goes on in another file, and which files stay.
 *
 *	size, time, SIGUSR2 -> prof_session_rotate ... prof_session_dumped
 *
 * A file that cannot be made is tried again later; meanwhile the recording
 * goes on in the one before.  If the disk is full, the oldest file goes first
 * where it was to go anyway; else samples are dropped until there is room.
 * Called by record.c.
 */
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/terminal.h"
#include "record.h"

#define PATTERN		"dtprof.%n.dtp"
#define SMALLEST	65536		/* bytes */
#define SHORTEST_NS	100000000ULL
#define AGAIN_NS	1000000000ULL
#define AGAIN_MOST_NS	(64 * AGAIN_NS)
#define ROOM		(1u << 20)	/* a disk that has less is full */

/* A file that is done. */
struct record_file {
	char		*rf_path;
	dev_t		 rf_dev;
	ino_t		 rf_ino;
};

/* Sizes have a capital letter, as of perf record: 1M and 1m. */
static int
how_parse(struct record_rotating *rr, const char *option, const char *text)
{
	const size_t length = strlen(text);
	const bool is_size = length > 0 && strchr("BKMGT", text[length - 1]) !=
	    NULL;

	if (strcmp(text, "signal") == 0 || strcasecmp(text, "SIGUSR2") == 0)
		rr->rr_on_signal = true;
	else if (is_size && (opt_size(text, &rr->rr_bytes) == -1 ||
	    rr->rr_bytes < SMALLEST))
		return (msg_fail("record", "use a size from 64K",
		    "%s %s: invalid size", option, text));
	else if (!is_size && (opt_time(text, &rr->rr_every_ns) == -1 ||
	    rr->rr_every_ns < SHORTEST_NS))
		return (msg_fail("record", "use a time such as 10m, a size "
		    "such as 100M, or signal", "%s %s: invalid time", option,
		    text));
	rr->rr_is_on = true;
	return (0);
}

int
record_rotating_set(struct record_rotating *rr,
    const struct record_options *ro, struct prof_options *po)
{
	const bool is_perfs = ro->ro_switch_output != NULL;

	if (is_perfs && !ro->ro_overwrite &&
	    how_parse(rr, "--switch-output", ro->ro_switch_output) == -1)
		return (-1);
	if (ro->ro_rotate != NULL && how_parse(rr, "--rotate",
	    ro->ro_rotate) == -1)
		return (-1);
	if (!rr->rr_is_on)
		return (!ro->ro_rotate_keep.on_set ? 0 : msg_error("record",
		    "--rotate-keep requires --rotate", "add --rotate TIME or "
		    "--rotate SIZE"));
	if (ro->ro_push != NULL || ro->ro_max_size.on_set ||
	    po->po_ring_bytes != 0)
		return (msg_error("record", "--rotate cannot be used with "
		    "--push, --max-size or --ring",
		    "leave out one of these options"));
	rr->rr_keep = ro->ro_rotate_keep.on_value;
	rr->rr_pattern = strcmp(ro->ro_output, DEFAULT_RECORDING) == 0 ?
	    PATTERN : ro->ro_output;
	if (!record_name_varies(rr->rr_pattern))
		return (msg_fail("record", "put %n (number) or %t (time) into "
		    "the name", "-o %s: all files would have the same name",
		    rr->rr_pattern));
	rr->rr_is_quiet = ro->ro_quiet;
	rr->rr_number = 1;
	rr->rr_first = record_name(rr->rr_pattern, rr->rr_number, "");
	if (rr->rr_first == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	po->po_output = rr->rr_first;
	po->po_rotates = 1;
	return (0);
}

void
record_rotating_free(struct record_rotating *rr)
{
	for (size_t n = 0; n < rr->rr_nfiles; n++)
		free(rr->rr_file[n].rf_path);
	free(rr->rr_file);
	free(rr->rr_first);
	free(rr->rr_next);
}

/* --------------------------------------------------------------- files */

/* Only if it is still what we wrote. */
static void
file_remove(struct record_file *file)
{
	struct stat st;

	if (lstat(file->rf_path, &st) == 0 && st.st_dev == file->rf_dev &&
	    st.st_ino == file->rf_ino && unlink(file->rf_path) == -1)
		msg_warning("record", "cannot remove %s", file->rf_path);
	free(file->rf_path);
}

static void
oldest_remove(struct record_rotating *rr)
{
	file_remove(&rr->rr_file[0]);
	rr->rr_nfiles--;
	memmove(rr->rr_file, rr->rr_file + 1, rr->rr_nfiles *
	    sizeof(*rr->rr_file));
}

static bool
is_full(const struct prof_session *session)
{
	struct statvfs fs;

	return (statvfs(prof_session_output(session), &fs) == 0 &&
	    fs.f_bavail * fs.f_frsize < ROOM);
}

/* Before there is another file, if it would go then.  Does it? */
static bool
oldest_goes(struct record_rotating *rr)
{
	if (rr->rr_nfiles == 0 || rr->rr_nfiles + 1 < rr->rr_keep)
		return (false);
	oldest_remove(rr);
	return (true);
}

/* The one that is being written is one of those that stay. */
static int
file_keep(struct record_rotating *rr, const char *path)
{
	struct record_file *files, *file;
	struct stat st;

	if (rr->rr_keep == 0 || lstat(path, &st) == -1)
		return (0);
	files = reallocarray(rr->rr_file, rr->rr_nfiles + 1, sizeof(*files));
	if (files == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	rr->rr_file = files;
	file = &files[rr->rr_nfiles];
	*file = (struct record_file){ strdup(path), st.st_dev, st.st_ino };
	if (file->rf_path == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	rr->rr_nfiles++;
	while (rr->rr_nfiles >= rr->rr_keep)
		oldest_remove(rr);
	return (0);
}

static void
file_show(const struct record_rotating *rr, const struct prof_dumped *pd)
{
	char history[32], bytes[32];
	struct out out;

	if (rr->rr_is_quiet)
		return;
	weight_time(history, sizeof(history), pd->pd_history_ns);
	term_bytes(bytes, sizeof(bytes), pd->pd_bytes);
	out_init(&out, STDERR_FILENO);
	out_fmt(&out, "dtprof: record: file %llu: %s, %llu sample%s, %s",
	    (unsigned long long)rr->rr_shown, history,
	    (unsigned long long)pd->pd_samples, pd->pd_samples == 1 ? "" : "s",
	    bytes);
	OUT(&out, " in ", pd->pd_path, "");
	if (pd->pd_unwritten > 0)
		out_fmt(&out, ", %llu not written",
		    (unsigned long long)pd->pd_unwritten);
	out_str(&out, "\n");
	out_flush(&out);
}

/* There is no next one yet. */
static void
next_delay(struct record_rotating *rr)
{
	free(rr->rr_next);
	rr->rr_next = NULL;
	rr->rr_number--;
	rr->rr_again_ns = term_now_ns() + AGAIN_NS;
	rr->rr_is_due = true;
}

/* The next one could not be made: say so once. */
static void
next_failed(struct record_rotating *rr, const struct prof_session *session,
    const struct prof_err *error)
{
	next_delay(rr);
	if (is_full(session) && oldest_goes(rr)) {
		rr->rr_again_ns = 0;
		return;
	}
	if (!rr->rr_has_warned && !rr->rr_is_cut)
		msg_warning("record", "%s; recording goes on in %s",
		    error->pe_text, prof_session_output(session));
	rr->rr_has_warned = true;
}

static void
cut_say(struct record_rotating *rr, const struct prof_err *why)
{
	if (!rr->rr_is_cut)
		msg_warning("record", "%s; samples are dropped until there is "
		    "room for another file", why->pe_text);
	rr->rr_is_cut = true;
}

/* A file has not all that was for it.  Those that follow have some time. */
static void
cut_take(struct record_rotating *rr, const struct prof_err *error)
{
	rr->rr_failed = true;
	cut_say(rr, error);
	rr->rr_cut_ns = rr->rr_cut_ns == 0 ? AGAIN_NS :
	    rr->rr_cut_ns < AGAIN_MOST_NS ? 2 * rr->rr_cut_ns : AGAIN_MOST_NS;
	rr->rr_cut_again_ns = term_now_ns() + rr->rr_cut_ns;
}

static int
result_take(struct record_rotating *rr, const struct prof_session *session,
    const struct prof_dumped *pd)
{
	if (rr->rr_next != NULL && strcmp(pd->pd_path, rr->rr_next) == 0) {
		next_failed(rr, session, &pd->pd_error);
		return (0);
	}
	rr->rr_shown++;
	if (pd->pd_error.pe_code != PROF_OK) {
		cut_take(rr, &pd->pd_error);
	} else {
		rr->rr_is_cut = false;
		rr->rr_cut_ns = 0;
	}
	file_show(rr, pd);
	return (file_keep(rr, pd->pd_path));
}

int
record_rotating_show(struct record_rotating *rr, struct prof_session *session)
{
	struct prof_dumped dumped;

	if (!rr->rr_is_on)
		return (0);
	while (prof_session_dumped(session, &dumped) == 1)
		if (result_take(rr, session, &dumped) == -1)
			return (-1);
	return (0);
}

/* ---------------------------------------------------------------- times */

/* Also where nobody looked for several times. */
static bool
is_time(struct record_rotating *rr, uint64_t now_ns)
{
	if (rr->rr_every_ns == 0)
		return (false);
	if (rr->rr_due_ns == 0)
		rr->rr_due_ns = now_ns + rr->rr_every_ns;
	if (now_ns < rr->rr_due_ns)
		return (false);
	while (rr->rr_due_ns <= now_ns)
		rr->rr_due_ns += rr->rr_every_ns;
	return (true);
}

/* The file takes no more: once there is room, another one is due. */
static void
cut_look(struct record_rotating *rr, struct prof_session *session,
    uint64_t now_ns)
{
	const struct prof_err *why = prof_session_output_error(session);

	/* Of the one before, until that has ended? */
	if (why == NULL || rr->rr_shown + 1 != rr->rr_number)
		return;
	cut_say(rr, why);
	if (now_ns >= rr->rr_cut_again_ns && (!is_full(session) ||
	    oldest_goes(rr)))
		rr->rr_is_due = true;
}

/* 0, or -1 with a message: the session failed, or there is no memory. */
static int
next_begin(struct record_rotating *rr, struct prof_session *session)
{
	rr->rr_is_due = false;
	rr->rr_number++;
	rr->rr_next = record_name(rr->rr_pattern, rr->rr_number, "");
	if (rr->rr_next == NULL)
		return (msg_error("record", "out of memory", "free memory"));
	/* A time in seconds that is still the same. */
	if (strcmp(rr->rr_next, prof_session_output(session)) == 0) {
		next_delay(rr);
		return (0);
	}
	if (prof_session_rotate(session, rr->rr_next) == 0)
		return (0);
	return (msg_prof("record", prof_session_error(session)));
}

int
record_rotating_look(struct record_rotating *rr, struct prof_session *session,
    const struct prof_status *status)
{
	const uint64_t now_ns = term_now_ns();

	if (!rr->rr_is_on)
		return (0);
	if (record_rotating_show(rr, session) == -1)
		return (-1);
	if (rr->rr_on_signal && signals_dump())
		rr->rr_is_due = true;
	if (is_time(rr, now_ns))
		rr->rr_is_due = true;
	if (rr->rr_next != NULL) {
		/* Being made, or the one that is written now. */
		if (strcmp(prof_session_output(session), rr->rr_next) != 0)
			return (0);
		free(rr->rr_next);
		rr->rr_next = NULL;
		rr->rr_has_warned = false;
	} else if (rr->rr_bytes != 0 && rr->rr_shown + 1 == rr->rr_number &&
	    status->ps_file_bytes >= rr->rr_bytes) {
		rr->rr_is_due = true;
	}
	cut_look(rr, session, now_ns);
	if (!rr->rr_is_due || status->ps_is_paused || now_ns < rr->rr_again_ns)
		return (0);
	return (next_begin(rr, session));
}
