/* SPDX-License-Identifier: ISC */
/*
 * Threads as text and as JSON.  Called by cmd_stacks.c.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/dtp_abi.h"
#include "stacks.h"

static const char *const states[] = {
	[STACKS_UNKNOWN] = "unknown", [STACKS_RUNNING] = "running",
	[STACKS_RUNNABLE] = "runnable", [STACKS_BLOCKED] = "blocked",
	[STACKS_STOPPED] = "stopped", [STACKS_EXITED] = "exited"
};

static bool
is_futex(const struct stacks_thread *thread)
{
	return (thread->th_state == STACKS_BLOCKED &&
	    thread->th_reason != NULL &&
	    strcmp(thread->th_reason, "futex") == 0);
}

/* -------------------------------------------------------------- text */

static void
show_frame(struct out *out, const struct prof_record *record,
    const struct line_names *names, const struct prof_frame *of)
{
	struct line_frame frame;

	line_frame(names, record, of, &frame);
	out_fmt(out, "    %-10s ", prof_frame_kind_name(of->fr_kind));
	out_text(out, frame.sf_function->fu_name);
	if (of->fr_kind != PROF_FRAME_BOUNDARY) {
		out_str(out, " (");
		if (frame.sf_line.ln_file != NULL) {
			out_text(out, frame.sf_line.ln_file);
			out_fmt(out, ":%u", frame.sf_line.ln_number);
		} else
			out_text(out, frame.sf_function->fu_module);
		out_char(out, ')');
	}
	out_char(out, '\n');
}

static void
show_stack(struct out *out, const struct prof_record *record,
    const struct line_names *names, bool is_kernel)
{
	const unsigned status = is_kernel ? record->pr_kstatus :
	    record->pr_ustatus;
	const struct line_stack *stack = line_stack(names, record,
	    is_kernel);

	for (size_t n = 0; n < stack->st_n; n++)
		show_frame(out, record, names, &stack->st_frame[n]);
	if (status > PROF_STACK_OK)
		out_fmt(out, "    (truncated: %s)\n",
		    prof_stack_status_name(status));
}

static void
show_thread(struct out *out, const struct stacks_thread *thread,
    const struct line_names *names)
{
	const struct prof_record *record = &thread->th_record;

	out_fmt(out, "\nthread %u ", record->pr_tid);
	out_text(out, thread->th_comm);
	OUT(out, ": ", states[thread->th_state]);
	if (thread->th_reason != NULL) {
		OUT(out, thread->th_state == STACKS_STOPPED ? " by " :
		    " in ", thread->th_reason);
		if (is_futex(thread)) {
			out_str(out, " 0x");
			out_hex(out, record->pr_args[DTP_TH_ARG]);
		}
		if (thread->th_file != NULL) {
			out_fmt(out, " fd %d ",
			    (int)record->pr_args[DTP_TH_ARG]);
			out_text(out, thread->th_file);
		}
	}
	out_char(out, '\n');
	show_stack(out, record, names, true);
	show_stack(out, record, names, false);
}

static void
text_print(struct out *out, const struct stacks *stacks,
    const struct line_names *names)
{
	uint32_t pid = 0;

	for (size_t n = 0, m; n < stacks->sa_n; n++) {
		const struct stacks_thread *thread = &stacks->sa_thread[n];

		if (thread->th_record.pr_pid != pid) {
			if (pid != 0)
				out_char(out, '\n');
			pid = thread->th_record.pr_pid;
			for (m = n; m < stacks->sa_n && stacks->sa_thread[m].
			    th_record.pr_pid == pid; m++)
				continue;
			out_fmt(out, "process %u: %zu thread%s\n", pid,
			    m - n, m - n == 1 ? "" : "s");
		}
		show_thread(out, thread, names);
	}
}

/* -------------------------------------------------------------- JSON */

static void
json_print(struct out *out, const struct stacks *stacks,
    const struct line_names *names)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
	emit_rows(&em, "threads");
	for (size_t n = 0; n < stacks->sa_n; n++) {
		const struct stacks_thread *thread = &stacks->sa_thread[n];
		const struct prof_record *record = &thread->th_record;

		emit_object(&em, NULL);
		EMIT(&em, COUNT("pid", record->pr_pid),
		    COUNT("tid", record->pr_tid),
		    TEXT("comm", thread->th_comm),
		    COUNT("time_ns", record->pr_time_ns),
		    WORD("state", states[thread->th_state]),
		    TEXT("reason", thread->th_reason));
		if (is_futex(thread))
			EMIT(&em, HEX("address",
			    record->pr_args[DTP_TH_ARG]));
		if (thread->th_file != NULL)
			EMIT(&em, SIGNED("fd", (int)
			    record->pr_args[DTP_TH_ARG]),
			    TEXT("file", thread->th_file));
		EMIT(&em, WORD("kernel_status",
		    prof_stack_status_name(record->pr_kstatus)));
		line_frames_json(&em, "kernel_frames", record, names, true);
		EMIT(&em, WORD("user_status",
		    prof_stack_status_name(record->pr_ustatus)));
		line_frames_json(&em, "user_frames", record, names, false);
		emit_close(&em);
	}
	emit_end(&em);
}

int
stacks_print(const struct stacks *stacks, struct prof_reader *reader,
    bool is_json)
{
	struct line_stack stack = { 0 };
	struct line_names names = { .sn_reader = reader,
	    .sn_stack = &stack, .sn_script_lines = true };
	struct prof_err error = { 0 };
	struct out out;

	names.sn_symbols = prof_symbols_open(reader, NULL, &error);
	if (names.sn_symbols == NULL) {
		msg_prof("stacks", &error);
		return (EXIT_FAILED);
	}
	out_init(&out, STDOUT_FILENO);
	(is_json ? json_print : text_print)(&out, stacks, &names);
	free(stack.st_frame);
	prof_symbols_close(names.sn_symbols);
	return (out_end(&out, "stacks") == 0 ? 0 : EXIT_FAILED);
}
