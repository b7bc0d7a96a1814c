/* SPDX-License-Identifier: ISC */
/* What record --verify shows. */
#ifndef PROF_VERIFIED_H
#define PROF_VERIFIED_H

#include "prof.h"
#include "stacks/verify.h"

/* The n-th row, best kinds first; 0: no more.  Borrowed until close. */
int prof_session_verified(struct prof_session *session, size_t n,
    struct prof_verify_row *row);

#endif /* PROF_VERIFIED_H */
