/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Runs a filter: the one evaluator, compiled into the BPF programs, where it
 * decides before anything is stored, and into libprof, where it decides on
 * recorded data (script --filter).  Both therefore always agree.
 */
#ifndef DTP_FILTER_H
#define DTP_FILTER_H

#include "dtp_abi.h"

/* What a filter can ask about one firing, every field as 64 bits. */
struct dtp_facts {
	__u64	fa_field[DTP_F_N];
	__u64	fa_comm[2];
};

static inline __attribute__((always_inline)) int
dtp_test_holds(__u8 op, __u8 is_unsigned, __u64 a, __u64 b)
{
	__s64 sa = (__s64)a, sb = (__s64)b;

	switch (op) {
	case DTP_OP_EQ:
		return (a == b);
	case DTP_OP_NE:
		return (a != b);
	case DTP_OP_LT:
		return (is_unsigned ? a < b : sa < sb);
	case DTP_OP_LE:
		return (is_unsigned ? a <= b : sa <= sb);
	case DTP_OP_GT:
		return (is_unsigned ? a > b : sa > sb);
	case DTP_OP_GE:
		return (is_unsigned ? a >= b : sa >= sb);
	case DTP_OP_AND:
		return ((a & b) != 0);
	}
	return (0);
}

static inline __attribute__((always_inline)) int
dtp_filter_holds(const volatile struct dtp_filter *filter,
    const struct dtp_facts *facts)
{
	__u32 at = 0;

	if (filter->fi_ntests == 0)
		return (1);
	/* Tests only jump forward, so this many steps are enough. */
	for (int step = 0; step < DTP_MAX_TESTS; step++) {
		const volatile struct dtp_test *test;
		__u32 field, other;
		int holds;

		if (at >= DTP_MAX_TESTS)
			return (at == DTP_ACCEPT);
		test = &filter->fi_test[at];
		field = test->ft_field;
		other = test->ft_other;
		if (field == DTP_F_COMM) {
			holds = facts->fa_comm[0] == test->ft_value[0] &&
			    facts->fa_comm[1] == test->ft_value[1];
			if (test->ft_op == DTP_OP_NE)
				holds = !holds;
		} else {
			if (field >= DTP_F_N || other >= DTP_F_N)
				return (0);
			holds = dtp_test_holds(test->ft_op, test->ft_unsigned,
			    facts->fa_field[field], test->ft_value[0] +
			    facts->fa_field[other]);
			if ((field == DTP_F_DURATION ||
			    other == DTP_F_DURATION) &&
			    facts->fa_field[DTP_F_DURATION] == 0)
				holds = 0;
		}
		at = holds ? test->ft_yes : test->ft_no;
	}
	return (at == DTP_ACCEPT);
}

#endif /* DTP_FILTER_H */
