/* SPDX-License-Identifier: ISC */
/*
 * What is bad about the samples of an event, and nothing else: a line each,
 * the worst first, of the one number, what it does to the result, and a cure
 * where one can work.  Nothing at all where all is well.
 *
 * Each limit says from where on a figure is bad; dtprof(1) names them.  Called
 * by quality.c, which has filled in the figures.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/error.h"
#include "process/symbols.h"
#include "profile_impl.h"
#include "recording/elapsed.h"
#include "recording/query.h"

#define FEW_SAMPLES	100	/* a share of 10% is then 5.5% to 17.4% */
#define MIN_COMPLETE	0.95
#define MAX_UNRESOLVED	0.05
#define MAX_LOST	0.01
#define MAX_HIDDEN	0.01
#define MAX_THROTTLED	0.01
#define MAX_MULTIPLEXED	0.10
#define MAX_UNWALKED	0.01
#define MAX_SOUGHT	16	/* events whose worst module is looked for */

/* What sentences are made of. */
struct doubts {
	const struct prof_profile *do_profile;
	const struct prof_reader *do_reader;
	const struct prof_event_info *do_info;
	const struct prof_ends *do_ends;
	struct prof_quality *do_quality;
	size_t		 do_event;
	size_t		 do_length;
	bool		 do_is_import;	/* no cure is in our hands */
	char		 do_share[16];
	/* The function of most unresolved addresses; NULL: not looked for. */
	const struct prof_function *do_worst;
};

static void PROF_PRINTF(2, 3)
doubt_say(struct doubts *doubts, const char *fmt, ...)
{
	struct prof_quality *quality = doubts->do_quality;
	const size_t left = sizeof(quality->pq_text) - doubts->do_length;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(quality->pq_text + doubts->do_length, left, fmt, ap);
	va_end(ap);
	if (n > 0)
		doubts->do_length += (size_t)n < left ? (size_t)n : left - 1;
}

/* Another line. */
static void
say_next(struct doubts *doubts)
{
	if (doubts->do_length > 0)
		doubt_say(doubts, "\n");
	doubts->do_quality->pq_is_bad = 1;
}

/* Begins a line; the share is neither all nor nothing by rounding. */
static const char *
next_share(struct doubts *doubts, double value)
{
	say_next(doubts);
	if (value > 0 && value < 0.001)
		return ("under 0.1%");
	if (value < 1 && value > 0.999)
		return ("over 99.9%");
	snprintf(doubts->do_share, sizeof(doubts->do_share), "%.1f%%",
	    100 * value);
	return (doubts->do_share);
}

static void
say_cure(struct doubts *doubts, const char *cure)
{
	if (cure != NULL && *cure != '\0' && !doubts->do_is_import)
		doubt_say(doubts, "; %s", cure);
}

/* ------------------------------------------------------ what was lost */

static void
say_lost(struct doubts *doubts)
{
	const struct prof_quality *quality = doubts->do_quality;
	struct prof_accounting pa = { 0 };
	const char *target = prof_reader_info(doubts->do_reader, "target");
	const uint64_t side = prof_reader_side_lost(doubts->do_reader);

	(void)prof_reader_accounting(doubts->do_reader, doubts->do_event, -1,
	    &pa);
	if (quality->pq_lost > MAX_LOST) {
		doubt_say(doubts, "%s of samples were lost: shares may be "
		    "wrong by as much", next_share(doubts, quality->pq_lost));
		say_cure(doubts, pa.pa_full > pa.pa_nested + pa.pa_error ?
		    "record with a larger --buffer or at a lower rate" :
		    "see the reasons with dtprof report --stats");
	}
	if (side > 0) {
		say_next(doubts);
		doubt_say(doubts, "%" PRIu64 " mapping and process events were "
		    "lost: addresses may be unresolved and stacks truncated",
		    side);
		if (target != NULL && strcmp(target, "all") == 0)
			say_cure(doubts, "record a command or -p PIDS rather "
			    "than -a");
	}
	if (quality->pq_unaccounted > MAX_HIDDEN) {
		doubt_say(doubts, "%s of the event's count is unaccounted: "
		    "shares may be wrong by as much",
		    next_share(doubts, quality->pq_unaccounted));
		say_cure(doubts, "end other programs that use BPF");
	}
	if (quality->pq_throttled > MAX_THROTTLED) {
		doubt_say(doubts, "the kernel throttled sampling in %s of the "
		    "time: busy times are underestimated",
		    next_share(doubts, quality->pq_throttled));
		say_cure(doubts, "record at a lower rate");
	}
	if (quality->pq_multiplexed > MAX_MULTIPLEXED) {
		doubt_say(doubts, "the event was counted in %s of the time, "
		    "because events were multiplexed: short phases may be "
		    "missing",
		    next_share(doubts, 1 - quality->pq_multiplexed));
		say_cure(doubts, "record fewer events at once");
	}
}

