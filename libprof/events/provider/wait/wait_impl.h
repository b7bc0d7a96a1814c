/* SPDX-License-Identifier: ISC */
/* The event off-cpu: what wait.c takes from the files beside it. */
#ifndef PROF_WAIT_IMPL_H
#define PROF_WAIT_IMPL_H

#include <stdint.h>

#include "abi/dtp_abi.h"

/* ------------------------------------ events/provider/wait/reasons.c */

void	prof_wait_reasons(uint8_t of_call[DTP_MAX_SYSCALL]);

#endif /* PROF_WAIT_IMPL_H */
