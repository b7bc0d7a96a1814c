/* SPDX-License-Identifier: ISC */
/*
 * How many events can count at the same time.  A PMU has a few counters; how
 * many of which events fit is not written anywhere: it depends on the PMU, on
 * which event goes to which counter, and on who else holds one.  So it is
 * tried, on ourselves; what is opened is closed again at once.
 *
 * Called by count/group.c, values.c and doctor.c, before anything starts.
 */
#include <sys/ioctl.h>

#include <unistd.h>

#include "base/clock.h"
#include "cpus.h"
#include "permission.h"

#define PATIENCE_NS	20000000ULL	/* for others' turns to pass */

/* A group of the first n may have to wait for its turn where others count. */
bool
prof_perf_group_fits(const struct perf_event_attr *attrs, size_t n)
{
	uint64_t now[3] = { 0 }, until_ns;
	int fd[PROF_FIT_MAX];
	size_t opened = 0;

	for (; opened < n && opened < PROF_FIT_MAX; opened++) {
		struct perf_event_attr attr = attrs[opened];

		attr.disabled = opened == 0;
		attr.freq = 0;
		attr.sample_period = 0;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
		    PERF_FORMAT_TOTAL_TIME_RUNNING;
		fd[opened] = prof_perf_open(&attr, 0, -1, opened == 0 ? -1 :
		    fd[0], PERF_FLAG_FD_CLOEXEC);
		if (fd[opened] == -1)
			break;
	}
	if (opened == n && n > 0) {
		ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0);
		until_ns = prof_now_ns() + PATIENCE_NS;
		do
			if (read(fd[0], now, sizeof(now)) !=
			    (ssize_t)sizeof(now))
				break;
		while (now[2] == 0 && prof_now_ns() < until_ns);
	}
	while (opened > 0)
		close(fd[--opened]);
	return (now[2] > 0);
}

size_t
prof_attrs_fitting(const struct perf_event_attr *attrs, size_t n)
{
	size_t k = 0;

	while (k < n && prof_perf_group_fits(attrs, k + 1))
		k++;
	return (k);
}

const char *
prof_watchdog_cure(void)
{
	return (prof_proc_number("/proc/sys/kernel/nmi_watchdog", 0) == 1 ?
	    " (the NMI watchdog uses a counter: sysctl "
	    "kernel.nmi_watchdog=0)" : "");
}