/* ---------------------------------------------------- names and stacks */

/* A name is hostile: on one line, and not all of the room. */
static void
say_name(struct doubts *doubts, const char *name)
{
	char text[256];
	size_t n;

	for (n = 0; name[n] != '\0' && n + 1 < sizeof(text); n++)
		text[n] = (unsigned char)name[n] < ' ' ? '?' : name[n];
	text[n] = '\0';
	doubt_say(doubts, "%s", text);
}

static void
say_unresolved(struct doubts *doubts)
{
	const struct prof_function *worst = doubts->do_worst;
	const char *cure;

	if (doubts->do_quality->pq_unresolved <= MAX_UNRESOLVED)
		return;
	doubt_say(doubts, "%s of samples are at unresolved addresses",
	    next_share(doubts, doubts->do_quality->pq_unresolved));
	if (worst == NULL)
		return;
	doubt_say(doubts, ", most in ");
	say_name(doubts, worst->fu_module[0] == '\0' ? worst->fu_name :
	    worst->fu_module);
	doubt_say(doubts, ": %s", prof_unnamed_reason(worst->fu_unnamed,
	    worst->fu_module));
	cure = prof_unnamed_cure(worst->fu_unnamed, worst->fu_module);
	/* Files are those of this machine, whoever recorded. */
	if (worst->fu_unnamed == PROF_UNNAMED_NOFILE && *cure != '\0')
		doubt_say(doubts, "; %s", cure);
	else
		say_cure(doubts, cure);
}

static void
say_truncated(struct doubts *doubts)
{
	static const struct {
		const char	*why;
		const char	*cure;
	} ends[PROF_STACK_NSTATUS] = {
		[PROF_STACK_DEEP] = { "the stack exceeds the maximum depth",
		    "" },
		[PROF_STACK_FAULT] = { "the stack ends at unreadable memory",
		    "" },
		[PROF_STACK_BUSY] = { "all unwinders were busy",
		    "record at a lower rate" },
		[PROF_STACK_NOPROC] = { "the process had just started", "" },
		[PROF_STACK_NOMAP] = { "the stack ends outside all mappings",
		    "" },
		[PROF_STACK_NOMOD] = { "the unwind table of a file was not "
		    "ready, as in the first milliseconds of a program, or "
		    "longer with --max-overhead",
		    "if dtprof report --stats shows evicted tables, record "
		    "with a larger --unwind-mem" },
		[PROF_STACK_NOROW] = { "the stack ends in code without frame "
		    "information", "compile that code with "
		    "-fno-omit-frame-pointer, or run java with "
		    "-XX:+PreserveFramePointer" },
		[PROF_STACK_BADSP] = { "the stack ends at a damaged frame",
		    "" },
		[PROF_STACK_SHORT] = { "the stack is larger than the stack "
		    "copy", "record with a larger SIZE of --call-graph "
		    "dwarf,SIZE" },
		[PROF_STACK_NOSCRIPT] = { "the frames of the interpreter were "
		    "not found", "see the notes of the recording with "
		    "dtprof report --stats" },
	};
	unsigned most = PROF_STACK_DEEP;

	if (doubts->do_quality->pq_complete >= MIN_COMPLETE)
		return;
	for (unsigned n = most; n < PROF_STACK_NSTATUS; n++)
		if (doubts->do_ends->en_status[n] >
		    doubts->do_ends->en_status[most])
			most = n;
	doubt_say(doubts, "%s of user stacks are complete: the other stacks "
	    "lack callers; most common reason: %s",
	    next_share(doubts, doubts->do_quality->pq_complete),
	    ends[most].why);
	say_cure(doubts, ends[most].cure);
}

