/* SPDX-License-Identifier: ISC */
/*
 * A record of the stream, as programs wrote it (dtp_abi.h), to struct
 * prof_record.  Called by the drain for each; what does not look as it must is
 * refused, though programs of ours wrote it.
 */
#include <string.h>

#include "backend/bpf/bpf_impl.h"
#include "process/codes.h"
#include "recording/frame.h"

/* A cursor over the parts of a record that never leaves it. */
struct cursor {
	const uint8_t	*cu_at;
	const uint8_t	*cu_end;
};

static const void *
cursor_take(struct cursor *cursor, size_t bytes)
{
	const void *at = cursor->cu_at;

	if ((size_t)(cursor->cu_end - cursor->cu_at) < bytes)
		return (NULL);
	cursor->cu_at += bytes;
	return (at);
}

static int
decode_args(struct prof_stream *stream, const struct prof_event *event,
    struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	const void *at;
	uint32_t n;

	for (n = 0; n < event->ev_nargs; n++) {
		if (event->ev_args[n].ag_load.ar_kind == DTP_A_INT) {
			if ((at = cursor_take(cursor, 8)) == NULL)
				return (-1);
			memcpy(&pr->pr_args[n], at, 8);
			pr->pr_strs[n] = NULL;
		} else {
			if ((at = cursor_take(cursor, DTP_STR_LEN)) == NULL)
				return (-1);
			memcpy(stream->sm_strings[n], at, DTP_STR_LEN);
			pr->pr_args[n] = 0;
			pr->pr_strs[n] = stream->sm_strings[n];
		}
	}
	pr->pr_nargs = event->ev_nargs;
	return (0);
}

/* Text instead of the pointers to it. */
static int
decode_texts(struct prof_stream *stream, struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	const struct dtp_texts *texts = cursor_take(cursor, sizeof(*texts));
	const void *at;
	uint32_t slot;

	for (int n = 0; n < DTP_CALL_TEXTS; n++) {
		if (texts == NULL)
			return (-1);
		if ((slot = texts->tx_slot[n]) == 0)
			continue;
		if (slot >= DTP_MAX_ARGS ||
		    (at = cursor_take(cursor, DTP_STR_LEN)) == NULL)
			return (-1);
		memcpy(stream->sm_strings[slot], at, DTP_STR_LEN);
		stream->sm_strings[slot][DTP_STR_LEN - 1] = '\0';
		if (slot >= pr->pr_nargs)
			continue;
		pr->pr_args[slot] = 0;
		pr->pr_strs[slot] = stream->sm_strings[slot];
	}
	return (0);
}

/* Values that are not known yet come with a later sample. */
static int
decode_values(struct prof_stream *stream, struct cursor *cursor)
{
	const uint32_t n = (uint32_t)stream->sm_plan->pn_nvalues;
	struct prof_record *pr = &stream->sm_record;
	const struct dtp_values *values = cursor_take(cursor,
	    offsetof(struct dtp_values, vl_value) + n * sizeof(uint64_t));

	if (values == NULL)
		return (-1);
	if (values->vl_enabled_ns == 0 && values->vl_running_ns == 0)
		return (0);
	pr->pr_nvalues = n;
	pr->pr_values_ns = values->vl_enabled_ns;
	pr->pr_values_running_ns = values->vl_running_ns;
	for (uint32_t i = 0; i < n; i++) {
		pr->pr_values[i] = values->vl_value[i];
		stream->sm_sums[i] += values->vl_value[i];
	}
	return (0);
}

static int
decode_clock(struct prof_stream *stream, struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	const struct dtp_times *times = cursor_take(cursor, sizeof(*times));

	if (times == NULL)
		return (-1);
	if (times->tm_running_ns == DTP_NO_TIME)
		return (0);
	pr->pr_has_clock = 1;
	pr->pr_running_ns = times->tm_running_ns;
	pr->pr_off_ns = times->tm_off_ns;
	return (0);
}

