/* SPDX-License-Identifier: ISC */
/* What a child without privileges does first of all. */
#ifndef PROF_CHILD_H
#define PROF_CHILD_H

#include <stdbool.h>

#define PROF_CHILD_SOCK	3	/* the one descriptor that stays open */

/* Of whoever forked us nothing stays open but the socket, as that number. */
bool	prof_child_let_go(int sock);
/* No handler of its runs here; its terminal's signals are not ours. */
void	prof_child_forget_signals(void);

#endif /* PROF_CHILD_H */
