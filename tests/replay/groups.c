/* SPDX-License-Identifier: ISC */
/*
 * Aggregation is aggregation of the raw stream: random firings on two CPUs go
 * through a program twice, first to records, then to groups, and each figure
 * of the groups is made again of the records, plainly: counts, sums, least and
 * most, histograms with logarithmic buckets and with steps, signed and not, by
 * numbers, names and text.  Then with tables that are too small: what is
 * missing is counted to the unit.
 *
 *	groups [seed]
 */
#include "programs.h"

#define FIRINGS		4000
#define SLOTS		(1u << 14)
#define BUCKETS		(1u << 16)

static char names[3][16] = { "red", "", "a longer name" };

struct raw {
	__u32	ra_cpu;
	union words ra_words;
};

static struct raw raw[FIRINGS];
static __u64 seed = 1;

static __u64
draw(__u64 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((seed >> 33) % below);
}

/* Of any size, as often small as large. */
static __u64
draw_any(void)
{
	__u64 value = draw(1ULL << 31) << 33 ^ draw(1ULL << 31) << 13 ^
	    draw(1ULL << 13);

	return (value >> draw(64));
}

static void
draw_all(void)
{
	for (int i = 0; i < FIRINGS; i++) {
		raw[i].ra_cpu = draw(2);
		raw[i].ra_words.word[0] = draw(7) - 3;
		raw[i].ra_words.word[1] = (unsigned long)names[draw(3)];
		raw[i].ra_words.word[2] = draw(2) ? draw_any() : -draw_any();
		raw[i].ra_words.word[3] = draw_any();
	}
}

/* Arguments: a signed number, text, a signed and an unsigned value. */
static void
arguments_set(void)
{
	static const struct dtp_arg args[4] = {
		{ .ar_index = 0, .ar_size = 4, .ar_signed = 1 },
		{ .ar_index = 1, .ar_kind = DTP_A_STR },
		{ .ar_index = 2, .ar_size = 8, .ar_signed = 1 },
		{ .ar_index = 3, .ar_size = 8 },
	};

	memcpy((void *)cfg.dc_arg, args, sizeof(args));
	cfg.dc_nargs = 4;
	cfg.dc_parts = DTP_P_ARGS;
}

static void
grouping_set(__u32 slots, __u32 nbuckets)
{
	const struct dtp_grouping grouping = {
		.gp_is_on = 1, .gp_nkeys = 3, .gp_nwords = 11,
		.gp_nmeasures = 3, .gp_groups = slots,
		.gp_buckets = nbuckets,
		.gp_key = { { .gk_field = DTP_F_ARG0, .gk_word = 0 },
		    { .gk_field = DTP_F_ARG0 + 1, .gk_text = DTP_KEY_TEXT,
		    .gk_word = 1 }, { .gk_field = DTP_F_COMM, .gk_word = 9 } },
		.gp_measure = {
		    { .gm_field = DTP_F_ARG0 + 2, .gm_signed = 1,
		    .gm_histogram = DTP_HIST_LOG },
		    { .gm_field = DTP_F_ARG0 + 3,
		    .gm_histogram = DTP_HIST_LOG },
		    { .gm_field = DTP_F_ARG0 + 2, .gm_signed = 1,
		    .gm_histogram = DTP_HIST_LINEAR,
		    .gm_low = (__u64)-1000, .gm_step = 300,
		    .gm_nsteps = 10 } },
	};

	memcpy((void *)&cfg.dc_grouping, &grouping, sizeof(grouping));
	machine.ma_groups = calloc(slots, sizeof(*machine.ma_groups));
	machine.ma_buckets = calloc(nbuckets, sizeof(*machine.ma_buckets));
	if (machine.ma_groups == NULL || machine.ma_buckets == NULL)
		exit(1);
}

static void
fire(int i)
{
	me.mt_cpu = raw[i].ra_cpu;
	snprintf(me.mt_task.comm, sizeof(me.mt_task.comm), "task%d", i % 2);
	on_tracepoint(&raw[i].ra_words);
}

/* A group that is made of records; of one CPU, as theirs are. */
struct plain {
	__u32	pl_cpu;
	__s64	pl_number;
	char	pl_text[DTP_STR_LEN];
	char	pl_comm[DTP_COMM_LEN];
	__u64	pl_count;
	__u64	pl_sum[2];
	__s64	pl_low, pl_high;
	__u64	pl_least, pl_most;
};

static struct plain plain[84];
static unsigned nplain;	/* 7 numbers, 3 texts, 2 names, 2 CPUs */

