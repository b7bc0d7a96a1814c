/* SPDX-License-Identifier: ISC */
/*
 * Text of perf script made into a recording.  perf has looked all names up, and
 * what it prints as an address may be the file's or the process's.  So names
 * have places (places.h), and these are in the memory of one process that
 * stands for all (PROF_PLACES_PID).  Threads, CPUs, times, events and periods
 * are the file's.
 *
 * The text is read twice: for names, events and the order of time, and for
 * samples.  Called by import.c.
 */
#include <linux/perf_event.h>

#include <stdlib.h>
#include <string.h>

#include "abi/dtp_abi.h"
#include "perf_script.h"
#include "profile/profile_impl.h"
#include "recording/accounting.h"

#define MAX_FRAMES	8192
#define MAX_EVENTS	1024
#define MAX_TASKS	(1u << 18)	/* that are named apart from samples */
#define COMM		16
#define LONGEST_LINE	(64u << 10)	/* that a file is recognised by */
#define FIRST_NS	3	/* what comes first has a time before it */

struct sample {
	struct perf_head sm_head;
	size_t		 sm_begin;	/* in the text */
	size_t		 sm_nframes;	/* that there are */
	size_t		 sm_nkept;	/* in sc_frame */
	bool		 sm_is_chain;	/* not just the sampled address */
};

struct event {
	char		*et_name;
	bool		 et_no_period;	/* of one sample, at least */
	bool		 et_is_tracepoint;
};

/* A sample in the order of time. */
struct place {
	uint64_t	 pl_time_ns;
	size_t		 pl_at;
};

struct task {
	uint32_t	 tk_pid;
	uint32_t	 tk_tid;
	char		 tk_comm[COMM];
};

struct perf_script {
	struct prof_import *sc_import;
	struct prof_places *sc_places;
	struct perf_script_form sc_form;
	size_t		 sc_at;		/* in the text */
	uint64_t	 sc_line;
	struct prof_dict sc_events;
	struct event	 sc_event[MAX_EVENTS];
	size_t		 sc_nevents;
	struct prof_accounting sc_sum[MAX_EVENTS + 1];
	struct prof_dict sc_tasks;
	struct task	*sc_task;
	size_t		 sc_ntasks;
	size_t		 sc_cap_tasks;
	struct place	*sc_place;
	size_t		 sc_nplaces;
	size_t		 sc_cap_places;
	uint64_t	 sc_last_ns;	/* of a sample that has a time */
	bool		 sc_is_disordered;
	uint64_t	 sc_shift_ns;	/* for times that begin at 0 */
	uint64_t	 sc_bad;
	uint64_t	 sc_bad_line;
	uint64_t	 sc_deep;
	uint64_t	 sc_lost;
	bool		 sc_no_pid;
	struct perf_frame sc_frame[MAX_FRAMES];
	uint64_t	 sc_kernel[MAX_FRAMES];
	uint64_t	 sc_user[MAX_FRAMES];
};

static int
no_memory(struct perf_script *script)
{
	return (prof_fail_nomem(&script->sc_import->im_error));
}

/* ---------------------------------------------------------------- text */

/* Without its end; false: there is none.  *at: behind it. */
static bool
next_line(const struct prof_import *import, size_t *at,
    struct prof_places_text *line)
{
	const char *begin = (const char *)import->im_bytes + *at, *end;
	size_t left = import->im_length - *at;

	if (left == 0)
		return (false);
	end = memchr(begin, '\n', left);
	line->px_at = begin;
	line->px_length = end == NULL ? left : (size_t)(end - begin);
	*at += line->px_length + (end != NULL);
	if (line->px_length > 0 && begin[line->px_length - 1] == '\r')
		line->px_length--;
	return (true);
}

static bool
is_frame(struct prof_places_text line, struct perf_frame *frame)
{
	return (*(const char *)line.px_at == '\t' &&
	    perf_script_frame(line, frame));
}

