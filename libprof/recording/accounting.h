/* SPDX-License-Identifier: ISC */
/* Sums of the accounting. */
#ifndef PROF_ACCOUNTING_H
#define PROF_ACCOUNTING_H

#include "prof.h"

void	prof_accounting_add(struct prof_accounting *sum,
	    const struct prof_accounting *row);

#endif /* PROF_ACCOUNTING_H */