static void
plain_add(__u32 cpu, const __u64 *slot, int i)
{
	const __u64 *value = slot + 1 + DTP_STR_LEN / 8;
	struct plain now = { .pl_cpu = cpu, .pl_number = (__s64)slot[0] };
	struct plain *at = plain;

	memcpy(now.pl_text, slot + 1, DTP_STR_LEN);
	snprintf(now.pl_comm, sizeof(now.pl_comm), "task%d", i % 2);
	for (; at < plain + nplain; at++)
		if (at->pl_cpu == cpu && at->pl_number == now.pl_number &&
		    strcmp(at->pl_text, now.pl_text) == 0 &&
		    strcmp(at->pl_comm, now.pl_comm) == 0)
			break;
	if (at == plain + nplain) {
		now.pl_low = now.pl_high = (__s64)value[0];
		now.pl_least = now.pl_most = value[1];
		plain[nplain++] = now;
	}
	at->pl_count++;
	at->pl_sum[0] += value[0];
	at->pl_sum[1] += value[1];
	at->pl_low = (__s64)value[0] < at->pl_low ? (__s64)value[0] :
	    at->pl_low;
	at->pl_high = (__s64)value[0] > at->pl_high ? (__s64)value[0] :
	    at->pl_high;
	at->pl_least = value[1] < at->pl_least ? value[1] : at->pl_least;
	at->pl_most = value[1] > at->pl_most ? value[1] : at->pl_most;
}

/* Each firing by itself, so that the ring never fills. */
static void
records_make(void)
{
	const struct dtp_rec *record;

	nplain = 0;
	for (int i = 0; i < FIRINGS; i++) {
		fire(i);
		record = record_at(raw[i].ra_cpu, 0);
		CHECK(record != NULL);
		plain_add(raw[i].ra_cpu, (const __u64 *)(record + 1), i);
		machine.ma_streams[raw[i].ra_cpu].ss_tail =
		    machine.ma_streams[raw[i].ra_cpu].ss_head;
	}
}

static const struct dtp_group *
group_of(const struct plain *of)
{
	const struct dtp_group *found = NULL;

	for (__u32 at = 0; at < cfg.dc_grouping.gp_groups; at++) {
		const struct dtp_group *group = &machine.ma_groups[at];

		if (group->gr_state == 0 ||
		    group->gr_who != (1ULL << 32 | of->pl_cpu) ||
		    (__s64)group->gr_key[0] != of->pl_number ||
		    memcmp(&group->gr_key[1], of->pl_text, DTP_STR_LEN) != 0 ||
		    memcmp(&group->gr_key[9], of->pl_comm,
		    sizeof(of->pl_comm)) != 0)
			continue;
		CHECK(found == NULL);
		found = group;
	}
	return (found);
}

/* How many of a group's values a bucket has, by its number alone. */
static __u64
filed(const struct dtp_group *group, __u32 measure, __u32 bucket)
{
	const __u64 slot = group - machine.ma_groups;
	const __u64 key = (slot + 1) << 32 | (__u64)measure <<
	    DTP_BUCKET_MEASURE | bucket;
	__u64 sum = 0;

	for (__u32 at = 0; at < cfg.dc_grouping.gp_buckets; at++)
		if (machine.ma_buckets[at].bk_key == key)
			sum += machine.ma_buckets[at].bk_count;
	return (sum);
}

/* By division, unlike the program. */
static __u32
bucket_plainly(__u64 value)
{
	__u32 octave = 0;

	if (value < 32)
		return (value);
	while (value / 2 >= 32) {
		value /= 2;
		octave++;
	}
	return (32 + octave * 32 + (value - 32));
}

static __u32
bucket_wanted(int measure, __u64 value)
{
	const __s64 is = (__s64)value;

	if (measure == 1)
		return (bucket_plainly(value));
	if (measure == 0)
		return (is < 0 ? DTP_BUCKET_NEGATIVE | bucket_plainly(-value) :
		    bucket_plainly(value));
	return (is < -1000 ? 0 : is >= 2000 ? 11 : (is + 1000) / 300 + 1);
}

/* A histogram of one group, made again of its values. */
static void
histogram_check(const struct plain *of, const struct dtp_group *group,
    int measure)
{
	static __u64 wanted[0x2000];
	__u64 sum = 0;

	memset(wanted, 0, sizeof(wanted));
	for (int i = 0; i < FIRINGS; i++) {
		const __u64 *word = raw[i].ra_words.word;

		if (raw[i].ra_cpu != of->pl_cpu ||
		    (__s64)(__s32)word[0] != of->pl_number ||
		    strcmp((const char *)(unsigned long)word[1],
		    of->pl_text) != 0 || i % 2 != of->pl_comm[4] - '0')
			continue;
		wanted[bucket_wanted(measure, word[measure == 1 ? 3 : 2])]++;
	}
	for (__u32 n = 0; n < 0x2000; n++) {
		sum += wanted[n];
		if (wanted[n] != 0)
			CHECK_IS(filed(group, measure, n), wanted[n]);
	}
	CHECK_IS(sum, of->pl_count);
}

