/* SPDX-License-Identifier: ISC */
/*
 * Cgroups that used up their CPU quota while threads were recorded: how long
 * the threads waited for that, and what the kernel counted for the cgroup.
 * For report and report --stats.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/terminal.h"
#include "stats.h"

/* As libprof/backend/bpf/throttled.c wrote them. */
enum { WAITS, NS, QUOTA_NS, PERIOD_NS, PERIODS, KERNEL_NS, NNUMBERS };

static const char *const names[NNUMBERS] = {
	"waits", "ns", "quota_ns", "period_ns", "kernel_periods", "kernel_ns"
};

struct throttled {
	uint64_t	 th_number[NNUMBERS];
	const char	*th_path;	/* "": not known */
};

/* The nth cgroup of an event; false: there are no more. */
static bool
throttled_read(const struct prof_reader *reader, size_t event, unsigned n,
    struct throttled *throttled)
{
	const char *text;
	char key[64], *end;

	snprintf(key, sizeof(key), "throttled.%zu.%u", event, n);
	text = prof_reader_info(reader, key);
	if (text == NULL)
		return (false);
	for (int i = 0; i < NNUMBERS; i++) {
		throttled->th_number[i] = strtoull(text, &end, 10);
		if (end == text)
			return (false);
		text = end;
	}
	throttled->th_path = *text == ' ' ? text + 1 : text;
	return (true);
}

static void
throttled_line(const struct throttled *throttled, struct out *out)
{
	const uint64_t *number = throttled->th_number;
	char time[4][32];

	weight_time(time[0], sizeof(time[0]), number[NS]);
	weight_time(time[1], sizeof(time[1]), number[QUOTA_NS]);
	weight_time(time[2], sizeof(time[2]), number[PERIOD_NS]);
	weight_time(time[3], sizeof(time[3]), number[KERNEL_NS]);
	out_str(out, "throttled: cgroup ");
	out_text(out, throttled->th_path[0] == '\0' ? "unknown" :
	    throttled->th_path);
	if (number[QUOTA_NS] != 0)
		OUT(out, ", quota ", time[1], " per ", time[2]);
	out_fmt(out, ": threads waited %" PRIu64 " times, in total %s",
	    number[WAITS], time[0]);
	if (number[PERIOD_NS] != 0)
		out_fmt(out, "; the kernel counted %s in %" PRIu64
		    " periods", time[3], number[PERIODS]);
	out_char(out, '\n');
}

void
stats_throttled_text(const struct prof_reader *reader, size_t event,
    const char *indent, struct out *out)
{
	struct throttled throttled;

	for (unsigned n = 0; throttled_read(reader, event, n, &throttled);
	    n++) {
		out_str(out, indent);
		throttled_line(&throttled, out);
	}
}

void
stats_throttled_json(const struct stats *stats, struct emit *em, size_t event)
{
	struct throttled throttled;

	emit_list(em, "throttled");
	for (unsigned n = 0; throttled_read(stats->st_reader, event, n,
	    &throttled); n++) {
		emit_object(em, NULL);
		EMIT(em, KNOWN(throttled.th_path[0] != '\0',
		    TEXT("cgroup", throttled.th_path)));
		for (int i = 0; i < NNUMBERS; i++)
			EMIT(em, COUNT(names[i], throttled.th_number[i]));
		emit_close(em);
	}
	emit_close(em);
}
