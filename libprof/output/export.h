/* SPDX-License-Identifier: ISC */
/*
 * Profiles in the notations of other tools.  Each writer gets what the flame
 * graphs get (struct prof_flame) and writes the whole of its file.
 *
 * Included by output/ alone.
 */
#ifndef PROF_EXPORT_H
#define PROF_EXPORT_H

#include "flame.h"

/* ----------------------------------------------------------- export.c */

/*
 * May so much be written of a recording of this size?  Deep stacks that share
 * their frames are written one by one.
 */
bool	prof_export_fits(const struct prof_flame *flame,
	    const struct prof_buf *out);
/* By node, of the n-th event that is shown: weight, or samples if asked. */
const uint64_t *prof_export_values(const struct prof_flame *flame, size_t n);
/* Such a value as the event's own unit counts: 12.5 where that is scaled. */
void	prof_export_put(const struct prof_flame *flame, size_t n,
	    uint64_t value, struct prof_buf *out);
/* "nanoseconds", "bytes", or "" for what is just counted. */
const char *prof_export_unit(const struct prof_event_info *info);
/* Of the event's own unit; 0: not known. */
uint64_t prof_export_period(const struct prof_event_info *info);
/*
 * The function of a label, also one that was inlined, and its name (or what
 * else the label is); its source, where the label is a line of it: the length
 * of the file's name, else 0.
 */
const struct prof_function *prof_export_function(
	    const struct prof_label *label);
const char *prof_export_name(const struct prof_label *label);
size_t	prof_export_source(const struct prof_label *label, unsigned *line);
/* Does it stand for what was inlined into the frame above it? */
bool	prof_export_is_inlined(const struct prof_label *label);

/* --------------------------------- folded.c, pprof.c, ... */

#define PROF_FORMAT(NAME, name) prof_flame_fn prof_write_##name;
#include "formats.def"
#undef PROF_FORMAT

#endif /* PROF_EXPORT_H */