static void
add_frame(struct perf_script *script, struct sample *sample,
    const struct perf_frame *frame)
{
	sample->sm_is_chain = true;
	sample->sm_nframes++;
	if (sample->sm_nkept < MAX_FRAMES)
		script->sc_frame[sample->sm_nkept++] = *frame;
}

/* The first line of a sample; false: it is another record. */
static bool
begin_sample(struct perf_script *script, struct sample *sample,
    const struct perf_head *head)
{
	if (head->he_is_record) {
		script->sc_lost += head->he_lost;
		return (false);
	}
	sample->sm_head = *head;
	return (true);
}

/*
 * The next sample from sc_at on, which is then behind it; false: there is none.
 * Without any field but the address a sample begins with its first frame.
 */
static bool
next_sample(struct perf_script *script, struct sample *sample)
{
	const struct prof_import *import = script->sc_import;
	struct prof_places_text line;
	struct perf_frame frame;
	struct perf_head head;
	bool begun = false;
	size_t before;

	memset(sample, 0, sizeof(*sample));
	perf_script_nothing(&sample->sm_head);
	while (before = script->sc_at, next_line(import, &script->sc_at,
	    &line)) {
		script->sc_line++;
		if (!begun)
			sample->sm_begin = before;
		if (perf_script_is_blank(line)) {
			if (begun)
				return (true);
		} else if (*(const char *)line.px_at == '#') {
			continue;
		} else if (*(const char *)line.px_at != '\t' &&
		    perf_script_head(line, &script->sc_form, &head)) {
			if (begun) {
				script->sc_at = before;
				script->sc_line--;
				return (true);
			}
			begun = begin_sample(script, sample, &head);
		} else if (perf_script_frame(line, &frame)) {
			add_frame(script, sample, &frame);
			begun = true;
		} else if ((!begun || !perf_script_is_source(line)) &&
		    script->sc_bad++ == 0) {
			script->sc_bad_line = script->sc_line;
		}
	}
	return (begun);
}

/* ------------------------------------------------------------- first pass */

/* Does a number before the event always look like a period?  See there. */
static void
find_form(struct perf_script *script)
{
	struct prof_places_text line;
	struct perf_frame frame;
	struct perf_head head;

	for (size_t at = 0; next_line(script->sc_import, &at, &line) &&
	    !script->sc_form.fm_no_period; ) {
		if (perf_script_is_blank(line) || is_frame(line, &frame) ||
		    *(const char *)line.px_at == '#' ||
		    !perf_script_head(line, &script->sc_form, &head))
			continue;
		if (head.he_has_time)
			return;
		if (head.he_event.px_length > 0)
			script->sc_form.fm_no_period = !head.he_maybe_period;
	}
}

/* The number of an event; -1 with an error. */
static long
event_of(struct perf_script *script, const struct perf_head *head)
{
	const struct prof_places_text text = head->he_event;
	struct event *event;
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&script->sc_events, text.px_at, text.px_length,
	    &is_new);
	if (n == PROF_INTERN_FAILED)
		return (no_memory(script));
	if (n >= MAX_EVENTS)
		return (prof_fail(&script->sc_import->im_error, PROF_E_FORMAT,
		    "the perf script output has more than %d events",
		    MAX_EVENTS));
	event = &script->sc_event[n];
	if (is_new) {
		script->sc_nevents++;
		event->et_name = text.px_length == 0 ? strdup("samples") :
		    strndup(text.px_at, text.px_length < PROF_MAX_STRING ?
		    text.px_length : PROF_MAX_STRING);
		event->et_is_tracepoint = perf_script_is_tracepoint(text);
	}
	event->et_no_period |= !head->he_has_period;
	return (event->et_name == NULL ? no_memory(script) : (long)n);
}

static void
copy_comm(char comm[COMM], struct prof_places_text text)
{
	const size_t n = text.px_length < COMM - 1 ? text.px_length :
	    COMM - 1;

	memset(comm, 0, COMM);
	if (n > 0)
		memcpy(comm, text.px_at, n);
}

