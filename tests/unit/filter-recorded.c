/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a filter on a recording knows the event's arguments by name
 * (next_pid, next->pid and next.pid are one), argN of a syscall is its N-th
 * argument and not its number, what a recording does not hold is refused by
 * name, and records are decided by what stands in them, stacks by the names of
 * their functions.  Split into the part for programs and the part with stack,
 * both together decide as the whole.  What is known of a span that goes on is
 * what all longer durations have in common.
 *
 * Easy to get wrong: the shift by the number of the syscall, texts among the
 * arguments, and the sign of narrow arguments.
 */
#include "abi/dtp_filter.h"
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
	    "stored in recordings; use this field only with dtprof "
	    "record --filter");
	refused("pid==1&&gid == 0", &clock_event, "filter column 9: "
	    "'gid' is not stored in recordings; use this field only "
	    "with dtprof record --filter");
	refused("arg0 == 0", &clock_event, "filter column 1: cpu-clock has no "
	    "field 'arg0'; its fields are pid tid cpu comm kernel");
	refused("ret == 0", &read_entry, "filter column 1: syscall::read:entry "
	    "has no field 'ret'; its fields are pid tid cpu comm kernel "
	    "syscall nr fd buf count");
	refused("prev_comm == 0", &switched, "filter column 14: expected a "
	    "string such as \"GET\", found '0'");
	refused("prev_comm < 'a'", &switched, "filter column 11: expected a "
	    "comparison (==, != or in) after prev_comm, found '<'");
	refused("pid ~ '1'", &clock_event, "filter column 5: expected a "
	    "comparison (==, !=, <, <=, >, >=, & or in) after pid, found "
	    "'~'");
	refused("comm ~ 'a*'", &clock_event, "filter column 6: expected a "
	    "comparison (==, != or in) after comm, found '~'");
	refused("stack == 'a'", &clock_event, "filter column 1: only "
	    "commands that show a profile can filter by 'stack'");
	refused("pid > 1e15", &clock_event, "filter column 7: expected a "
	    "number, found '1e15'");
	refused("fd == -1", &read_entry, "filter column 7: fd is never "
	    "negative");
}

/* A stack of these functions, of which each is asked; exit: not taken. */
static bool
calls_match(const char *text, const struct prof_function *stack, size_t n)
{
	const struct prof_record record = { .pr_type = PROF_R_SAMPLE };
	struct prof_err error;
	struct prof_filter *filter = prof_filter_new_in(text, &clock_event,
	    NULL, true, &error);
	uint64_t calls = 0, bits;
	bool rv;

	CHECK(filter != NULL, "\"%s\": %s", text, error.pe_text);
	CHECK(prof_filter_of_calls(&filter, 1) == filter,
	    "\"%s\" asks for no stack", text);
	for (size_t i = 0; i < n; i++) {
		CHECK(prof_filter_calls(filter, &stack[i], &bits) == 0,
		    "\"%s\": no memory", text);
		calls |= bits;
	}
	rv = prof_filter_holds_in(filter, &record, "", 0, calls);
	prof_filter_free(filter);
	return (rv);
}

