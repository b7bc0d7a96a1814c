/* SPDX-License-Identifier: ISC */
/* Programs of others that some commands run, and what cures their absence. */
#ifndef TOOLS_H
#define TOOLS_H

#define TOOL_GNUPLOT		"gnuplot"
#define TOOL_GNUPLOT_CURE	"install gnuplot (gnuplot-nox is enough)"
#define TOOL_OBJDUMP		"objdump"
#define TOOL_OBJDUMP_CURE	"install binutils"

#endif /* TOOLS_H */
