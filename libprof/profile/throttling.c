/* SPDX-License-Identifier: ISC */
/*
 * What the kernel kept from us, by what a recording says: how long it stopped
 * events because they came too fast, and which part of an event's own count
 * no firing stands for.  Called by quality.c for every report, and by those
 * who show the figures themselves.
 */
#include <stdlib.h>

#include "base/error.h"
#include "profile_impl.h"
#include "recording/query.h"

/* The time that recording takes: it stands still in a pause. */
struct clock {
	uint64_t	 ck_start_ns;	/* of the recording */
	uint64_t	 ck_pause_ns;	/* since when it stands; 0: it runs */
	uint64_t	 ck_paused_ns;	/* in earlier pauses */
	uint64_t	 ck_pauses;
	uint64_t	 ck_stop_ns;	/* 0: not yet */
};

/* An event that stands still on a CPU, or did. */
struct still {
	uint32_t	 st_event;
	uint64_t	 st_since_ns;	/* 0: it runs; of struct clock */
};

struct throttling {
	struct prof_throttled *th_event;
	size_t		 th_nevents;
	struct clock	 th_clock;
	uint64_t	 th_now_ns;	/* by th_clock, of the last life */
	uint64_t	 th_end_ns;	/* by the recording's */
	struct prof_map	 th_by_cpu;	/* event and CPU -> number */
	struct still	*th_still;
	size_t		 th_n;
	size_t		 th_cap;
};

static uint64_t
clock_tick(struct clock *clock, enum prof_record_type type, uint64_t now_ns)
{
	/* What ended meanwhile may still come. */
	if (clock->ck_stop_ns != 0 && now_ns > clock->ck_stop_ns)
		now_ns = clock->ck_stop_ns;
	if (type == PROF_R_STOP)
		clock->ck_stop_ns = now_ns;
	if (type == PROF_R_START)
		clock->ck_start_ns = now_ns;
	else if (type == PROF_R_PAUSE && clock->ck_pause_ns == 0) {
		clock->ck_pause_ns = now_ns;
		clock->ck_pauses++;
	} else if (type == PROF_R_RESUME && clock->ck_pause_ns != 0) {
		clock->ck_paused_ns += now_ns - clock->ck_pause_ns;
		clock->ck_pause_ns = 0;
	}
	if (clock->ck_pause_ns != 0)
		now_ns = clock->ck_pause_ns;
	return (now_ns - clock->ck_paused_ns);
}

static int
throttling_add(struct throttling *throttling,
    const struct prof_record *record)
{
	uint64_t key = (uint64_t)record->pr_event << 32 | record->pr_cpu;
	struct still *still;
	bool is_new;
	uint32_t n;

	if (record->pr_event >= throttling->th_nevents)
		return (0);
	n = prof_map_get(&throttling->th_by_cpu, key, &is_new);
	if (n == PROF_INTERN_FAILED)
		return (-1);
	if (is_new) {
		still = prof_grow((void **)&throttling->th_still,
		    &throttling->th_n, &throttling->th_cap, sizeof(*still));
		if (still == NULL)
			return (-1);
		still->st_event = record->pr_event;
		still->st_since_ns = 0;
	}
	still = &throttling->th_still[n];
	if (still->st_since_ns != 0)
		throttling->th_event[still->st_event].to_ns +=
		    throttling->th_now_ns - still->st_since_ns;
	still->st_since_ns = 0;
	if (record->pr_type == PROF_R_THROTTLE) {
		throttling->th_event[still->st_event].to_times++;
		still->st_since_ns = throttling->th_now_ns;
	}
	return (0);
}

/* Most process events matter for their time alone, and are not unpacked. */
static int
throttling_collect(struct throttling *throttling,
    const struct prof_reader *reader)
{
	size_t n = prof_reader_nlife(reader), i;
	enum prof_record_type type;
	struct prof_record record;
	struct still *still;
	uint64_t time_ns;

	for (i = 0; i < n; i++) {
		type = prof_reader_life_type(reader, i, &time_ns);
		throttling->th_now_ns = clock_tick(&throttling->th_clock,
		    type, time_ns);
		throttling->th_end_ns =
		    throttling->th_clock.ck_stop_ns != 0 ?
		    throttling->th_clock.ck_stop_ns : time_ns;
		if (type != PROF_R_THROTTLE && type != PROF_R_UNTHROTTLE)
			continue;
		prof_reader_life(reader, i, &record);
		if (throttling_add(throttling, &record) == -1)
			return (-1);
	}
	for (i = 0; i < throttling->th_n; i++) {
		still = &throttling->th_still[i];
		if (still->st_since_ns != 0)
			throttling->th_event[still->st_event].to_ns +=
			    throttling->th_now_ns - still->st_since_ns;
	}
	return (0);
}

int
prof_reader_throttled_sized(const struct prof_reader *reader,
    struct prof_throttled *by_event, struct prof_ran *ran, size_t size)
{
	struct throttling throttling = {
		.th_event = by_event,
		.th_nevents = prof_reader_nevents(reader),
	};
	const struct clock *clock = &throttling.th_clock;
	struct prof_ran sum = { 0 };
	int rv;

	memset(by_event, 0, throttling.th_nevents * sizeof(*by_event));
	rv = throttling_collect(&throttling, reader);
	sum.rn_ns = throttling.th_now_ns - clock->ck_start_ns;
	sum.rn_is_known = clock->ck_start_ns != 0 && clock->ck_stop_ns != 0;
	sum.rn_pauses = clock->ck_pauses;
	sum.rn_paused_ns = clock->ck_paused_ns + (clock->ck_pause_ns == 0 ?
	    0 : throttling.th_end_ns - clock->ck_pause_ns);
	prof_struct_give(ran, size, &sum, sizeof(sum));
	free(throttling.th_still);
	prof_map_free(&throttling.th_by_cpu);
	return (rv);
}

uint64_t
prof_accounting_unaccounted(const struct prof_event_info *info,
    const struct prof_accounting *pa)
{
	double rest = (double)pa->pa_unaccounted -
	    (double)pa->pa_overruns * (double)info->pi_period;

	/* Below: the count stood still while the event was throttled. */
	return (!pa->pa_has_count || info->pi_period == 0 ||
	    rest <= (double)pa->pa_unaccounted_bound ? 0 : (uint64_t)rest);
}
