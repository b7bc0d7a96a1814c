/* SPDX-License-Identifier: ISC */
/*
 * Which CPUs there are, and single numbers of /proc and /sys.  Ids may have
 * holes (offline CPUs, disabled threads): nobody may count from 0 to n.
 *
 * Called by sessions and rings when they open, and by the sentences that
 * explain a refusal, which quote the knob's present value.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/grow.h"
#include "cpus.h"
#include "facts.h"
#include "procfs.h"

#define CPU_DIR		"/sys/devices/system/cpu/"
/* The kernel's own limit is 8192; a list beyond this is not one. */
#define CPU_ID_MAX	65535

static const char *number_parse(const char *, int *);
static int	append_range(int, int, int **, size_t *, size_t *);

static const char *
number_parse(const char *at, int *out)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)*at))
		return (NULL);
	errno = 0;
	n = strtol(at, &end, 10);
	if (errno != 0 || n > CPU_ID_MAX)
		return (NULL);
	*out = (int)n;
	return (end);
}

static int
append_range(int first, int last, int **cpus, size_t *n, size_t *cap)
{
	int cpu;

	if (!prof_room(cpus, cap, *n + (size_t)(last - first) + 1,
	    sizeof(**cpus)))
		return (-1);
	for (cpu = first; cpu <= last; cpu++)
		(*cpus)[(*n)++] = cpu;
	return (0);
}

/*
 * "0-1,4,6-7": ascending, as the kernel writes it.  0, or -1 with errno
 * EINVAL (not a list) or ENOMEM.
 */
int
prof_cpu_list_parse(const char *text, int **cpus, size_t *n)
{
	int first = 0, last, before = -1;
	size_t cap = 0;

	*cpus = NULL;
	*n = 0;
	while (*text != '\0' && *text != '\n') {
		text = number_parse(text, &first);
		last = first;
		if (text != NULL && *text == '-')
			text = number_parse(text + 1, &last);
		if (text == NULL || first <= before || last < first ||
		    (*text != ',' && *text != '\n' && *text != '\0')) {
			errno = EINVAL;
			goto fail;
		}
		if (append_range(first, last, cpus, n, &cap) == -1)
			goto fail;
		before = last;
		if (*text == ',')
			text++;
	}
	return (0);
fail:
	free(*cpus);
	*cpus = NULL;
	*n = 0;
	return (-1);
}

int
prof_cpus_online(int **cpus, size_t *n, struct prof_err *error)
{
	char text[4096];

	if (prof_proc_read(CPU_DIR "online", text, sizeof(text)) <= 0)
		return (prof_proc_usable(error) ? prof_fail(error,
		    PROF_E_KERNEL, "cannot read the list of CPUs, %sonline",
		    CPU_DIR) : -1);
	if (prof_cpu_list_parse(text, cpus, n) == -1)
		return (errno == ENOMEM ? prof_fail_nomem(error) :
		    prof_fail(error, PROF_E_KERNEL,
		    "%sonline is not a list of CPUs", CPU_DIR));
	if (*n == 0)
		return (prof_fail(error, PROF_E_KERNEL,
		    "%sonline lists no CPU", CPU_DIR));
	return (0);
}

int
prof_cpus_possible(void)
{
	char text[4096];
	int *cpus, largest;
	size_t n;

	if (prof_proc_read(CPU_DIR "possible", text, sizeof(text)) <= 0 ||
	    prof_cpu_list_parse(text, &cpus, &n) == -1)
		return (1);
	largest = n == 0 ? 0 : cpus[n - 1];
	free(cpus);
	return (largest + 1);
}

long
prof_proc_number(const char *path, long otherwise)
{
	char text[64], *end;
	long number;

	if (prof_proc_read(path, text, sizeof(text)) <= 0)
		return (otherwise);
	errno = 0;
	number = strtol(text, &end, 10);
	if (end == text || errno != 0 ||
	    (*end != '\n' && *end != '\0' && *end != '\t' && *end != ' '))
		return (otherwise);
	return (number);
}
