/* SPDX-License-Identifier: ISC */
/* Text that others chose, and units. */
#ifndef PROF_TEXT_H
#define PROF_TEXT_H

#include <stddef.h>
#include <stdint.h>

/*
 * The first character of a text that others chose: how many bytes, or 0 when
 * it is not well-formed UTF-8 (or not there).  is_plain: it may be shown as
 * it is; else it is malformed, or would act on what shows it.
 */
size_t prof_text_take(const char *text, uint32_t *code, int *is_plain);
/*
 * A unit such as "0.001 counts": its name, and how many weights make one of
 * it; 1 where the unit is its name.
 */
uint64_t prof_unit_scale(const char *unit, const char **name);

#endif /* PROF_TEXT_H */
