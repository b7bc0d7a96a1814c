/* SPDX-License-Identifier: ISC */
/*
 * A record as one line of JSON.  Members are documented in dtprof(1); they
 * are added, never renamed.  Addresses are strings of hexadecimal digits,
 * because readers of JSON keep just 53 bits of a number.
 */
#include "script.h"

static void	 key(struct out *out, const char *name);
static void	 key_u64(struct out *out, const char *name, uint64_t value);
static void	 key_str(struct out *out, const char *name, const char *text);
static void	 key_hex(struct out *out, const char *name, uint64_t value);
static void	 show_frames(struct out *out, const char *name,
		    const uint64_t *frames, uint32_t n);
static void	 show_names(struct out *out, const char *name,
		    const struct prof_record *record,
		    const struct script_names *names, bool is_kernel);
static void	 show_args(struct out *out, const struct prof_record *record,
		    const struct prof_event_info *info);
static void	 show_sample(struct out *out,
		    const struct prof_record *record,
		    const struct prof_event_info *info,
		    const struct script_names *names);
static void	 show_mapping(struct out *out,
		    const struct prof_record *record);
static void	 show_other(struct out *out,
		    const struct prof_record *record,
		    const struct prof_event_info *info);

static void
key(struct out *out, const char *name)
{
	out_str(out, ",\"");
	out_str(out, name);
	out_str(out, "\":");
}

static void
key_u64(struct out *out, const char *name, uint64_t value)
{
	key(out, name);
	out_u64(out, value);
}

static void
key_str(struct out *out, const char *name, const char *text)
{
	key(out, name);
	out_json(out, text);
}

static void
key_hex(struct out *out, const char *name, uint64_t value)
{
	key(out, name);
	out_str(out, "\"0x");
	out_hex(out, value);
	out_char(out, '"');
}

static void
show_frames(struct out *out, const char *name, const uint64_t *frames,
    uint32_t n)
{
	key(out, name);
	out_char(out, '[');
	for (uint32_t i = 0; i < n; i++) {
		out_str(out, i == 0 ? "\"0x" : ",\"0x");
		out_hex(out, frames[i]);
		out_char(out, '"');
	}
	out_char(out, ']');
}

/* The same frames with names; unnamed ones say why. */
static void
show_names(struct out *out, const char *name,
    const struct prof_record *record, const struct script_names *names,
    bool is_kernel)
{
	static const char *const why[PROF_UNNAMED_N] = {
		"", "noproc", "nomap", "anon", "nofile", "nosym", "hidden",
		"over"
	};
	const struct script_stack *stack;
	const struct prof_function *fu;
	struct script_frame frame;

	if (names->sn_symbols == NULL)
		return;
	stack = script_stack(names, record, is_kernel);
	if (stack->st_n == 0)
		return;
	key(out, name);
	for (size_t n = 0; n < stack->st_n; n++) {
		script_frame(names, record, &stack->st_frame[n], &frame);
		fu = frame.sf_function;
		out_str(out, n == 0 ? "[{" : ",{");
		out_str(out, "\"function\":");
		if (fu->fu_unnamed == PROF_NAMED) {
			out_json(out, fu->fu_name);
			key_str(out, "raw", fu->fu_raw);
			key_u64(out, "offset", frame.sf_offset);
		} else {
			out_str(out, "null");
			key_str(out, "unresolved", why[fu->fu_unnamed]);
		}
		key_str(out, "module", fu->fu_module);
		key_str(out, "kind", prof_frame_kind_name(fu->fu_kind));
		if (frame.sf_line.ln_file != NULL) {
			key_str(out, "file", frame.sf_line.ln_file);
			key_u64(out, "line", frame.sf_line.ln_number);
		}
		out_char(out, '}');
	}
	out_char(out, ']');
}

static void
show_args(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info)
{
	const struct prof_syscall *call = prof_event_call(info, record);

	if (call != NULL)
		key_str(out, "syscall", call->cl_name);
	key(out, "args");
	out_char(out, '{');
	for (uint32_t n = 0; n < record->pr_nargs && n < PROF_MAX_ARGS; n++) {
		if (n > 0)
			out_char(out, ',');
		if (n < info->pi_nargs)
			out_json(out, info->pi_arg_names[n]);
		else
			out_fmt(out, "\"arg%u\"", n);
		out_char(out, ':');
		if (record->pr_strs[n] != NULL)
			out_json(out, record->pr_strs[n]);
		else if (n < info->pi_nargs && info->pi_arg_is_signed[n])
			out_i64(out, (int64_t)record->pr_args[n]);
		else
			out_u64(out, record->pr_args[n]);
	}
	out_char(out, '}');
}