static void
check_calls(void)
{
	static const struct prof_function stack[] = {
		{ .fu_name = "int ns::f<int>(char*) const",
		    .fu_raw = "_ZN2ns1fE" },
		{ .fu_name = "main", .fu_raw = "main" },
		{ .fu_name = "Encoder.iter", .fu_raw = "",
		    .fu_kind = PROF_FRAME_PYTHON },
		{ .fu_name = "[libm.so]", .fu_raw = "",
		    .fu_unnamed = PROF_UNNAMED_NOSYM },
	};
	static const char *const hold[] = {
		"stack == 'main'", "stack ~ 'mai?'", "stack ~ 'main'",
		"stack == 'ns::f<int>'", "stack == '_ZN2ns1fE'",
		"stack == 'int ns::f<int>(char*) const'",
		"stack ~ 'int ns::f<int>(char*) const'",
		"stack ~ '*::f*'", "stack == 'Encoder.iter'",
		"stack in ('nobody', 'main')", "stack != 'mai'",
		"stack !~ 'x*'", "!(stack == 'x') && stack == 'main'",
		"stack == 'x' || stack == 'Encoder.iter'",
	};
	static const char *const fail[] = {
		"stack == 'mai'", "stack == 'mai?'", "stack != 'main'",
		"stack !~ 'ma*'", "stack == '[libm.so]'", "stack ~ '?libm*'",
		"stack == 'main' && stack == 'x'", "stack == 'f'",
		"stack in ('a', 'b')",
	};
	struct prof_err error = { 0 };

	for (size_t n = 0; n < sizeof(hold) / sizeof(hold[0]); n++)
		CHECK(calls_match(hold[n], stack, 4), "%s", hold[n]);
	for (size_t n = 0; n < sizeof(fail) / sizeof(fail[0]); n++)
		CHECK(!calls_match(fail[n], stack, 4), "%s", fail[n]);
	CHECK(!calls_match("stack ~ '*'", NULL, 0), "no stack");
	CHECK(prof_filter_new_in("stack ~ 'a*b*c*d*e*f*g*h*i*'", &clock_event,
	    NULL, true, &error) == NULL && strcmp(error.pe_text, "filter "
	    "column 9: the pattern has more than 8 stars") == 0, "%s",
	    error.pe_text);
}

/* To one event stack is a text, to another one its stack. */
static void
check_events(void)
{
	static const struct prof_event_info named = { .pi_name = "named",
	    .pi_nargs = 1, .pi_arg_names = { "stack" },
	    .pi_arg_is_str = { 1 } };
	const struct prof_record record = { .pr_type = PROF_R_SAMPLE,
	    .pr_nargs = 1, .pr_strs = { "main" } };
	struct prof_err error;
	struct prof_filter *filters[] = { NULL,
	    prof_filter_new_in("stack == 'main'", &named, NULL, true, &error),
	    prof_filter_new_in("stack == 'main'", &clock_event, NULL, true,
	    &error) };

	CHECK(filters[1] != NULL && filters[2] != NULL, "%s", error.pe_text);
	CHECK(prof_filter_of_calls(filters, 2) == NULL &&
	    prof_filter_of_calls(filters, 3) == filters[2], "two meanings");
	CHECK(prof_filter_holds_in(filters[1], &record, "", 0, 0) &&
	    !prof_filter_holds_in(filters[2], &record, "", 0, 0), "a text");
	prof_filter_free(filters[1]);
	prof_filter_free(filters[2]);
}

/* A random expression, as deep at most. */
static size_t
expression(uint64_t *state, int depth, char *text, size_t size)
{
	static const char *const tests[] = { "pid==1", "tid!=1", "cpu<1",
		"stack=='f'", "stack!='f'", "stack~'g*'" };
	static const char *const forms[] = { "!(", "(", "(" };
	const uint32_t form = depth == 0 ? 3 : random_below(state, 4);
	size_t at;

	if (form == 3)
		return ((size_t)snprintf(text, size, "%s",
		    tests[random_below(state, 6)]));
	at = (size_t)snprintf(text, size, "%s", forms[form]);
	at += expression(state, depth - 1, text + at, size - at);
	if (form > 0) {
		at += (size_t)snprintf(text + at, size - at, "%s",
		    form == 1 ? " || " : " && ");
		at += expression(state, depth - 1, text + at, size - at);
	}
	return (at + (size_t)snprintf(text + at, size - at, ")"));
}

/* Bit 0 of facts: pid; 1: tid; 2: cpu; 3, 4: functions. */
static bool
joined_holds(const struct prof_filter_joined *joined,
    const struct prof_record *record, uint64_t calls)
{
	struct dtp_facts facts = { 0 };

	facts.fa_field[DTP_F_PID] = record->pr_pid;
	facts.fa_field[DTP_F_TID] = record->pr_tid;
	facts.fa_field[DTP_F_CPU] = record->pr_cpu;
	return (dtp_filter_holds(&joined->fj_program, &facts) &&
	    (joined->fj_session == NULL || prof_filter_holds_in(
	    joined->fj_session, record, "", 0, calls)));
}