static int
take_task(struct perf_script *script, const struct perf_head *head)
{
	struct task *task, key = { head->he_pid, head->he_tid, "" };
	bool is_new;

	copy_comm(key.tk_comm, head->he_comm);
	if (script->sc_ntasks == MAX_TASKS || head->he_tid == PERF_NOBODY)
		return (0);
	if (prof_dict_find(&script->sc_tasks, &key.tk_tid,
	    sizeof(key.tk_tid), &is_new) == PROF_INTERN_FAILED)
		return (no_memory(script));
	if (!is_new)
		return (0);
	task = prof_grow((void **)&script->sc_task, &script->sc_ntasks,
	    &script->sc_cap_tasks, sizeof(*task));
	if (task == NULL)
		return (no_memory(script));
	*task = key;
	return (0);
}

/* Where a sample stands; without a time it comes behind the one before. */
static int
take_place(struct perf_script *script, const struct sample *sample)
{
	struct place *place = prof_grow((void **)&script->sc_place,
	    &script->sc_nplaces, &script->sc_cap_places, sizeof(*place));
	const uint64_t before = script->sc_last_ns;

	if (place == NULL)
		return (no_memory(script));
	script->sc_last_ns = sample->sm_head.he_has_time ?
	    sample->sm_head.he_time_ns : before + 1;
	script->sc_is_disordered |= script->sc_last_ns < before;
	*place = (struct place){ script->sc_last_ns, sample->sm_begin };
	return (0);
}

static int
place_compare(const void *a, const void *b)
{
	const struct place *pa = a, *pb = b;

	if (pa->pl_time_ns != pb->pl_time_ns)
		return (pa->pl_time_ns < pb->pl_time_ns ? -1 : 1);
	return (pa->pl_at < pb->pl_at ? -1 : pa->pl_at > pb->pl_at);
}

/* --------------------------------------------------------------- stacks */

static bool
is_kernel(const struct perf_frame *frame)
{
	return (prof_places_is_kernel(frame->fr_file) ||
	    frame->fr_ip >> 63 != 0);
}

/* The module of a frame: of what is inlined, that of the frame around it. */
static uint32_t
module_of(struct perf_script *script, const struct sample *sample, size_t n)
{
	static const char kernel[] = "[kernel]";
	const struct perf_frame *frame;

	while (script->sc_frame[n].fr_is_inlined && n + 1 < sample->sm_nkept)
		n++;
	frame = &script->sc_frame[n];
	return (prof_places_module(script->sc_places,
	    frame->fr_file.px_length == 0 && is_kernel(frame) ?
	    (struct prof_places_text){ kernel, sizeof(kernel) - 1 } :
	    frame->fr_file, (struct prof_places_text){ "", 0 }));
}

/* As perf's own word: text does not say how a stack ended. */
static void
rate_stack(const struct sample *sample, const struct perf_script *script,
    struct prof_record *record)
{
	uint8_t status = PROF_STACK_OK;
	size_t real = 0;

	for (size_t n = 0; n < sample->sm_nkept; n++)
		real += !script->sc_frame[n].fr_is_inlined;
	if (real >= PERF_MAX_STACK_DEPTH ||
	    sample->sm_nframes > sample->sm_nkept)
		status = PROF_STACK_DEEP;
	if (record->pr_nkernel > 0)
		record->pr_kstatus = status;
	if (record->pr_nuser > 0)
		record->pr_ustatus = status;
}

static int
make_stack(struct perf_script *script, struct sample *sample,
    struct prof_record *record)
{
	const struct perf_frame *frame = script->sc_frame;
	size_t nkernel = 0;
	uint32_t module;
	uint64_t pc = 0;

