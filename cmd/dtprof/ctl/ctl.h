/* SPDX-License-Identifier: ISC */
/* What cmd_ctl.c (the requests) and ctl_status.c (one answer) share. */
#ifndef CTL_H
#define CTL_H

#include "../cmd.h"

/* An answer to status: lines of a key, a blank and a value. */
struct ctl_answer {
	int	 ca_pid;
	char	*ca_text;
};

struct ctl_answers {
	struct ctl_answer *cs_answer;
	size_t		 cs_n;
};

void	ctl_status_text(const struct ctl_answers *answers, struct out *out);
void	ctl_status_json(const struct ctl_answers *answers, struct out *out);

#endif /* CTL_H */
