/* SPDX-License-Identifier: ISC */
/* What reading.c and reading_helper.c share: see reading.h. */
#ifndef PROF_READING_HELPER_H
#define PROF_READING_HELPER_H

#include <stdint.h>

#include "prof.h"

/* The bytes of the request come back behind it. */
struct prof_reading_answer {
	int32_t	ra_value;
	int32_t	ra_errno;
};

/* Until the reader has ended. */
void	prof_reading_serve(const struct prof_reading *reading, int sock);

#endif /* PROF_READING_HELPER_H */
