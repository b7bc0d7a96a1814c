/* SPDX-License-Identifier: ISC */
/*
 * How far the samples of an event can be believed: how many there are, how
 * many of their stacks are whole, what has no name, and what the kernel, its
 * rings or the CPU's counters kept from us.  Stacks and names are those of
 * the samples in the profile, the rest is that of the whole recording.
 *
 * Each limit says beyond what a report is read with care; dtprof(1) names
 * them.  Called by profile.c when the tree is ready.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "analysis.h"

#define FEW_SAMPLES	100	/* a share of 10 % is then 4 to 18 % */
#define MIN_COMPLETE	0.95
#define MAX_UNRESOLVED	0.05
#define MAX_LOST	0.01
#define MAX_HIDDEN	0.01
#define MAX_THROTTLED	0.01
#define MAX_MULTIPLEXED	0.10

static double
share(double part, double all)
{
	return (all <= 0 || part <= 0 ? 0 : part >= all ? 1 : part / all);
}

/* ---------------------------------------------------- what is counted */

/* Reversed, the innermost function of a path is the one next to the roots. */
static const struct prof_label *
innermost_label(const struct prof_profile *profile, uint32_t node)
{
	const struct prof_tree_node *nodes = profile->pf_tree.tr_node;
	const struct prof_label *labels = profile->pf_labels.lb_label;
	const struct prof_label *innermost = &labels[nodes[node].pt_label];

	for (; node != 0; node = nodes[node].pt_parent)
		if (labels[nodes[node].pt_label].lb_function != NULL)
			innermost = &labels[nodes[node].pt_label];
	return (innermost);
}

/* Weight, samples, and the weight whose innermost function has no name. */
static void
count_cells(struct prof_profile *profile, bool is_reversed,
    uint64_t *unnamed)
{
	const struct prof_tree *tree = &profile->pf_tree;
	const struct prof_label *label;
	const struct prof_cell *cell;
	struct prof_quality *quality;
	size_t i;

	for (i = 0; i < tree->tr_ncells; i++) {
		cell = &tree->tr_cell[i];
		quality = &profile->pf_quality[cell->pc_event];
		quality->pq_samples += cell->pc_samples;
		quality->pq_weight += cell->pc_weight;
		label = &profile->pf_labels.lb_label[
		    tree->tr_node[cell->pc_node].pt_label];
		if (is_reversed)
			label = innermost_label(profile, cell->pc_node);
		if (label->lb_function != NULL &&
		    label->lb_function->fu_unnamed != PROF_NAMED)
			unnamed[cell->pc_event] += cell->pc_weight;
	}
}

/* ------------------------------------------------------- accounting */

static void
fill_from_accounting(struct prof_profile *profile, size_t event,
    uint64_t throttled_ns, uint64_t span_ns)
{
	struct prof_quality *quality = &profile->pf_quality[event];
	const struct prof_event_info *info =
	    prof_reader_event(profile->pf_reader, event);
	struct prof_accounting pa;

	quality->pq_side_lost = prof_lost_share(
	    prof_reader_side_stored(profile->pf_reader),
	    prof_reader_side_lost(profile->pf_reader));
	if (prof_reader_accounting(profile->pf_reader, event, -1, &pa) == -1)
		return;
	quality->pq_lost = prof_lost_share(pa.pa_stored,
	    prof_accounting_lost(&pa));
	quality->pq_hidden = share((double)prof_accounting_hidden(info,
	    &pa), (double)pa.pa_count);
	quality->pq_throttled = share((double)throttled_ns,
	    prof_accounting_open_ns(&pa, span_ns));
	if (pa.pa_has_count)
		quality->pq_multiplexed = share((double)pa.pa_enabled_ns -
		    (double)pa.pa_running_ns, (double)pa.pa_enabled_ns);
}

/* ------------------------------------------------------- in words */

struct sentence {
	char		*se_text;
	size_t		 se_size;
	size_t		 se_length;
};

static void PROF_PRINTF(2, 3)
say(struct sentence *sentence, const char *fmt, ...)
{
	size_t left = sentence->se_size - sentence->se_length;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(sentence->se_text + sentence->se_length, left, fmt, ap);
	va_end(ap);
	if (n > 0)
		sentence->se_length += (size_t)n < left ? (size_t)n :
		    left - 1;
}

/* Neither all nor nothing by rounding. */
static void
say_share(struct sentence *sentence, double value, const char *of)
{
	if (value > 0 && value < 0.001)
		say(sentence, ", under 0.1 %% %s", of);
	else if (value < 1 && value > 0.999)
		say(sentence, ", over 99.9 %% %s", of);
	else
		say(sentence, ", %.1f %% %s", 100 * value, of);
}

/* What the recorder had to do without (dtprof-format(5), "less."). */
static void
say_less(struct sentence *sentence, const struct prof_reader *reader)
{
	static const char *const keys[] = {
		"less.event", "less.path", "less.rate"
	};
	const char *less;

	for (size_t n = 0; n < sizeof(keys) / sizeof(keys[0]); n++)
		if ((less = prof_reader_info(reader, keys[n])) != NULL)
			say(sentence, ", %s", less);
}