static void
show_values(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const struct script_names *names)
{
	double running = 1;

	key(out, "with");
	out_char(out, '{');
	for (uint32_t n = 0; n < record->pr_nvalues &&
	    n < info->pi_ncounters; n++) {
		if (n > 0)
			out_char(out, ',');
		out_json(out, prof_reader_event(names->sn_reader,
		    info->pi_counter[n])->pi_name);
		out_char(out, ':');
		out_u64(out, record->pr_values[n]);
	}
	out_char(out, '}');
	if (record->pr_values_running_ns < record->pr_values_ns)
		running = (double)record->pr_values_running_ns /
		    (double)record->pr_values_ns;
	key(out, "with_running");
	out_fmt(out, "%.6g", running);
}

static void
show_sample(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const struct script_names *names)
{
	key_str(out, "event", info->pi_name);
	key_u64(out, "weight", record->pr_weight);
	key_str(out, "unit", info->pi_unit);
	key(out, "in_kernel");
	out_str(out, record->pr_in_kernel ? "true" : "false");
	key(out, "nested");
	out_str(out, record->pr_nested ? "true" : "false");
	if (record->pr_ip != 0)
		key_hex(out, "ip", record->pr_ip);
	if (info->pi_is_call && record->pr_nargs >= 2)
		script_call_json(out, record, info);
	else if (record->pr_nargs > 0)
		show_args(out, record, info);
	if (record->pr_nvalues > 0)
		show_values(out, record, info, names);
	if (record->pr_nkernel > 0 || record->pr_kstatus != PROF_STACK_NONE) {
		show_frames(out, "kernel", record->pr_kernel,
		    record->pr_nkernel);
		key_str(out, "kernel_status",
		    stack_status_name(record->pr_kstatus));
		show_names(out, "kernel_frames", record, names, true);
	}
	if (record->pr_nuser > 0 || record->pr_nscript > 0 ||
	    record->pr_ustatus != PROF_STACK_NONE) {
		show_frames(out, "user", record->pr_user, record->pr_nuser);
		key_str(out, "user_status",
		    stack_status_name(record->pr_ustatus));
		if (record->pr_nscript > 0)
			show_frames(out, "script", record->pr_script,
			    record->pr_nscript);
		show_names(out, "user_frames", record, names, false);
	}
}

static void
show_mapping(struct out *out, const struct prof_record *record)
{
	key_hex(out, "addr", record->pr_addr);
	key_u64(out, "len", record->pr_len);
	key_u64(out, "offset", record->pr_offset);
	key_str(out, "path", record->pr_path);
	if (record->pr_build_id_len == 0)
		return;
	key(out, "build_id");
	out_char(out, '"');
	for (uint32_t n = 0; n < record->pr_build_id_len &&
	    n < sizeof(record->pr_build_id); n++) {
		out_hex(out, record->pr_build_id[n] >> 4);
		out_hex(out, record->pr_build_id[n] & 0xf);
	}
	out_char(out, '"');
}

static void
show_other(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info)
{
	switch (record->pr_type) {
	case PROF_R_FORK:
		key_u64(out, "ppid", record->pr_ppid);
		key_u64(out, "ptid", record->pr_ptid);
		break;
	case PROF_R_EXEC:
		key_u64(out, "old_tid", record->pr_ptid);
		key_str(out, "path", record->pr_path);
		break;
	case PROF_R_EXIT:
		key_u64(out, "status", (uint32_t)record->pr_code);
		key(out, "group_dead");
		out_str(out, record->pr_group_dead ? "true" : "false");
		break;
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		show_mapping(out, record);
		break;
	case PROF_R_MARK:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		key_str(out, "text", record->pr_path);
		break;
	case PROF_R_TURNS:
		key_u64(out, "missing_ns", record->pr_weight);
		key_u64(out, "since_ns", record->pr_addr);
		key_str(out, "event", info == NULL ? "" : info->pi_name);
		break;
	case PROF_R_LOST:
		key_u64(out, "count", record->pr_weight);
		if (record->pr_addr == 0)
			break;
		key_u64(out, "since_ns", record->pr_addr);
		key_str(out, "event", info == NULL ? "" : info->pi_name);
		break;
	default:
		break;
	}
}

void
script_json(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const char *comm,
    const struct script_names *names)
{
	out_str(out, "{\"type\":\"");
	out_str(out, script_type_name(record->pr_type));
	out_char(out, '"');
	key_u64(out, "time_ns", record->pr_time_ns);
	key_u64(out, "cpu", record->pr_cpu);
	key_u64(out, "pid", record->pr_pid);
	key_u64(out, "tid", record->pr_tid);
	key_str(out, "comm", comm);
	if (record->pr_type == PROF_R_SAMPLE && info != NULL)
		show_sample(out, record, info, names);
	else
		show_other(out, record, info);
	out_str(out, "}\n");
}
