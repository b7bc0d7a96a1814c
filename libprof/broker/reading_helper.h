/* SPDX-License-Identifier: ISC */
/* What reading.c and reading_helper.c share: see confine/reading.h. */
#ifndef PROF_READING_HELPER_H
#define PROF_READING_HELPER_H

#include "confine/reading.h"

/* Until the reader has ended. */
void	prof_reading_serve(const struct prof_reading *reading, int sock);

#endif /* PROF_READING_HELPER_H */