	if (!sample->sm_is_chain && sample->sm_head.he_has_frame) {
		script->sc_frame[0] = sample->sm_head.he_frame;
		sample->sm_nkept = sample->sm_nframes = 1;
	}
	for (size_t n = 0; n < sample->sm_nkept; n++)
		if (is_kernel(&frame[n]))
			nkernel = n + 1;
	for (size_t n = 0; n < sample->sm_nkept; n++) {
		module = module_of(script, sample, n);
		pc = module == UINT32_MAX ? 0 : prof_places_pc(
		    script->sc_places, module, n < nkernel,
		    frame[n].fr_name);
		if (pc == 0)
			return (-1);
		if (n < nkernel)
			script->sc_kernel[record->pr_nkernel++] = pc;
		else
			script->sc_user[record->pr_nuser++] = pc;
	}
	record->pr_kernel = script->sc_kernel;
	record->pr_user = script->sc_user;
	record->pr_in_kernel = nkernel > 0;
	record->pr_ip = nkernel > 0 ? script->sc_kernel[0] :
	    record->pr_nuser > 0 ? script->sc_user[0] : 0;
	if (sample->sm_is_chain)
		rate_stack(sample, script, record);
	else
		record->pr_nkernel = record->pr_nuser = 0;
	return (0);
}

/* ------------------------------------------------------------ both passes */

static int
find_samples(struct perf_script *script)
{
	struct prof_record record;
	struct sample sample;

	while (next_sample(script, &sample)) {
		memset(&record, 0, sizeof(record));
		script->sc_deep += sample.sm_nframes > sample.sm_nkept;
		script->sc_no_pid |= !sample.sm_head.he_has_pid;
		if (event_of(script, &sample.sm_head) == -1 ||
		    take_task(script, &sample.sm_head) == -1 ||
		    take_place(script, &sample) == -1 ||
		    make_stack(script, &sample, &record) == -1)
			return (-1);
	}
	if (script->sc_nplaces == 0)
		return (prof_fail(&script->sc_import->im_error, PROF_E_FORMAT,
		    "the perf script output has no samples"));
	if (script->sc_is_disordered)
		qsort(script->sc_place, script->sc_nplaces,
		    sizeof(*script->sc_place), place_compare);
	if (script->sc_place[0].pl_time_ns < FIRST_NS)
		script->sc_shift_ns = FIRST_NS;
	return (0);
}

static int
add_sample(struct perf_script *script, const struct place *place)
{
	char comm[COMM];
	struct prof_record record = {
		.pr_type = PROF_R_SAMPLE, .pr_comm = comm, .pr_path = "",
		.pr_time_ns = place->pl_time_ns + script->sc_shift_ns,
	};
	struct prof_accounting *sum;
	struct sample sample;
	long event;

	script->sc_at = place->pl_at;
	if (!next_sample(script, &sample))
		return (0);
	event = event_of(script, &sample.sm_head);
	if (event == -1 || make_stack(script, &sample, &record) == -1)
		return (-1);
	copy_comm(comm, sample.sm_head.he_comm);
	record.pr_event = (uint32_t)event + 1;
	record.pr_pid = sample.sm_head.he_pid;
	record.pr_tid = sample.sm_head.he_tid;
	record.pr_cpu = sample.sm_head.he_cpu;
	record.pr_weight = script->sc_event[event].et_no_period ? 1 :
	    sample.sm_head.he_period;
	sum = &script->sc_sum[event + 1];
	sum->pa_stored++;
	sum->pa_kstack[record.pr_kstatus]++;
	sum->pa_ustack[record.pr_ustatus]++;
	if (__builtin_add_overflow(sum->pa_weight, record.pr_weight,
	    &sum->pa_weight))
		return (prof_fail(&script->sc_import->im_error, PROF_E_FORMAT,
		    "the sum of an event's periods exceeds 64 bits"));
	return (prof_import_add(script->sc_import, &record));
}

/* ------------------------------------------------------------- what it is */

