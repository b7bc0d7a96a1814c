/* SPDX-License-Identifier: ISC */
/*
 * The rings of mappings beside BPF.
 */
#ifndef SIDE_BAND_H
#define SIDE_BAND_H

#include "backend/backend.h"

/* NULL: the plan's error says why. */
struct prof_rings *prof_side_band_open(struct prof_plan *plan);

#endif /* SIDE_BAND_H */