/* Where a line or an instruction is blamed, it matters. */
static bool
has_skid(const struct prof_profile *profile, size_t event)
{
	const struct prof_profile_options *options =
	    profile->pf_labels.lb_options;
	char key[32];

	snprintf(key, sizeof(key), "skid.%zu", event);
	return ((options->pl_places || options->pl_lines) &&
	    prof_reader_info(profile->pf_reader, key) != NULL);
}

/* What is always said, and what only when there is something to say. */
static void
describe(struct prof_profile *profile, size_t event, bool has_stacks,
    const struct prof_ran *ran)
{
	const struct prof_reader *reader = profile->pf_reader;
	struct prof_quality *quality = &profile->pf_quality[event];
	struct sentence sentence = { quality->pq_text,
	    sizeof(quality->pq_text), 0 };

	if (quality->pq_samples < FEW_SAMPLES)
		say(&sentence, "only ");
	say(&sentence, "%" PRIu64 " sample%s", quality->pq_samples,
	    quality->pq_samples == 1 ? "" : "s");
	if (has_stacks)
		say_share(&sentence, quality->pq_complete,
		    "of user stacks whole");
	say_share(&sentence, quality->pq_unresolved, "without a name");
	if (quality->pq_lost > 0)
		say_share(&sentence, quality->pq_lost, "lost");
	else
		say(&sentence, ", none lost");
	if (quality->pq_side_lost > 0)
		say(&sentence, ", %" PRIu64 " mapping and process events lost",
		    prof_reader_side_lost(reader));
	if (quality->pq_hidden > 0)
		say_share(&sentence, quality->pq_hidden,
		    "hidden by the kernel");
	if (quality->pq_throttled > 0)
		say_share(&sentence, quality->pq_throttled,
		    "of the time throttled");
	if (quality->pq_multiplexed > 0)
		say_share(&sentence, quality->pq_multiplexed,
		    "of the time not counted, as counters took turns");
	if (has_skid(profile, event))
		say(&sentence, ", blamed some instructions too late (skid)");
	if (ran->rn_pauses > 0)
		say(&sentence, ", paused for %.3g s",
		    (double)ran->rn_paused_ns / 1e9);
	say_less(&sentence, reader);
	if (prof_reader_cut(reader) != NULL)
		say(&sentence, ", and the recording was cut short");
}

static bool
is_bad(const struct prof_quality *quality)
{
	return (quality->pq_samples < FEW_SAMPLES ||
	    quality->pq_complete < MIN_COMPLETE ||
	    quality->pq_unresolved > MAX_UNRESOLVED ||
	    quality->pq_lost > MAX_LOST ||
	    quality->pq_side_lost > 0 ||
	    quality->pq_hidden > MAX_HIDDEN ||
	    quality->pq_throttled > MAX_THROTTLED ||
	    quality->pq_multiplexed > MAX_MULTIPLEXED);
}

/*
 * After Kish: (sum of w)^2 / (sum of w^2).  One sample of weight 10 among ten
 * of weight 1 makes (20)^2 / (110) = 3.6 of eleven.
 */
static double
effective(const struct prof_quality *quality, const struct prof_ends *ends)
{
	double weight = (double)quality->pq_weight;
	double samples = (double)quality->pq_samples;
	double n = ends->en_squares == 0 ? samples :
	    weight * weight / (double)ends->en_squares;

	return (n > samples ? samples : n);
}

static void
fill_event(struct prof_profile *profile, size_t event,
    const struct prof_ends *ends, uint64_t unnamed,
    const struct prof_ran *ran)
{
	struct prof_quality *quality = &profile->pf_quality[event];

	quality->pq_complete = ends->en_stacks == 0 ? 1 :
	    share((double)ends->en_whole, (double)ends->en_stacks);
	quality->pq_unresolved = share((double)unnamed,
	    (double)quality->pq_weight);
	quality->pq_effective = effective(quality, ends);
	quality->pq_is_bad = is_bad(quality) ||
	    prof_reader_cut(profile->pf_reader) != NULL;
	describe(profile, event, ends->en_stacks > 0, ran);
}

int
prof_quality_fill(struct prof_profile *profile, const struct prof_ends *ends,
    bool is_reversed)
{
	size_t n = profile->pf_nevents, e;
	uint64_t *unnamed = calloc(n + 1, sizeof(*unnamed));
	struct prof_throttled *throttled = calloc(n + 1, sizeof(*throttled));
	struct prof_ran ran;
	int rv = -1;

	if (unnamed != NULL && throttled != NULL && prof_reader_throttled(
	    profile->pf_reader, throttled, &ran) == 0) {
		count_cells(profile, is_reversed, unnamed);
		for (e = 0; e < n; e++) {
			fill_from_accounting(profile, e, throttled[e].to_ns,
			    ran.rn_ns);
			fill_event(profile, e, &ends[e], unnamed[e], &ran);
		}
		rv = 0;
	}
	free(unnamed);
	free(throttled);
	return (rv);
}