/* What perf script --header says of the machine. */
static int
say_header(struct perf_script *script)
{
	static const struct {
		const char	*in_text;
		const char	*in_key;
	} infos[] = {
		{ "# hostname : ", "machine.host" },
		{ "# os release : ", "machine.kernel" },
		{ "# perf version : ", "import.version" },
		{ "# arch : ", "machine.arch" },
		{ "# nrcpus avail : ", "machine.cpus" },
		{ "# cpudesc : ", "machine.cpu_model" },
		{ "# cmdline : ", "command" },
	};
	struct prof_places_text line;
	size_t at = 0, n, length;
	char *value;
	int rv = 0;

	while (rv == 0 && next_line(script->sc_import, &at, &line) &&
	    line.px_length > 0 && *(const char *)line.px_at == '#')
		for (n = 0; rv == 0 && n < sizeof(infos) / sizeof(infos[0]);
		    n++) {
			length = strlen(infos[n].in_text);
			if (line.px_length <= length || memcmp(line.px_at,
			    infos[n].in_text, length) != 0)
				continue;
			value = strndup((const char *)line.px_at + length,
			    line.px_length - length < PROF_MAX_STRING ?
			    line.px_length - length : PROF_MAX_STRING);
			rv = value == NULL ? no_memory(script) :
			    prof_import_info(script->sc_import,
			    infos[n].in_key, value);
			free(value);
		}
	return (rv);
}

/* A clock's period is time; "sched:x" is static:sched::x here. */
static int
say_event(struct perf_script *script, const struct event *event)
{
	const char *name = event->et_name, *colon = strchr(name, ':');
	const size_t length = strcspn(name, ":");
	const bool is_clock = length > 6 &&
	    strncmp(name + length - 6, "-clock", 6) == 0;
	struct prof_event_info info = {
		.pi_name = name,
		.pi_provider = event->et_is_tracepoint ? "static" : "pmc",
		.pi_unit = event->et_no_period ? "samples" : is_clock ? "ns" :
		    "events",
		.pi_period = event->et_no_period,
		.pi_parts = DTP_P_KSTACK | DTP_P_USTACK | DTP_P_WEIGHT |
		    DTP_P_COMM,
	};
	char *probe;
	int n, rv;

	if (event->et_is_tracepoint)
		n = asprintf(&probe, "static:%.*s::%s", (int)length, name,
		    colon + 1);
	else
		n = asprintf(&probe, "pmc:::%s", name);
	if (n == -1)
		return (no_memory(script));
	info.pi_probe = probe;
	rv = prof_import_event(script->sc_import, &info);
	free(probe);
	return (rv);
}

static int
say_events(struct perf_script *script)
{
	const struct prof_event_info proc = {
		.pi_name = "proc", .pi_probe = "proc:::", .pi_provider =
		"proc", .pi_unit = "events", .pi_period = 1,
	};
	int rv = prof_import_event(script->sc_import, &proc);

	for (size_t n = 0; rv == 0 && n < script->sc_nevents; n++)
		rv = say_event(script, &script->sc_event[n]);
	return (rv);
}

static int
say_tasks(struct perf_script *script, uint64_t time_ns)
{
	struct prof_record record = {
		.pr_type = PROF_R_TASK, .pr_time_ns = time_ns, .pr_path = "",
	};
	int rv = 0;

	for (size_t n = 0; rv == 0 && n < script->sc_ntasks; n++) {
		record.pr_pid = script->sc_task[n].tk_pid;
		record.pr_tid = script->sc_task[n].tk_tid;
		record.pr_comm = script->sc_task[n].tk_comm;
		rv = prof_import_add(script->sc_import, &record);
	}
	if (rv == 0)
		rv = prof_places_say_memory(script->sc_places,
		    PROF_PLACES_PID, time_ns);
	record = (struct prof_record){ .pr_type = PROF_R_START,
	    .pr_time_ns = time_ns, .pr_comm = "", .pr_path = "" };
	return (rv == -1 ? -1 : prof_import_add(script->sc_import, &record));
}

static int
say_notes(struct perf_script *script)
{
	struct prof_import *import = script->sc_import;

	if (script->sc_bad > 0 && prof_import_say(import, "%llu lines are not "
	    "perf script output and were left out; the first of these lines is "
	    "line %llu",
	    (unsigned long long)script->sc_bad,
	    (unsigned long long)script->sc_bad_line) == -1)
		return (-1);
	if (script->sc_deep > 0 && prof_import_say(import, "%llu stacks are "
	    "deeper than %d frames: the outermost frames of these stacks are "
	    "dropped",
	    (unsigned long long)script->sc_deep, MAX_FRAMES) == -1)
		return (-1);
	if (script->sc_lost > 0 && prof_import_say(import, "perf lost %llu "
	    "events while recording",
	    (unsigned long long)script->sc_lost) == -1)
		return (-1);
	return (!script->sc_no_pid ? 0 : prof_import_say(import, "the text "
	    "names threads but no processes, so each thread is imported as a "
	    "process: use perf script -F +pid"));
}

