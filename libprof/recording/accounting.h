/* SPDX-License-Identifier: ISC */
/* Sums of the accounting. */
#ifndef PROF_ACCOUNTING_H
#define PROF_ACCOUNTING_H

#include "prof.h"

void	prof_accounting_add(struct prof_accounting *sum,
	    const struct prof_accounting *row);
void	prof_accounting_subtract(struct prof_accounting *sum,
	    const struct prof_accounting *row);

/* Of the identity fired = ...: the right side, and how it reads; static. */
uint64_t	prof_accounting_sum(const struct prof_accounting *accounting);
const char	*prof_accounting_terms(void);
/* How long its instances could have counted, together. */
double	prof_accounting_open_ns(const struct prof_accounting *accounting,
	    uint64_t ran_ns);

#endif /* PROF_ACCOUNTING_H */
