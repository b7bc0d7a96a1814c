/* SPDX-License-Identifier: ISC */
/* A limit that a recorder kept; see budget.c. */
#ifndef BUDGET_H
#define BUDGET_H

#include "emit.h"

/* Nothing where the line is none of a limit. */
void	budget_text(const char *line, const char *head, struct out *out);
void	budget_emit(const char *line, struct emit *emit);

#endif /* BUDGET_H */
