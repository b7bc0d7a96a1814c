/* SPDX-License-Identifier: ISC */
/*
 * What a command that reads what others made has done for it, as root, by its
 * helper (prof_reading_confine): a function of this list is called by another
 * file's function of nearly that name, where helper_is_there.  See helper.c.
 */
#ifndef HELPER_H
#define HELPER_H

#include <sys/stat.h>
#include <sys/types.h>

#include "../cmd.h"
#include "../ui/plot.h"
#include "owner.h"

/* Before a command runs.  0, or -1 with a message printed. */
int	helper_begin(const struct prof_cmd *cmd, const void *options, int n,
	    char *const *operands);
bool	helper_is_there(void);

/* file.c */
int	helper_open_regular(const char *path);
int	helper_stat(const char *path, struct stat *st);
void	helper_narrow(const char *path);
int	helper_replace(const char *command, const char *path,
	    const char *bytes, size_t length);
int	helper_append(const char *command, const char *path,
	    const char *bytes, size_t length);

/* owner.c: whose a program is, and what it names. */
bool	helper_is_other(const char *program);
int	helper_open_source(const char *program, const char *path);

/* terminal.c: where to write, or -1; how it ended, as from wait. */
int	helper_pager(void);
int	helper_pager_end(void);

/* annotate_asm.c: its output, or -1; how it ended, as from wait. */
int	helper_objdump(const char *path, uint64_t from, uint64_t to);
int	helper_objdump_end(void);

/* cmd_flamegraph.c */
int	helper_show(const char *path);

/* plot.c */
int	helper_plot_begin(const char *command);
int	helper_plot_file(const char *name);
int	helper_plot_fetch(const char *name, const char *path);
int	helper_plot_draw(enum plot_template template, const char *type,
	    const char *path);
void	helper_plot_remove(void);

#endif /* HELPER_H */