/* The outer frames of a deep stack in order, behind the gap. */
static int
decode_turned(struct prof_stream *stream, uint32_t turned)
{
	struct prof_record *pr = &stream->sm_record;
	const size_t first = turned - DTP_INNER_UFRAMES;

	if (pr->pr_nuser != DTP_MAX_UFRAMES || turned < DTP_INNER_UFRAMES ||
	    turned >= DTP_MAX_UFRAMES)
		return (-1);
	memcpy(stream->sm_user, pr->pr_user, 8 * DTP_INNER_UFRAMES);
	stream->sm_user[DTP_INNER_UFRAMES] = PROF_WORD_GAP;
	memcpy(stream->sm_user + DTP_INNER_UFRAMES + 1,
	    pr->pr_user + turned, 8 * (DTP_OUTER_UFRAMES - first));
	memcpy(stream->sm_user + DTP_MAX_UFRAMES + 1 - first,
	    pr->pr_user + DTP_INNER_UFRAMES, 8 * first);
	pr->pr_user = stream->sm_user;
	pr->pr_nuser = DTP_MAX_UFRAMES + 1;
	return (0);
}

/*
 * The walk had no room for another frame, or could not read one: what is
 * outside of the last run is not known.
 */
static bool
script_is_cut(const struct dtp_script *script, const uint64_t *words, long n)
{
	return ((script->sp_outer == 0 &&
	    n >= DTP_MAX_SCRIPT - DTP_SCRIPT_WORDS) || (n > 0 &&
	    words[n - 1] == DTP_W_BOUNDARY(DTP_W_TRUNCATED, 0)));
}

/* The boundary of the last run says so; how many words there are then. */
static long
script_cut(uint64_t *words, long n)
{
	const uint64_t none = PROF_WORD_BOUNDARY(PROF_BOUNDARY_TRUNCATED, 0);
	struct prof_frame frame = { 0 };

	/* The one that a walk adds has no run of its own. */
	if (n > 0 && words[n - 1] == none)
		n--;
	if (n > 0)
		prof_frame_unpack(words[n - 1], &frame);
	if (frame.fr_kind != PROF_FRAME_BOUNDARY)
		words[n++] = none;
	else
		words[n - 1] = none | prof_frame_instruction(&frame);
	return (n);
}

/*
 * The outer frames and boundaries of a deep stack in order, behind the inner
 * ones; how many words these are then, -1: malformed.
 */
static long
script_turn(const uint64_t *words, const struct dtp_script *script,
    uint64_t *to)
{
	const uint32_t nouter = script->sp_outer,
	    kept = nouter < DTP_OUTER_SCRIPT ? nouter : DTP_OUTER_SCRIPT;
	const uint64_t *entry;
	struct prof_frame frame;
	uint32_t n, i;

	if (script->sp_words < kept * DTP_SCRIPT_WORDS)
		return (-1);
	n = script->sp_words - kept * DTP_SCRIPT_WORDS;
	memcpy(to, words, 8 * (size_t)n);
	words += n;
	if (nouter > kept)
		to[n++] = PROF_WORD_GAP;
	for (i = nouter - kept; i < nouter; i++) {
		entry = words + i % DTP_OUTER_SCRIPT * DTP_SCRIPT_WORDS;
		prof_frame_unpack(entry[0], &frame);
		memcpy(to + n, entry, 8 * DTP_SCRIPT_WORDS);
		n += frame.fr_kind == PROF_FRAME_BOUNDARY ? 1 :
		    DTP_SCRIPT_WORDS;
	}
	return (n);
}

