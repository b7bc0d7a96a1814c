/* SPDX-License-Identifier: ISC */
/*
 * A record as one line for people, and its frames with names, one a line,
 * innermost first, those of the kernel before those of user space:
 *
 *	comm pid/tid [cpu] seconds: event: weight unit  name=value ...
 *		address function+0xoffset (module) file:line
 *		kind function+0xoffset (file) file:line
 *
 * The second of script frames, among native ones.
 * Without symbols, frames are addresses on the line itself, "k" before those
 * of the kernel and "u" before those of user space; script frames are numbers
 * behind "s".  "+deep" and the like
 * when the walk did not end by itself.  Text that a traced program chose,
 * names of functions among it, is escaped.
 */
#include "line.h"

const char *
line_type_name(enum prof_record_type type)
{
	static const char *const names[] = {
		[PROF_R_SAMPLE] = "sample", [PROF_R_FORK] = "fork",
		[PROF_R_EXEC] = "exec", [PROF_R_EXIT] = "exit",
		[PROF_R_COMM] = "comm", [PROF_R_TASK] = "task",
		[PROF_R_MMAP] = "mmap", [PROF_R_MARK] = "marker",
		[PROF_R_START] = "start", [PROF_R_STOP] = "stop",
		[PROF_R_THROTTLE] = "throttle",
		[PROF_R_UNTHROTTLE] = "unthrottle",
		[PROF_R_LOST] = "lost", [PROF_R_KSYMBOL] = "ksymbol",
		[PROF_R_PAUSE] = "pause", [PROF_R_RESUME] = "resume",
		[PROF_R_TURNS] = "multiplexed",
	};

	if ((unsigned)type >= sizeof(names) / sizeof(names[0]) ||
	    names[type] == NULL)
		return ("unknown");
	return (names[type]);
}

static void
show_frames(struct out *out, const char *mark, const uint64_t *frames,
    uint32_t n, unsigned status)
{
	if (n == 0 && status <= PROF_STACK_OK)
		return;
	out_str(out, mark);
	for (uint32_t i = 0; i < n; i++) {
		out_char(out, ' ');
		out_hex(out, frames[i]);
	}
	if (status > PROF_STACK_OK) {
		out_str(out, " +");
		out_str(out, prof_stack_status_name(status));
	}
}

static void
show_frame(struct out *out, const struct line_frame *frame)
{
	const unsigned kind = frame->sf_frame.fr_kind;

	if (kind > PROF_FRAME_KERNEL)
		out_str(out, prof_frame_kind_name(kind));
	else
		out_hex(out, frame->sf_frame.fr_id);
	out_char(out, ' ');
	out_text(out, frame->sf_function->fu_name);
	if (kind == PROF_FRAME_BOUNDARY)
		return;
	if (frame->sf_function->fu_unnamed == PROF_NAMED) {
		out_str(out, "+0x");
		out_hex(out, frame->sf_offset);
	}
	out_str(out, " (");
	out_text(out, frame->sf_function->fu_module);
	out_char(out, ')');
	if (frame->sf_line.ln_file != NULL) {
		OUT(out, " ", frame->sf_line.ln_file);
		out_fmt(out, ":%u", frame->sf_line.ln_number);
	}
}

static void
show_names(struct out *out, const struct prof_record *record,
    const struct line_names *names, bool is_kernel)
{
	unsigned status = is_kernel ? record->pr_kstatus : record->pr_ustatus;
	const struct line_stack *stack = line_stack(names, record,
	    is_kernel);
	struct line_frame frame;

	for (size_t n = 0; n < stack->st_n; n++) {
		line_frame(names, record, &stack->st_frame[n], &frame);
		out_str(out, "\n\t");
		show_frame(out, &frame);
	}
	if (status > PROF_STACK_OK) {
		out_str(out, is_kernel ? "\n\t+kernel " : "\n\t+user ");
		out_str(out, prof_stack_status_name(status));
	}
}

void
line_value(struct out *out, const struct prof_record *record, uint32_t n,
    bool is_signed)
{
	const uint64_t value = record->pr_args[n];

	if (record->pr_strs[n] != NULL) {
		OUT(out, "\"", record->pr_strs[n], "\"");
	} else if (is_signed) {
		out_i64(out, (int64_t)value);
	} else if (value >> 47 != 0) {
		/* Nobody counts that far: an address, or flags. */
		out_str(out, "0x");
		out_hex(out, value);
	} else {
		out_u64(out, value);
	}
}

static void
show_args(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info)
{
	const struct prof_syscall *call = prof_record_call(info, record);

	if (call != NULL)
		OUT(out, " syscall=", call->cl_name);
	for (uint32_t n = 0; n < record->pr_nargs && n < PROF_MAX_ARGS; n++) {
		if (n < info->pi_nargs)
			OUT(out, " ", info->pi_arg_names[n], "=");
		else
			out_fmt(out, " arg%u=", n);
		line_value(out, record, n, n < info->pi_nargs &&
		    info->pi_arg_is_signed[n]);
	}
}

