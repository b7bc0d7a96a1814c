/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a filter on a recording knows the event's arguments by name
 * (next_pid, next->pid and next.pid are one), argN of a syscall is its N-th
 * argument and not its number, what a recording does not hold is refused by
 * name, and records are decided by what stands in them.
 *
 * Easy to get wrong: the shift by the number of the syscall, texts among the
 * arguments, and the sign of narrow arguments.
 */
#include "filter/filter.h"
#include "names.h"

static const struct prof_event_info switched = {
	.pi_name = "sched:sched_switch", .pi_nargs = 3,
	.pi_arg_names = { "prev_comm", "prev->pid", "next_pid" },
	.pi_arg_is_str = { 1, 0, 0 }, .pi_arg_is_signed = { 0, 1, 1 },
};
static const struct prof_event_info read_entry = {
	.pi_name = "syscall::read:entry", .pi_nargs = 4, .pi_is_syscall = 1,
	.pi_arg_names = { "nr", "fd", "buf", "count" },
	.pi_arg_is_signed = { 1, 0, 0, 0 },
};
static const struct prof_event_info read_return = {
	.pi_name = "syscall::read:return", .pi_nargs = 2, .pi_is_syscall = 1,
	.pi_arg_names = { "nr", "ret" }, .pi_arg_is_signed = { 1, 1 },
};
static const struct prof_event_info clock_event = { .pi_name = "cpu-clock" };

static bool
matches(const char *text, const struct prof_event_info *event,
    const struct prof_record *record, const char *comm)
{
	struct prof_err error;
	struct prof_filter *filter = prof_filter_new(text, event, &error);
	bool rv;

	CHECK(filter != NULL, "\"%s\": %s", text, error.pe_text);
	rv = prof_filter_holds(filter, record, comm);
	prof_filter_free(filter);
	return (rv);
}

static void
refused(const char *text, const struct prof_event_info *event,
    const char *sentence)
{
	struct prof_err error;

	CHECK(prof_filter_new(text, event, &error) == NULL,
	    "\"%s\" was taken", text);
	CHECK(strcmp(error.pe_text, sentence) == 0, "\"%s\": %s", text,
	    error.pe_text);
}

static void
check_refusals(void)
{
	refused("uid == 0", &clock_event, "filter column 1: 'uid' is not "
	    "stored in recordings; use it in the filter of record");
	refused("pid==1&&gid == 0", &clock_event, "filter column 9: "
	    "'gid' is not stored in recordings; use it in the filter of "
	    "record");
	refused("arg0 == 0", &clock_event, "filter column 1: cpu-clock has "
	    "no field 'arg0'; it has pid tid cpu comm kernel");
	refused("ret == 0", &read_entry, "filter column 1: "
	    "syscall::read:entry has no field 'ret'; it has pid tid cpu "
	    "comm kernel syscall nr fd buf count");
	refused("prev_comm == 0", &switched, "filter column 14: expected a "
	    "string such as \"GET\", found '0'");
	refused("prev_comm < 'a'", &switched, "filter column 11: expected "
	    "==, != or in after prev_comm, found '<'");
	refused("fd == -1", &read_entry, "filter column 7: fd is never "
	    "negative");
}

int
main(void)
{
	struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_cpu = 3, .pr_pid = 10, .pr_tid = 11, .pr_nargs = 3,
	    .pr_args = { 0, 7, 8 }, .pr_strs = { "bash" } };

	CHECK(matches("next_pid==8", &switched, &record, "") &&
	    matches("next->pid==8", &switched, &record, "") &&
	    matches("next.pid==8", &switched, &record, "") &&
	    matches("prev_pid==7 && prev->pid==7", &switched, &record, "") &&
	    matches("arg2==8", &switched, &record, ""), "names of arguments");
	CHECK(matches("pid==10 && tid==11 && cpu==3 && kernel==0", &switched,
	    &record, ""), "common fields");
	CHECK(matches("comm=='make'", &switched, &record, "make") &&
	    !matches("comm=='make'", &switched, &record, "mak") &&
	    !matches("comm=='make'", &switched, &record, "") &&
	    matches("comm!=\"make\"", &switched, &record, "gcc"), "comm");
	CHECK(matches("comm=='fifteen--letter'", &switched, &record,
	    "fifteen--letters and more"), "a comm that was too long");
	CHECK(matches("prev_comm=='bash'", &switched, &record, "") &&
	    !matches("prev_comm!='bash'", &switched, &record, "") &&
	    !matches("prev_comm=='bas'", &switched, &record, "") &&
	    matches("prev_comm in ('sh', 'bash') && next_pid in (7, 8)",
	    &switched, &record, "") &&
	    !matches("prev_comm=='bashful'", &switched, &record, ""),
	    "text of arguments, and sets");
	CHECK(matches("prev_pid<next_pid && pid!=tid", &switched, &record,
	    "") && !matches("next_pid<prev_pid", &switched, &record, ""),
	    "two fields");
	record.pr_in_kernel = 1;
	CHECK(matches("kernel==1", &switched, &record, ""), "kernel");

	record = (struct prof_record){ .pr_type = PROF_R_SAMPLE,
	    .pr_nargs = 4, .pr_args = { 0, 5, 0xffff888000000000, 512 } };
	CHECK(matches("arg0==5 && fd==5 && nr==0 && arg2==512 && count>511",
	    &read_entry, &record, ""), "arguments of a syscall");
	CHECK(matches("buf>0xffff000000000000", &read_entry, &record, ""),
	    "an address");
	record.pr_args[1] = (uint64_t)-11;
	record.pr_nargs = 2;
	CHECK(matches("ret<0 && arg0==-11", &read_return, &record, "") &&
	    !matches("ret>=0", &read_return, &record, ""), "a failed call");
	/* Lives have no arguments: they read as 0. */
	record.pr_type = PROF_R_FORK;
	CHECK(matches("ret==0", &read_return, &record, ""), "a fork");
	check_refusals();
	return (passed());
}