static int
decode_script(struct prof_stream *stream, struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	const struct dtp_script *script = cursor_take(cursor, sizeof(*script));
	const uint64_t *words;
	long n, nwords;

	if (script == NULL || script->sp_words > DTP_MAX_SCRIPT ||
	    (words = cursor_take(cursor, 8 * (size_t)script->sp_words)) == NULL)
		return (-1);
	nwords = script->sp_words;
	if (script->sp_outer > 0) {
		nwords = script_turn(words, script, stream->sm_turned);
		words = stream->sm_turned;
	}
	n = nwords == -1 ? -1 : prof_codes_words(stream->sm_plan->pn_codes,
	    pr->pr_pid, words, (size_t)nwords, stream->sm_script);
	if (n == -1)
		return (-1);
	if (script_is_cut(script, words, nwords))
		n = script_cut(stream->sm_script, n);
	pr->pr_script = stream->sm_script;
	pr->pr_nscript = (uint32_t)n;
	return (0);
}

static int
decode_stack(struct prof_stream *stream, struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	const struct dtp_stack *stack = cursor_take(cursor, sizeof(*stack));

	if (stack == NULL)
		return (-1);
	pr->pr_nkernel = stack->ds_nkernel;
	pr->pr_nuser = stack->ds_nuser;
	pr->pr_kstatus = stack->ds_kstatus;
	pr->pr_ustatus = stack->ds_ustatus;
	pr->pr_kernel = cursor_take(cursor, 8 * (size_t)pr->pr_nkernel);
	pr->pr_user = cursor_take(cursor, 8 * (size_t)pr->pr_nuser);
	if (pr->pr_kernel == NULL || pr->pr_user == NULL)
		return (-1);
	pr->pr_ip = pr->pr_nkernel > 0 ? pr->pr_kernel[0] :
	    pr->pr_nuser > 0 ? pr->pr_user[0] : 0;
	return (stack->ds_turned == 0 ? 0 :
	    decode_turned(stream, stack->ds_turned));
}

static int
decode_sample(struct prof_stream *stream, const struct dtp_rec *rec,
    struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	uint32_t parts = stream->sm_parts[rec->dr_event];
	const void *at;

	pr->pr_type = PROF_R_SAMPLE;
	pr->pr_weight = 1;
	pr->pr_ip = 0;
	pr->pr_nargs = pr->pr_nkernel = pr->pr_nuser = pr->pr_nvalues = 0;
	pr->pr_nscript = 0;
	pr->pr_has_clock = 0;
	pr->pr_kstatus = pr->pr_ustatus = PROF_STACK_NONE;
	pr->pr_comm = "";
	if (parts & DTP_P_WEIGHT) {
		if ((at = cursor_take(cursor, 8)) == NULL)
			return (-1);
		memcpy(&pr->pr_weight, at, 8);
	}
	if (parts & DTP_P_IP) {
		if ((at = cursor_take(cursor, 8)) == NULL)
			return (-1);
		memcpy(&pr->pr_ip, at, 8);
	}
	if ((parts & DTP_P_ARGS) && decode_args(stream,
	    stream->sm_plan->pn_events->el_event[rec->dr_event], cursor) ==
	    -1)
		return (-1);
	if ((parts & DTP_P_TEXTS) && decode_texts(stream, cursor) == -1)
		return (-1);
	if (parts & DTP_P_COMM) {
		if ((at = cursor_take(cursor, DTP_COMM_LEN)) == NULL)
			return (-1);
		memcpy(stream->sm_comm, at, DTP_COMM_LEN);
		pr->pr_comm = stream->sm_comm;
	}
	if ((parts & DTP_P_VALUES) && decode_values(stream, cursor) == -1)
		return (-1);
	if ((parts & DTP_P_CLOCK) && decode_clock(stream, cursor) == -1)
		return (-1);
	if (parts & (DTP_P_KSTACK | DTP_P_USTACK) &&
	    decode_stack(stream, cursor) == -1)
		return (-1);
	return (rec->dr_flags & DTP_R_SCRIPT ?
	    decode_script(stream, cursor) : 0);
}