/* Where each event is a sample there is no chance in it. */
static bool
is_sampled(const struct doubts *doubts)
{
	const struct prof_event_info *info = doubts->do_info;

	return (doubts->do_is_import || info->pi_is_counter ||
	    info->pi_frequency_hz != 0 || info->pi_period > 1);
}

/* Wilson's interval, 95 %, as report shows it, of a tenth. */
static void
say_few(struct doubts *doubts)
{
	const struct prof_quality *quality = doubts->do_quality;
	const double z2 = 1.959963984540054 * 1.959963984540054;
	const double n = quality->pq_effective, p = 0.1;
	double middle, half;

	if (quality->pq_samples >= FEW_SAMPLES || !is_sampled(doubts))
		return;
	say_next(doubts);
	doubt_say(doubts, "only %" PRIu64 " sample%s", quality->pq_samples,
	    quality->pq_samples == 1 ? "" : "s");
	if (n > 0) {
		middle = (p + z2 / (2 * n)) / (1 + z2 / n);
		half = sqrt(z2 * (p * (1 - p) / n + z2 / (4 * n * n))) /
		    (1 + z2 / n);
		doubt_say(doubts, ": the true value of a share of 10%% may be "
		    "%.0f%% to %.0f%%",
		    100 * fmax(middle - half, 0), 100 * (middle + half));
	}
	say_cure(doubts, quality->pq_samples > 0 ?
	    "record longer or at a higher rate (-F)" :
	    prof_wait_event(doubts->do_reader) != 0 ? "a waiting thread has "
	    "no samples; see waits with dtprof report --by reason" :
	    "a waiting thread has no samples; see waits with dtprof record "
	    "--off-cpu");
}

/* Waits that were not walked; what was when has no stack then. */
static void
say_chance(struct doubts *doubts)
{
	const struct prof_profile_options *options =
	    doubts->do_profile->pf_labels.lb_options;
	const struct prof_ends *ends = doubts->do_ends;
	const double unwalked = (double)(ends->en_chance - ends->en_walked);
	const bool is_by_time = options->pl_bucket_ns != 0 ||
	    options->pl_bucket_of != NULL;

	if (unwalked <= MAX_UNWALKED * (double)doubts->do_quality->pq_weight)
		return;
	doubt_say(doubts, "%s of the time is in waits whose stacks were not "
	    "walked: %s",
	    next_share(doubts, unwalked /
	    (double)doubts->do_quality->pq_weight), is_by_time ?
	    "this time has no stack" : ends->en_walked == 0 ?
	    "no stack was walked that could stand for them" :
	    "their functions are estimated from stacks that were walked");
	say_cure(doubts, "record with -e off-cpu/walk=1/");
}

/* Where a line or an instruction is blamed, it matters. */
static void
say_skid(struct doubts *doubts)
{
	const struct prof_profile_options *options =
	    doubts->do_profile->pf_labels.lb_options;
	char key[32];

	snprintf(key, sizeof(key), "skid.%zu", doubts->do_event);
	if ((!options->pl_places && !options->pl_lines) ||
	    prof_reader_info(doubts->do_reader, key) == NULL)
		return;
	say_next(doubts);
	doubt_say(doubts,
	    "samples may be attributed to later instructions (skid)");
	say_cure(doubts, "record with EVENT:p if the CPU supports it");
}

/* Of what is held, what is not shown. */
static void
say_held(struct doubts *doubts)
{
	const struct prof_held_rest *rest = &doubts->do_profile->pf_rest;

	if (strcmp(doubts->do_info->pi_provider, "alloc") != 0)
		return;
	if (rest->hr_unsure > 0) {
		say_next(doubts);
		doubt_say(doubts, "%" PRIu64 " bytes are not shown: it is "
		    "unknown whether these bytes were freed, because later "
		    "events were lost or not recorded", rest->hr_unsure);
		say_cure(doubts, "record with a longer interval: -e "
		    "alloc/interval=SIZE/");
	}
	if (rest->hr_unfollowed > 0) {
		say_next(doubts);
		doubt_say(doubts, "%" PRIu64 " bytes are not shown, because "
		    "dtprof could not follow these allocations",
		    rest->hr_unfollowed);
		say_cure(doubts, "record with a longer interval: -e "
		    "alloc/interval=SIZE/");
	}
}

