/* SPDX-License-Identifier: ISC */
/* Reasons of waits, by system call: of the events off-cpu and wall. */
#ifndef PROF_REASONS_H
#define PROF_REASONS_H

#include <stdint.h>

#include "abi/dtp_abi.h"

void	prof_wait_reasons(uint8_t of_call[DTP_MAX_SYSCALL]);

#endif /* PROF_REASONS_H */
