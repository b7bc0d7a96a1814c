/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: waits for locks whose names are as long as a recording may have
 * them, and that differ in the last character alone, are rows of their own; a
 * wait that is longer than the time until it ended is no longer than this time.
 *
 * Easy to get wrong: lock and holder are texts of the file, of any length.
 */
#include "process/symbols.h"
#include "profile/blocked.h"
#include "recording-lib.h"

#define LENGTH		60000u
#define LOCKS		3u
#define WAIT_NS		1000u
#define END_NS		5000u
#define LONG_NS		1000000u

enum { EVENT_WAITS = 1 };

static void
write_file(const char *path, char *lock)
{
	const struct prof_event_info infos[] = {
		{ .pi_name = "proc", .pi_probe = "proc", .pi_unit = "events",
		    .pi_provider = "proc" },
		{ .pi_name = "off-cpu", .pi_probe = "off-cpu",
		    .pi_provider = "wait", .pi_unit = "ns", .pi_nargs = 3,
		    .pi_arg_names = { "state", "lock", "holder" },
		    .pi_arg_types = { "const char *", "const char *",
		    "const char *" }, .pi_arg_is_str = { 1, 1, 1 } },
	};
	struct prof_writer *writer;
	struct prof_record record;
	struct prof_err error;

	CHECK((writer = prof_writer_open(path, &error)) != NULL);
	for (size_t n = 0; n < sizeof(infos) / sizeof(infos[0]); n++)
		CHECK(prof_writer_event(writer, &infos[n]) == 0);
	for (uint32_t n = 0; n < 2 * LOCKS; n++) {
		lock[LENGTH - 1] = (char)('a' + n % LOCKS);
		record = (struct prof_record){ .pr_type = PROF_R_SAMPLE,
		    .pr_event = EVENT_WAITS, .pr_pid = 1, .pr_tid = 1 + n,
		    .pr_comm = "", .pr_path = "", .pr_time_ns = END_NS + n,
		    .pr_weight = n == 0 ? LONG_NS : WAIT_NS, .pr_nargs = 3,
		    .pr_strs = { "blocked", lock, "-" } };
		CHECK(prof_writer_add(writer, &record) == 0);
	}
	CHECK(prof_writer_close(writer, &error) == 0);
}

int
main(void)
{
	static char lock[LENGTH + 1];
	const struct prof_profile_options options = {
	    .pl_size = sizeof(options) };
	const struct prof_blocked_row *row;
	const char *path = work_path("x.dtp");
	struct prof_blocked *blocked;
	struct prof_symbols *symbols;
	struct prof_reader *reader;
	struct prof_err error;

	memset(lock, 'x', LENGTH);
	write_file(path, lock);
	CHECK((reader = prof_reader_open(path, &error)) != NULL);
	CHECK((symbols = prof_symbols_open(reader, NULL, &error)) != NULL);
	blocked = prof_blocked_new(reader, symbols, &options, &error);
	CHECK(blocked != NULL);
	printf("%zu rows\n", prof_blocked_nrows(blocked));
	CHECK(prof_blocked_nrows(blocked) == LOCKS);
	for (size_t n = 0; (row = prof_blocked_row(blocked, n)) != NULL; n++) {
		CHECK(strlen(row->bl_lock) == LENGTH);
		CHECK(row->bl_waits == 2 && row->bl_nwaiters == 2);
		CHECK(row->bl_meanwhile_ns <= END_NS + 2 * LOCKS);
	}
	prof_blocked_free(blocked);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
	return (0);
}