static void
check_joined(void)
{
	static const struct prof_function functions[2] = {
		{ .fu_name = "f", .fu_raw = "f" },
		{ .fu_name = "gg", .fu_raw = "gg" } };
	const struct prof_event event = { .ev_name = "e", .ev_probe = "e" };
	uint64_t state = 7, bits[2], split = 0;
	struct prof_filter_joined joined = { .fj_has_calls = true };
	struct prof_filter *whole;
	struct prof_err error;
	char text[2048];

	for (int round = 0; round < 20000; round++) {
		(void)expression(&state, 4, text, sizeof(text));
		whole = prof_filter_new_in(text, &clock_event, NULL, true,
		    &error);
		if (whole == NULL)
			continue;	/* too many comparisons */
		CHECK(prof_filter_join(&event, text, NULL, &joined,
		    &error) == 0, "%s: %s", text, error.pe_text);
		split += joined.fj_session != NULL &&
		    joined.fj_program.fi_ntests > 0;
		for (int n = 0; n < 2; n++)
			CHECK(prof_filter_calls(whole, &functions[n],
			    &bits[n]) == 0, "calls");
		for (uint32_t fact = 0; fact < 32; fact++) {
			const struct prof_record record = {
				.pr_type = PROF_R_SAMPLE, .pr_pid = fact & 1,
				.pr_tid = fact >> 1 & 1,
				.pr_cpu = fact >> 2 & 1 };
			const uint64_t calls = (fact & 8 ? bits[0] : 0) |
			    (fact & 16 ? bits[1] : 0);

			CHECK(joined_holds(&joined, &record, calls) ==
			    prof_filter_holds_in(whole, &record, "", 0,
			    calls), "%s: %u", text, fact);
		}
		prof_filter_free(joined.fj_session);
		prof_filter_free(whole);
	}
	CHECK(split > 1000, "%llu of both parts", (unsigned long long)split);
	CHECK(prof_filter_join(&event, "stack=='f' || uid==1", NULL, &joined,
	    &error) == -1, "alternatives");
}

/* The longest is beyond each number in the expressions. */
static void
check_durations(void)
{
	static const char *const texts[] = {
		"span.duration > 5", "span.duration >= 5", "span.duration == 7",
		"span.duration != 3", "!(span.duration <= 4)",
		"span.duration < 6", "span.duration in (2, 9)",
		"span.duration > 2 && span.duration < 9",
		"span.duration < 2 || span.duration >= 8 && pid == 1",
		"pid == 1 && span.duration > 3", "span == 'a'", "span != 'a'",
		"span == 'b' && span.duration > 3", "span.duration > 0",
	};
	static const struct prof_span_kind a = { .sk_name = "a" },
	    b = { .sk_name = "b" };
	static const struct prof_span_kind *const kinds[] = { &a, &b };
	const struct prof_filter_spans spans = { .fp_kinds = kinds, .fp_n = 2,
	    .fp_is_chosen = true, .fp_is_live = true };
	unsigned found[3] = { 0 };
	struct prof_err error;

	for (size_t n = 0; n < sizeof(texts) / sizeof(texts[0]); n++) {
		struct prof_filter *filter = prof_filter_new_in(texts[n], NULL,
		    &spans, false, &error);

		CHECK(filter != NULL, "%s: %s", texts[n], error.pe_text);
		for (uint64_t ns = 0; ns < 40; ns++) {
			const struct prof_record record = {
				.pr_type = PROF_R_SAMPLE, .pr_pid = ns & 1 };
			uint64_t holds = 0;
			enum prof_filter_fate fate;

			for (uint64_t end = ns / 2; end < 20; end++)
				holds += prof_filter_holds_in(filter, &record,
				    "", end, 0) != 0;
			fate = holds == 0 ? PROF_FILTER_NEVER :
			    holds == 20 - ns / 2 ? PROF_FILTER_ALWAYS :
			    PROF_FILTER_OPEN;
			CHECK(prof_filter_from(filter, &record, ns / 2) ==
			    fate, "%s from %d", texts[n], (int)(ns / 2));
			found[fate]++;
		}
		prof_filter_free(filter);
	}
	CHECK(found[0] > 20 && found[1] > 20 && found[2] > 20, "all fates");
	CHECK(prof_filter_new_in("span.duration > p50", NULL, &spans, false,
	    &error) == NULL, "a quantile while recording");
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
	check_calls();
	check_events();
	check_joined();
	check_durations();
	return (passed());
}