static void
groups_equal_records(void)
{
	begin(__func__);
	arguments_set();
	records_make();
	begin(__func__);
	arguments_set();
	grouping_set(SLOTS, BUCKETS);
	for (int i = 0; i < FIRINGS; i++)
		fire(i);
	CHECK(record_at(0, 0) == NULL && record_at(1, 0) == NULL);
	CHECK_IS(machine_counts(0)->cn_stored + machine_counts(1)->cn_stored,
	    FIRINGS);
	CHECK_IS(machine_identity(0), 0);
	for (unsigned n = 0; n < nplain; n++) {
		const struct plain *of = &plain[n];
		const struct dtp_group *group = group_of(of);
		const __u64 turn = 1ULL << 63;

		CHECK(group != NULL);
		if (group == NULL)
			continue;
		CHECK_IS(group->gr_count, of->pl_count);
		CHECK_IS(group->gr_unfiled, 0);
		for (int m = 0; m < 3; m++)
			CHECK_IS(group->gr_measured[m].gm_count, of->pl_count);
		CHECK_IS(group->gr_measured[0].gm_sum, of->pl_sum[0]);
		CHECK_IS(group->gr_measured[1].gm_sum, of->pl_sum[1]);
		CHECK_IS(group->gr_measured[0].gm_most ^ turn, of->pl_high);
		CHECK_IS(~group->gr_measured[0].gm_least ^ turn, of->pl_low);
		CHECK_IS(group->gr_measured[1].gm_most, of->pl_most);
		CHECK_IS(~group->gr_measured[1].gm_least, of->pl_least);
		for (int m = 0; m < 3; m++)
			histogram_check(of, group, m);
	}
}

/* Nothing is lost unseen: what has no group is full, no bucket unfiled. */
static void
tables_that_are_full(void)
{
	__u64 counted = 0, unfiled = 0, in_buckets = 0, full;

	begin(__func__);
	arguments_set();
	grouping_set(16, 256);
	for (int i = 0; i < FIRINGS; i++)
		fire(i);
	for (__u32 at = 0; at < 16; at++) {
		counted += machine.ma_groups[at].gr_count;
		unfiled += machine.ma_groups[at].gr_unfiled;
	}
	for (__u32 at = 0; at < 256; at++)
		in_buckets += machine.ma_buckets[at].bk_count;
	full = machine_counts(0)->cn_full + machine_counts(1)->cn_full;
	CHECK(full > 0 && unfiled > 0);
	CHECK_IS(counted + full, FIRINGS);
	CHECK_IS(in_buckets + unfiled, 3 * counted);
	CHECK_IS(machine_identity(0), 0);
	CHECK_IS(machine_identity(1), 0);
}

/* An interrupt between two steps of a claim makes a second slot at worst. */
static int interrupts;

static void
interrupt(void)
{
	static int depth;

	if (depth > 0 || interrupts == 0 || draw(3) != 0)
		return;
	interrupts--;
	depth++;
	fire(0);
	depth--;
}

static void
interrupts_lose_nothing(void)
{
	__u64 counted = 0, sum = 0, in_buckets = 0;

	begin(__func__);
	arguments_set();
	grouping_set(SLOTS, BUCKETS);
	for (int i = 0; i < FIRINGS; i++)
		raw[i].ra_cpu = 0;
	machine.ma_yield = interrupt;
	interrupts = 500;
	for (int i = 0; i < FIRINGS; i++)
		fire(i);
	machine.ma_yield = NULL;
	for (__u32 at = 0; at < SLOTS; at++) {
		counted += machine.ma_groups[at].gr_count;
		sum += machine.ma_groups[at].gr_measured[1].gm_sum;
	}
	for (__u32 at = 0; at < BUCKETS; at++)
		in_buckets += machine.ma_buckets[at].bk_count;
	CHECK_IS(interrupts, 0);
	CHECK_IS(counted, FIRINGS + 500);
	CHECK_IS(in_buckets, 3 * counted);
	for (int i = 0; i < FIRINGS; i++)
		sum -= raw[i].ra_words.word[3];
	CHECK_IS(sum, 500 * raw[0].ra_words.word[3]);
	CHECK_IS(machine_identity(0), 0);
}

int
main(int argc, char **argv)
{
	if (argc > 1)
		seed = strtoull(argv[1], NULL, 10);
	printf("seed %llu: ", (unsigned long long)seed);
	draw_all();
	groups_equal_records();
	tables_that_are_full();
	interrupts_lose_nothing();
	return (end());
}