/* What counters had; of part of the time, where it was not their turn. */
static void
show_values(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const struct line_names *names)
{
	for (uint32_t n = 0; n < record->pr_nvalues &&
	    n < info->pi_ncounters; n++) {
		OUT(out, " ", prof_reader_event(names->sn_reader,
		    info->pi_counter[n])->pi_name, "=");
		out_u64(out, record->pr_values[n]);
	}
	if (record->pr_values_running_ns < record->pr_values_ns)
		out_fmt(out, " (running %.1f%% of the time)",
		    100 * (double)record->pr_values_running_ns /
		    (double)record->pr_values_ns);
}

static void
show_sample(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const struct line_names *names)
{
	OUT(out, "", info->pi_name, ": ");
	if (info->pi_is_call && record->pr_nargs >= 2) {
		line_call_text(out, record, info);
	} else {
		out_u64(out, record->pr_weight);
		OUT(out, " ", info->pi_unit);
	}
	if (record->pr_nested)
		out_str(out, " nested");
	if (record->pr_nargs > 0 && !info->pi_is_call)
		show_args(out, record, info);
	if (record->pr_nvalues > 0)
		show_values(out, record, info, names);
	if (names->sn_symbols != NULL) {
		show_names(out, record, names, true);
		show_names(out, record, names, false);
		return;
	}
	show_frames(out, "  k", record->pr_kernel, record->pr_nkernel,
	    record->pr_kstatus);
	show_frames(out, "  u", record->pr_user, record->pr_nuser,
	    record->pr_ustatus);
	show_frames(out, "  s", record->pr_script, record->pr_nscript,
	    PROF_STACK_NONE);
	if (record->pr_nkernel == 0 && record->pr_nuser == 0 &&
	    record->pr_ip != 0) {
		out_str(out, record->pr_in_kernel ? "  k " : "  u ");
		out_hex(out, record->pr_ip);
	}
}

static void
show_time(struct out *out, uint64_t time_ns)
{
	out_u64(out, time_ns / 1000000000);
	out_char(out, '.');
	out_digits(out, time_ns % 1000000000, 9);
}

static void
show_other(struct out *out, const struct prof_record *record)
{
	out_str(out, line_type_name(record->pr_type));
	switch (record->pr_type) {
	case PROF_R_FORK:
		out_fmt(out, ": parent %u/%u", record->pr_ppid,
		    record->pr_ptid);
		break;
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		if (record->pr_path[0] == '\0')
			break;
		/* FALLTHROUGH */
	case PROF_R_EXEC:
	case PROF_R_MARK:
		OUT(out, ": ", record->pr_path);
		break;
	case PROF_R_EXIT:
		out_str(out, ": status ");
		if (record->pr_code == -1)
			out_str(out, "unknown");
		else
			out_fmt(out, "0x%x", (unsigned)record->pr_code);
		if (record->pr_group_dead)
			out_str(out, ", last thread");
		break;
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		out_str(out, ": ");
		out_hex(out, record->pr_addr);
		out_char(out, '+');
		out_hex(out, record->pr_len);
		out_fmt(out, " @%llx", (unsigned long long)record->pr_offset);
		OUT(out, " ", record->pr_path);
		break;
	case PROF_R_TURNS:
		out_fmt(out, ": event not counted for %llu ns since ",
		    (unsigned long long)record->pr_weight);
		show_time(out, record->pr_addr);
		break;
	case PROF_R_LOST:
		out_fmt(out, ": %llu %s",
		    (unsigned long long)record->pr_weight,
		    record->pr_addr == 0 ? "sideband records lost" :
		    "events lost since ");
		if (record->pr_addr != 0)
			show_time(out, record->pr_addr);
		break;
	default:
		break;
	}
}

void
line_text(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const char *comm,
    const struct line_names *names)
{
	if (comm[0] != '\0') {
		out_text(out, comm);
	} else {
		out_char(out, ':');
		out_u64(out, record->pr_tid);
	}
	out_char(out, ' ');
	/* The kernel's own mappings are nobody's. */
	if (record->pr_pid == UINT32_MAX)
		out_str(out, "-");
	else
		out_u64(out, record->pr_pid);
	out_char(out, '/');
	out_u64(out, record->pr_tid);
	out_str(out, " [");
	out_digits(out, record->pr_cpu, 3);
	out_str(out, "] ");
	show_time(out, record->pr_time_ns);
	out_str(out, ": ");
	if (record->pr_type == PROF_R_SAMPLE && info != NULL)
		show_sample(out, record, info, names);
	else
		show_other(out, record);
	out_char(out, '\n');
}
