/* SPDX-License-Identifier: ISC */
/*
 * A record as one line of JSON.  Addresses are strings of hexadecimal digits,
 * because readers of JSON keep just 53 bits of a number.
 */
#include <stdio.h>

#include "line.h"

void
line_frames_json(struct emit *em, const char *name,
    const struct prof_record *record, const struct line_names *names,
    bool is_kernel)
{
	const struct line_stack *stack;
	const struct prof_function *fu;
	struct line_frame frame;

	if (names->sn_symbols == NULL)
		return;
	stack = line_stack(names, record, is_kernel);
	if (stack->st_n == 0)
		return;
	emit_list(em, name);
	for (size_t n = 0; n < stack->st_n; n++) {
		line_frame(names, record, &stack->st_frame[n], &frame);
		fu = frame.sf_function;
		emit_object(em, NULL);
		if (fu->fu_unnamed == PROF_NAMED) {
			EMIT(em, TEXT("function", fu->fu_name),
			    TEXT("raw", fu->fu_raw),
			    COUNT("offset", frame.sf_offset));
		} else {
			EMIT(em, UNKNOWN("function"),
			    WORD("unresolved",
			    prof_unnamed_name(fu->fu_unnamed)));
		}
		EMIT(em, TEXT("module", fu->fu_module),
		    WORD("kind", prof_frame_kind_name(fu->fu_kind)));
		if (frame.sf_line.ln_file != NULL) {
			EMIT(em, TEXT("file", frame.sf_line.ln_file),
			    COUNT("line", frame.sf_line.ln_number));
		}
		emit_close(em);
	}
	emit_close(em);
}

void
line_value_json(struct emit *em, const char *name,
    const struct prof_record *record, uint32_t n, bool is_signed)
{
	if (record->pr_strs[n] != NULL)
		EMIT(em, TEXT(name, record->pr_strs[n]));
	else if (is_signed)
		EMIT(em, SIGNED(name, (int64_t)record->pr_args[n]));
	else
		EMIT(em, COUNT(name, record->pr_args[n]));
}

static void
emit_args(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info)
{
	const struct prof_syscall *call = prof_record_call(info, record);
	char name[16];

	if (call != NULL)
		EMIT(em, TEXT("syscall", call->cl_name));
	emit_object(em, "args");
	for (uint32_t n = 0; n < record->pr_nargs && n < PROF_MAX_ARGS; n++) {
		snprintf(name, sizeof(name), "arg%u", n);
		line_value_json(em, n < info->pi_nargs ?
		    info->pi_arg_names[n] : name, record, n,
		    n < info->pi_nargs && info->pi_arg_is_signed[n]);
	}
	emit_close(em);
}

static void
emit_values(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info, const struct line_names *names)
{
	double running = 1;

	emit_object(em, "with");
	for (uint32_t n = 0; n < record->pr_nvalues &&
	    n < info->pi_ncounters; n++)
		EMIT(em, COUNT(prof_reader_event(names->sn_reader,
		    info->pi_counter[n])->pi_name, record->pr_values[n]));
	emit_close(em);
	if (record->pr_values_running_ns < record->pr_values_ns)
		running = (double)record->pr_values_running_ns /
		    (double)record->pr_values_ns;
	EMIT(em, ROUNDED("with_running", running, 6));
}

static void
emit_sample(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info, const struct line_names *names)
{
	EMIT(em, TEXT("event", info->pi_name),
	    COUNT("weight", record->pr_weight), TEXT("unit", info->pi_unit),
	    FLAG("in_kernel", record->pr_in_kernel),
	    FLAG("nested", record->pr_nested));
	if (record->pr_by_chance != 0)
		EMIT(em, COUNT("one_of", 1ULL << record->pr_by_chance));
	if (record->pr_ip != 0)
		EMIT(em, HEX("ip", record->pr_ip));
	if (info->pi_is_call && record->pr_nargs >= 2)
		line_call_json(em, record, info);
	else if (record->pr_nargs > 0)
		emit_args(em, record, info);
	if (record->pr_nvalues > 0)
		emit_values(em, record, info, names);
	if (record->pr_nkernel > 0 || record->pr_kstatus != PROF_STACK_NONE) {
		EMIT(em, HEXES("kernel", record->pr_kernel,
		    record->pr_nkernel), WORD("kernel_status",
		    prof_stack_status_name(record->pr_kstatus)));
		line_frames_json(em, "kernel_frames", record, names, true);
	}
	if (record->pr_nuser > 0 || record->pr_nscript > 0 ||
	    record->pr_ustatus != PROF_STACK_NONE) {
		EMIT(em, HEXES("user", record->pr_user, record->pr_nuser),
		    WORD("user_status",
		    prof_stack_status_name(record->pr_ustatus)),
		    WHERE(record->pr_nscript > 0, HEXES("script",
		    record->pr_script, record->pr_nscript)));
		line_frames_json(em, "user_frames", record, names, false);
	}
}

static void
emit_mapping(struct emit *em, const struct prof_record *record)
{
	char id[2 * sizeof(record->pr_build_id) + 1] = "";

	EMIT(em, HEX("addr", record->pr_addr), COUNT("len", record->pr_len),
	    COUNT("offset", record->pr_offset), TEXT("path", record->pr_path));
	for (uint32_t n = 0; n < record->pr_build_id_len &&
	    n < sizeof(record->pr_build_id); n++)
		snprintf(id + 2 * n, 3, "%02x", record->pr_build_id[n]);
	EMIT(em, GIVEN("build_id", id));
}

static void
emit_other(struct emit *em, const struct prof_record *record,
    const struct prof_event_info *info)
{
	switch (record->pr_type) {
	case PROF_R_FORK:
		EMIT(em, COUNT("ppid", record->pr_ppid),
		    COUNT("ptid", record->pr_ptid));
		break;
	case PROF_R_EXEC:
		EMIT(em, COUNT("old_tid", record->pr_ptid),
		    TEXT("path", record->pr_path));
		break;
	case PROF_R_EXIT:
		EMIT(em, KNOWN(record->pr_code != -1,
		    COUNT("status", (uint32_t)record->pr_code)),
		    FLAG("group_dead", record->pr_group_dead));
		break;
	case PROF_R_MMAP:
	case PROF_R_KSYMBOL:
		emit_mapping(em, record);
		break;
	case PROF_R_MARK:
	case PROF_R_PAUSE:
	case PROF_R_RESUME:
		EMIT(em, TEXT("text", record->pr_path));
		break;
	case PROF_R_TURNS:
	case PROF_R_LOST:
		EMIT(em, COUNT(record->pr_type == PROF_R_LOST ? "count" :
		    "missing_ns", record->pr_weight));
		if (record->pr_type == PROF_R_LOST && record->pr_addr == 0)
			break;
		EMIT(em, COUNT("since_ns", record->pr_addr),
		    TEXT("event", info == NULL ? "" : info->pi_name));
		break;
	default:
		break;
	}
}

void
line_json(struct out *out, const struct prof_record *record,
    const struct prof_event_info *info, const char *comm,
    const struct line_names *names)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, WORD("type", line_type_name(record->pr_type)),
	    COUNT("time_ns", record->pr_time_ns), COUNT("cpu", record->pr_cpu),
	    COUNT("pid", record->pr_pid), COUNT("tid", record->pr_tid),
	    TEXT("comm", comm));
	if (record->pr_type == PROF_R_SAMPLE && info != NULL)
		emit_sample(&em, record, info, names);
	else
		emit_other(&em, record, info);
	emit_end(&em);
}
