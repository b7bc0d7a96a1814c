/* SPDX-License-Identifier: ISC */
/*
 * Binary search.  How many of n items stand before a place: the expression is
 * true of item i for the first ones, and false for all behind them.
 *
 *	first = PROF_BEFORE(i, n, item[i].it_time_ns < time_ns);
 */
#ifndef PROF_SEARCH_H
#define PROF_SEARCH_H

#include <stddef.h>

#define PROF_BEFORE(i, n, is_before) __extension__ ({			\
	size_t before_ = 0, behind_ = (n);				\
									\
	while (before_ < behind_) {					\
		const size_t i = before_ + (behind_ - before_) / 2;	\
									\
		if (is_before)						\
			before_ = (i) + 1;				\
		else							\
			behind_ = (i);					\
	}								\
	before_;							\
})

#endif /* PROF_SEARCH_H */