/* With record --keep-if, shares are of a part of the program. */
static void
say_kept(struct doubts *doubts)
{
	const char *expression = prof_reader_info(doubts->do_reader,
	    "keep_if");
	const char *lost;
	char key[32];

	if (expression == NULL)
		return;
	say_next(doubts);
	doubt_say(doubts, "only samples in spans that match '%.100s' were kept",
	    expression);
	snprintf(key, sizeof(key), "keep_if.%zu.lost", doubts->do_event);
	lost = prof_reader_info(doubts->do_reader, key);
	if (lost != NULL && strcmp(lost, "0") != 0)
		doubt_say(doubts, ", and %.20s that may be in such spans were "
		    "lost", lost);
}

static void
doubts_describe(struct doubts *doubts)
{
	doubts->do_quality->pq_text[0] = '\0';
	if (prof_reader_cut(doubts->do_reader) != NULL) {
		say_next(doubts);
		doubt_say(doubts, "the recording %s: later samples are "
		    "missing, and perhaps symbols",
		    prof_reader_in_progress(doubts->do_reader) ?
		    "is in progress" : "was cut short");
	}
	if (doubts->do_quality->pq_over > 0)
		doubt_say(doubts, "%s of the weight is in " PROF_OVER_NAME
		    ": the recording has more distinct stacks than the memory "
		    "budget of a recording of this size allows",
		    next_share(doubts, doubts->do_quality->pq_over));
	say_lost(doubts);
	say_unresolved(doubts);
	say_truncated(doubts);
	say_chance(doubts);
	say_few(doubts);
	say_skid(doubts);
	say_held(doubts);
	say_kept(doubts);
}

/* ------------------------------------------------------ the worst module */

/* Of an event: by label, the weight whose innermost function has no name. */
static const struct prof_function *
worst_of(const struct prof_profile *profile, size_t event, bool is_reversed,
    uint64_t *weight)
{
	const struct prof_tree *tree = &profile->pf_tree;
	const struct prof_label *labels = profile->pf_labels.lb_label, *label;
	const struct prof_label *worst = NULL;
	const struct prof_bucket *bucket;
	size_t i;

	memset(weight, 0, profile->pf_labels.lb_nlabels * sizeof(*weight));
	for (i = 0; i < tree->tr_nbuckets; i++) {
		bucket = &tree->tr_bucket[i];
		if (bucket->pc_event != event)
			continue;
		label = prof_quality_innermost(profile, bucket->pc_node,
		    is_reversed);
		if (label->lb_function == NULL ||
		    label->lb_function->fu_unnamed == PROF_NAMED)
			continue;
		weight[label - labels] += bucket->pc_weight;
		if (worst == NULL ||
		    weight[label - labels] > weight[worst - labels])
			worst = label;
	}
	return (worst == NULL ? NULL : worst->lb_function);
}

int
prof_quality_describe(struct prof_profile *profile,
    const struct prof_ends *ends, bool is_reversed)
{
	uint64_t *weight = calloc(profile->pf_labels.lb_nlabels + 1,
	    sizeof(*weight));
	unsigned sought = 0;

	if (weight == NULL)
		return (-1);
	for (size_t e = 0; e < profile->pf_nevents; e++) {
		struct doubts doubts = {
			.do_profile = profile,
			.do_reader = profile->pf_reader,
			.do_info = prof_reader_event(profile->pf_reader, e),
			.do_ends = &ends[e],
			.do_quality = &profile->pf_quality[e],
			.do_event = e,
			.do_is_import = prof_reader_info(profile->pf_reader,
			    "import") != NULL,
		};

		if (profile->pf_quality[e].pq_unresolved > MAX_UNRESOLVED &&
		    sought++ < MAX_SOUGHT)
			doubts.do_worst = worst_of(profile, e, is_reversed,
			    weight);
		doubts_describe(&doubts);
	}
	free(weight);
	return (0);
}
