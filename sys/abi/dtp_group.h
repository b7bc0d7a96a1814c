/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Aggregation in the kernel, as both sides see it: instead of a record for
 * each firing there are groups, by up to four keys, which count firings and
 * measure values.
 *
 *	groups   hash of event, CPU, keys -> a slot, open addressing
 *		| state | event, cpu | keys | count, errors | measures |
 *	buckets  hash of slot, measure, bucket -> a word, and its count
 *
 * Each CPU has groups of its own, so that none waits for another; the reader
 * merges those of the same keys.  A slot is claimed by compare-and-swap and
 * never freed, so that an interrupt that comes meanwhile makes at worst a
 * second slot of the same group, which is merged as well.
 */
#ifndef DTP_GROUP_H
#define DTP_GROUP_H

#include <linux/types.h>

#define DTP_GROUP_KEYS		4
#define DTP_GROUP_WORDS		12	/* of all keys; text has 8, comm 2 */
#define DTP_GROUP_MEASURES	4
#define DTP_GROUP_TRIES		128	/* slots that are looked at */

/* One key: a field, its first word, and whether it is text. */
enum dtp_key_text {
	DTP_KEY_NUMBER	= 0,
	DTP_KEY_TEXT	= 1,	/* the argument is an address of text */
	DTP_KEY_CALL	= 2,	/* text of a system call, see dtp_texts */
};

struct dtp_key {
	__u8	gk_field;	/* enum dtp_field */
	__u8	gk_text;	/* enum dtp_key_text */
	__u8	gk_word;
	__u8	gk_is_name;	/* shown as a system call's name */
};

enum dtp_histogram {
	DTP_HIST_NONE	= 0,
	DTP_HIST_LOG	= 1,	/* 32 buckets for each power of 2 */
	DTP_HIST_LINEAR	= 2,	/* steps from low on */
};

struct dtp_measure {
	__u8	gm_field;	/* an argument, or DTP_F_DURATION */
	__u8	gm_signed;
	__u8	gm_histogram;	/* enum dtp_histogram */
	__u8	gm_pad[5];
	__u64	gm_low;
	__u64	gm_step;
	__u64	gm_nsteps;
};

struct dtp_grouping {
	__u32	gp_is_on;	/* 0: firings are stored */
	__u32	gp_nkeys;
	__u32	gp_nwords;
	__u32	gp_nmeasures;
	__u32	gp_groups;	/* slots, a power of two */
	__u32	gp_buckets;	/* likewise */
	__u32	gp_result;	/* slot of what is returned, + 1; 0: none */
	__u32	gp_has_texts;	/* some key is DTP_KEY_CALL */
	struct dtp_key	gp_key[DTP_GROUP_KEYS];
	struct dtp_measure gp_measure[DTP_GROUP_MEASURES];
};

/*
 * Least and most are kept so that 0 is before all values: a signed value has
 * its top bit turned, and the least is the most of complements.
 */
struct dtp_measured {
	__u64	gm_count;	/* of firings whose value is known */
	__u64	gm_sum;		/* wraps */
	__u64	gm_least;
	__u64	gm_most;
};

#define DTP_GROUP_BUSY	1	/* being written; else 0: free, or the hash */

/* Written by programs alone, atomically; a slot's keys before its state. */
struct dtp_group {
	__u64	gr_state;
	__u64	gr_who;		/* event << 32 | cpu */
	__u64	gr_key[DTP_GROUP_WORDS];
	__u64	gr_count;
	__u64	gr_errors;	/* returned -4095 to -1 */
	__u64	gr_unfiled;	/* values for which no bucket was free */
	__u64	gr_pad;
	struct dtp_measured gr_measured[DTP_GROUP_MEASURES];
};

/* slot + 1 << 32 | measure << 28 | bucket; 0: free */
struct dtp_bucket {
	__u64	bk_key;
	__u64	bk_count;
};

#define DTP_BUCKET_MEASURE	28
#define DTP_BUCKET_ERRORS	15	/* the measure whose bucket is errno */
#define DTP_BUCKET_NEGATIVE	0x1000
#define DTP_MAX_ERRNO		4095
#define DTP_BUCKETS_LOG		1920	/* of values without a sign */

/*
 * 0 to 31 are buckets of their own, then each power of 2 has 32: one is at
 * most 1/32 of its lower end wide.  Without branches, for the verifier.
 */
static inline __attribute__((always_inline)) __u32
dtp_bucket_log(__u64 value)
{
	__u64 rest = value, bits, shift;

	bits = (__u64)(rest > 0xffffffff) << 5;
	rest >>= bits;
	shift = (__u64)(rest > 0xffff) << 4;
	rest >>= shift;
	bits |= shift;
	shift = (__u64)(rest > 0xff) << 3;
	rest >>= shift;
	bits |= shift;
	shift = (__u64)(rest > 0xf) << 2;
	rest >>= shift;
	bits |= shift;
	shift = (__u64)(rest > 0x3) << 1;
	rest >>= shift;
	bits |= shift;
	bits |= rest >> 1;
	if (bits < 5)
		return ((__u32)value);
	return ((__u32)((bits - 4) * 32 + (value >> (bits - 5) & 31)));
}

/* The least value of a bucket; of one past the last it is 0, as it wraps. */
static inline __u64
dtp_bucket_low(__u32 bucket)
{
	return (bucket < 32 ? bucket :
	    (__u64)(32 + bucket % 32) << (bucket / 32 - 1));
}

/* Of a linear histogram: 0 is below the first step, nsteps + 1 above. */
static inline __attribute__((always_inline)) __u32
dtp_bucket_linear(const volatile struct dtp_measure *measure, __u64 value)
{
	__u64 low = measure->gm_low, at;

	if (measure->gm_signed ? (__s64)value < (__s64)low : value < low)
		return (0);
	at = (value - low) / measure->gm_step;
	return ((__u32)(at < measure->gm_nsteps ? at : measure->gm_nsteps) +
	    1);
}

static inline __attribute__((always_inline)) __u32
dtp_bucket_of(const volatile struct dtp_measure *measure, __u64 value)
{
	if (measure->gm_histogram == DTP_HIST_LINEAR)
		return (dtp_bucket_linear(measure, value));
	if (measure->gm_signed && (__s64)value < 0)
		return (DTP_BUCKET_NEGATIVE | dtp_bucket_log(-value));
	return (dtp_bucket_log(value));
}

/* Where a value stands among all others. */
static inline __attribute__((always_inline)) __u64
dtp_measure_order(const volatile struct dtp_measure *measure, __u64 value)
{
	return (value ^ (__u64)measure->gm_signed << 63);
}

#ifndef __cplusplus
_Static_assert(sizeof(struct dtp_key) == 4, "struct dtp_key");
_Static_assert(sizeof(struct dtp_measure) == 32, "struct dtp_measure");
_Static_assert(sizeof(struct dtp_grouping) == 176, "struct dtp_grouping");
_Static_assert(sizeof(struct dtp_measured) == 32, "struct dtp_measured");
_Static_assert(sizeof(struct dtp_group) == 272, "struct dtp_group");
_Static_assert(sizeof(struct dtp_bucket) == 16, "struct dtp_bucket");
#endif

#endif /* DTP_GROUP_H */