static int
decode_life(struct prof_stream *stream, const struct dtp_rec *rec,
    struct cursor *cursor)
{
	struct prof_record *pr = &stream->sm_record;
	size_t left = (size_t)(cursor->cu_end - cursor->cu_at);
	const struct dtp_fork *fork = (const void *)cursor->cu_at;
	const struct dtp_exec *exec = (const void *)cursor->cu_at;
	const struct dtp_exit *gone = (const void *)cursor->cu_at;
	const struct dtp_comm *comm = (const void *)cursor->cu_at;
	const char *name;

	pr->pr_comm = stream->sm_comm;
	if (rec->dr_type == DTP_T_FORK && left >= sizeof(*fork)) {
		pr->pr_type = PROF_R_FORK;
		pr->pr_ppid = fork->df_ppid;
		pr->pr_ptid = fork->df_ptid;
		pr->pr_exec_id = fork->df_exec_id;
		name = fork->df_comm;
	} else if (rec->dr_type == DTP_T_EXEC && left >=
	    offsetof(struct dtp_exec, de_path)) {
		pr->pr_type = PROF_R_EXEC;
		pr->pr_ptid = exec->de_old_tid;
		pr->pr_exec_id = exec->de_exec_id;
		name = exec->de_comm;
		left -= offsetof(struct dtp_exec, de_path);
		if (left > sizeof(stream->sm_path) - 1)
			left = sizeof(stream->sm_path) - 1;
		memcpy(stream->sm_path, exec->de_path, left);
		stream->sm_path[left] = '\0';
		pr->pr_path = stream->sm_path;
	} else if (rec->dr_type == DTP_T_EXIT && left >= sizeof(*gone)) {
		pr->pr_type = PROF_R_EXIT;
		pr->pr_code = gone->dx_code;
		pr->pr_group_dead = gone->dx_group_dead != 0;
		name = gone->dx_comm;
	} else if (rec->dr_type == DTP_T_COMM && left >= sizeof(*comm)) {
		pr->pr_type = PROF_R_COMM;
		name = comm->do_comm;
	} else
		return (-1);
	memcpy(stream->sm_comm, name, DTP_COMM_LEN);
	return (0);
}

int
prof_stream_decode(struct prof_stream *stream, const struct dtp_rec *rec)
{
	struct prof_record *pr = &stream->sm_record;
	struct cursor cursor = { (const uint8_t *)(rec + 1),
	    (const uint8_t *)rec + rec->dr_size };

	pr->pr_event = rec->dr_event;
	pr->pr_cpu = rec->dr_cpu;
	pr->pr_pid = rec->dr_pid;
	pr->pr_tid = rec->dr_tid;
	pr->pr_time_ns = rec->dr_time_ns;
	pr->pr_in_kernel = (rec->dr_flags & DTP_R_KERNEL) != 0;
	pr->pr_nested = (rec->dr_flags & DTP_R_NESTED) != 0;
	pr->pr_by_chance = (rec->dr_flags & DTP_R_STEP) >> DTP_R_STEP_SHIFT;
	return (rec->dr_type == DTP_T_SAMPLE ?
	    decode_sample(stream, rec, &cursor) :
	    decode_life(stream, rec, &cursor));
}

void
prof_stream_moved(struct prof_stream *stream, const uint64_t *before,
    uint32_t nbefore)
{
	const struct prof_record *pr = &stream->sm_record;
	uint32_t n, place, at = 0, to;
	struct prof_frame frame;

	for (n = 0; n < pr->pr_nscript; n++) {
		prof_frame_unpack(stream->sm_script[n], &frame);
		place = prof_frame_instruction(&frame);
		if (frame.fr_kind != PROF_FRAME_BOUNDARY || place == 0)
			continue;
		to = at;
		while (place <= nbefore && to < pr->pr_nuser &&
		    pr->pr_user[to] != before[place - 1])
			to++;
		if (place <= nbefore && to < pr->pr_nuser)
			place = at = to + 1;
		else
			place = PROF_FRAME_INSTRUCTION;	/* there is none */
		stream->sm_script[n] = PROF_WORD_BOUNDARY(
		    (uint64_t)prof_frame_code(&frame), place);
	}
}
