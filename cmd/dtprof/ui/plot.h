/* SPDX-License-Identifier: ISC */
/*
 * Pictures by gnuplot: a template of reports/ and files of numbers beside it,
 * in a directory of their own; see plot.c.
 */
#ifndef PLOT_H
#define PLOT_H

#include <stdio.h>

#include "../cmd.h"

#define PLOT_FILES	8

struct plot_dir {
	const char	*pd_command;	/* for messages */
	char		 pd_path[FILE_SCRATCH];
	const char	*pd_name[PLOT_FILES];	/* files in it */
	size_t		 pd_n;
};

/* Of reports/. */
enum plot_template {
	PLOT_DRAWS_COMPARE, PLOT_DRAWS_HEATMAP, PLOT_DRAWS_TIMELINE,
	PLOT_DRAWS_RATES, PLOT_DRAWS_LATENCY, PLOT_TEMPLATES
};

/* Ends it in .svg, .png or (with is_data) .tsv?  0, or -1 and a message. */
int	 plot_check(const char *command, const char *path, bool is_data);
/* What it ends in, without the dot. */
const char *plot_type(const char *path);
/* 0, or -1 with a message printed.  Remove also after a failure. */
int	 plot_begin(struct plot_dir *dir, const char *command);
void	 plot_remove(struct plot_dir *dir);
/* A file in it, whose name must stay; NULL, or -1, as above. */
FILE	*plot_file(struct plot_dir *dir, const char *name);
int	 plot_close(const struct plot_dir *dir, FILE *file, const char *name);
/* Hostile text as a single field and nothing else. */
void	 plot_text(FILE *file, const char *text);
/* The file becomes path. */
int	 plot_fetch(const struct plot_dir *dir, const char *name,
	    const char *path);
/*
 * Run the template in it; what it drew becomes path.  The environment has
 * DTPROF_PLOT_TYPE.
 */
int	 plot_draw(struct plot_dir *dir, enum plot_template template,
	    const char *type, const char *path);

#endif /* PLOT_H */