static int
recording_finish(struct perf_script *script)
{
	const struct prof_record stop = {
		.pr_type = PROF_R_STOP, .pr_comm = "", .pr_path = "",
		.pr_time_ns = script->sc_place[script->sc_nplaces -
		    1].pl_time_ns + script->sc_shift_ns + 1,
	};
	struct prof_accounting *sum = script->sc_sum;

	sum[1].pa_full = script->sc_lost;
	for (size_t n = 1; n <= script->sc_nevents; n++) {
		sum[n].pa_read = sum[n].pa_stored;
		sum[n].pa_fired = prof_accounting_sum(&sum[n]);
	}
	return (say_notes(script) == -1 ||
	    prof_import_add(script->sc_import, &stop) == -1 ||
	    prof_places_say_tables(script->sc_places) == -1 ? -1 :
	    prof_import_accounting(script->sc_import, sum,
	    script->sc_nevents + 1));
}

static int
file_convert(struct perf_script *script)
{
	struct prof_import *import = script->sc_import;
	uint64_t lost, bad;

	if (prof_import_info(import, "import", "perf script") == -1 ||
	    prof_import_info(import, "path", "perf-script") == -1 ||
	    say_header(script) == -1)
		return (-1);
	find_form(script);
	if (find_samples(script) == -1 || say_events(script) == -1 ||
	    say_tasks(script, script->sc_place[0].pl_time_ns +
	    script->sc_shift_ns) == -1)
		return (-1);
	lost = script->sc_lost;
	bad = script->sc_bad;
	for (size_t n = 0; n < script->sc_nplaces; n++)
		if (add_sample(script, &script->sc_place[n]) == -1)
			return (-1);
	/* What was counted is not counted again. */
	script->sc_lost = lost;
	script->sc_bad = bad;
	return (recording_finish(script));
}

int
prof_import_perf_script(struct prof_import *import)
{
	struct perf_script *script = calloc(1, sizeof(*script));
	int rv = -1;

	if (script == NULL)
		return (prof_fail_nomem(&import->im_error));
	script->sc_import = import;
	script->sc_places = prof_places_new(import);
	if (script->sc_places != NULL)
		rv = file_convert(script);
	for (size_t n = 0; n < script->sc_nevents; n++)
		free(script->sc_event[n].et_name);
	prof_dict_free(&script->sc_events);
	prof_dict_free(&script->sc_tasks);
	free(script->sc_task);
	free(script->sc_place);
	prof_places_free(script->sc_places);
	free(script);
	return (rv);
}

/* As a folded stack does. */
static bool
ends_in_number(struct prof_places_text line)
{
	const char *begin = line.px_at, *end = begin + line.px_length;
	const char *at = end;

	while (at > begin && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return (at < end && at > begin && at[-1] == ' ');
}

bool
prof_import_is_perf_script(const uint8_t *bytes, size_t length)
{
	const struct prof_import text = { .im_bytes = bytes,
	    .im_length = length };
	const struct perf_script_form form = { false };
	struct prof_places_text line;
	struct perf_frame frame;
	struct perf_head head;
	size_t at = 0;

	while (next_line(&text, &at, &line)) {
		if (perf_script_is_blank(line) ||
		    *(const char *)line.px_at == '#')
			continue;
		if (line.px_length > LONGEST_LINE)
			return (false);
		if (is_frame(line, &frame))
			return (true);
		return (perf_script_head(line, &form, &head) &&
		    (head.he_has_time || head.he_is_record ||
		    (head.he_event.px_length > 0 && !ends_in_number(line)) ||
		    (next_line(&text, &at, &line) && line.px_length > 0 &&
		    is_frame(line, &frame))));
	}
	return (false);
}
