/* SPDX-License-Identifier: ISC */
/*
 * What the two flame graphs share: a profile, or the difference of two sides
 * of them, made ready to be drawn, and text put into a buffer in the notation
 * of what will read it.
 *
 * Included by output/ alone.
 */
#ifndef PROF_FLAME_H
#define PROF_FLAME_H

#include "base/error.h"
#include "recording/format.h"

/* ------------------------------------------------------------ flame.c */

struct prof_flame_event {
	size_t		 fe_event;	/* as the profile counts */
	const struct prof_event_info *fe_info;
	struct prof_quality fe_quality;
};

struct prof_difference;

struct prof_flame {
	const struct prof_profile *fm_profile;
	const struct prof_reader *fm_reader;	/* NULL: of several */
	/* NULL: of one profile; else event 0 is new and event 1 the base */
	const struct prof_difference *fm_difference;
	const struct prof_tree_node *fm_node;
	size_t		 fm_nnodes;
	struct prof_flame_event *fm_event;
	size_t		 fm_nevents;
	struct prof_flame_options fm_options;
	const char	*fm_title;
};

#define PROF_TOO_LARGE	(-2)	/* more than prof_export_fits */

/* Writes what is to be seen; 0, -1: no memory, or PROF_TOO_LARGE. */
typedef int prof_flame_fn(const struct prof_flame *flame,
	    struct prof_buf *out);

prof_flame_fn prof_flame_page;		/* page.c */
prof_flame_fn prof_flame_drawing;	/* svg.c */

/* The bytes, owned by caller; NULL: error says why. */
char	*prof_flame_write(const struct prof_flame *flame, prof_flame_fn *fn,
	    size_t *length, struct prof_err *error);
/* The same of a profile, made ready first. */
char	*prof_flame_make(const struct prof_profile *profile,
	    const struct prof_flame_options *options, prof_flame_fn *fn,
	    size_t *length, struct prof_err *error);
/* The place of an event among those shown; fm_nevents: it is not. */
size_t	prof_flame_find(const struct prof_flame *flame, size_t event);
/* Colour depends on the name alone: 0 to 1023 (FNV-1a, modulo). */
uint32_t prof_flame_hash(const char *name);

/* -------------------------------------------------------- svg_states.c */

/* Of a state of threads, or of a reason of waits. */
struct prof_hue {
	const char	*hu_name;
	int		 hu_hue;	/* 0 to 359 */
};

/* Those of a picture, one a call, from *at = 0 on; NULL: no more. */
const struct prof_hue *prof_flame_hue(const struct prof_flame *flame,
	    size_t *at);

/* -------------------------------------------------- flame_difference.c */

/* A difference's part of the page's head, and of its columns. */
void	prof_flame_put_difference(const struct prof_flame *flame,
	    struct prof_buf *out);
void	prof_flame_put_chances(const struct prof_flame *flame,
	    struct prof_buf *out);

/* ----------------------------------------------------- page_latency.c */

/* A page's part of latencies, if there are any. */
void	prof_flame_put_latencies(const struct prof_flame *flame,
	    uint64_t start_ns, struct prof_buf *out);

/* ---------------------------------------------------- page_timeline.c */

/* Does the profile say when each sample was? */
bool	prof_flame_has_times(const struct prof_flame *flame);
/* A page's part of threads in time, in so many bytes, packed; -1: no memory. */
int	prof_flame_put_timeline(const struct prof_flame *flame,
	    uint64_t start_ns, size_t room, struct prof_buf *out);

/* -------------------------------------------------------------- put.c */

/* What would act is shown as \x1b; max: bytes, 0: all of it. */
void	prof_put_visible(struct prof_buf *buf, const char *text, size_t max);
/* The same as a JSON string that may stand in HTML, with its quotes. */
void	prof_put_json(struct prof_buf *buf, const char *text);
/* The same as text or value of an attribute in XML. */
void	prof_put_xml(struct prof_buf *buf, const char *text, size_t max);
/* The same as a frame of a folded stack: without ; */
void	prof_put_frame(struct prof_buf *buf, const char *text);
void	prof_put_str(struct prof_buf *buf, const char *text);
void	prof_put_fmt(struct prof_buf *buf, const char *fmt, ...)
	    PROF_PRINTF(2, 3);
/* Share and number for people: 12.3 %, 12 345 678. */
void	prof_put_number(struct prof_buf *buf, uint64_t value);
void	prof_put_base64(struct prof_buf *buf, const uint8_t *bytes, size_t n);

#endif /* PROF_FLAME_H */
