/* SPDX-License-Identifier: ISC */
/*
 * How often an event samples, and in which modes: periods, rates and the
 * modifiers u, k, h, p, checked against this kernel's limits before anything
 * is opened, so that the answer can name the limit.  Called by the providers
 * of counters and timers (events/provider/pmc/pmc.c,
 * events/provider/profile/profile.c, events/provider/interval/interval.c).
 */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "names.h"
#include "os/cpus.h"

#define RATE_KNOB	"kernel.perf_event_max_sample_rate"
#define RATE_FILE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define RATE_DEFAULT	100000	/* the kernel's own, when it is hidden */
#define RATE_USUAL_HZ	999
#define NS_PER_S	1000000000ULL
#define PRECISE_MAX	3

static int	rate_clock(struct prof_event *event, uint64_t period,
		    struct prof_err *error);

uint64_t
prof_max_sample_rate(void)
{
	long rate = prof_proc_number(RATE_FILE, RATE_DEFAULT);

	return (rate < 1 ? 1 : (uint64_t)rate);
}

/*
 * Exactly one of period and hz is not 0.  A clock's rate becomes a period at
 * once: 999 Hz is 1001001 ns, and every sample then has the same weight.
 */
int
prof_rate_set(struct prof_event *event, uint64_t period, uint64_t hz,
    bool is_clock, struct prof_err *error)
{
	uint64_t most;

	if (hz != 0) {
		most = prof_max_sample_rate();
		if (hz > most) {
			prof_fail(error, PROF_E_LIMIT, "%s: %" PRIu64
			    " Hz exceeds the %" PRIu64 " Hz of "
			    RATE_KNOB, event->ev_name, hz, most);
			return (prof_cure(error, "use at most %" PRIu64
			    " Hz, or as root: sysctl " RATE_KNOB "=%" PRIu64,
			    most, hz));
		}
		if (is_clock)
			return (rate_clock(event, (NS_PER_S + hz / 2) / hz,
			    error));
		event->ev_attr.freq = 1;
		event->ev_attr.sample_freq = hz;
		return (0);
	}
	if (period == 0 || period > INT64_MAX) {
		prof_fail(error, PROF_E_LIMIT, "%s: a period of %" PRIu64
		    " is invalid", event->ev_name, period);
		return (prof_cure(error, "use a period from 1 to %" PRId64,
		    INT64_MAX));
	}
	if (is_clock)
		return (rate_clock(event, period, error));
	event->ev_attr.sample_period = period;
	return (0);
}

/* The kernel would silently stretch a shorter period to its floor. */
static int
rate_clock(struct prof_event *event, uint64_t period, struct prof_err *error)
{
	if (period < PROF_TIMER_FLOOR_NS || period > INT64_MAX) {
		prof_fail(error, PROF_E_LIMIT, "%s: a period of %" PRIu64
		    " ns is %s", event->ev_name,
		    period, period > INT64_MAX ? "too long" :
		    "shorter than 10000 ns");
		return (prof_cure(error, period > INT64_MAX ?
		    "use a period of at most a "
		    "year" : "use a period of at least 10us (100000 Hz)"));
	}
	event->ev_attr.sample_period = period;
	return (0);
}

/*
 * The period in the name wins, then what the user set for all, then 999 Hz
 * for what counts time or work, and every single one of the rest.
 */
int
prof_rate_choose(struct prof_event *event, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, enum prof_pace pace,
    struct prof_err *error)
{
	uint64_t period = spec->sp_period, hz = spec->sp_frequency;

	if (period == 0 && hz == 0 && defaults != NULL) {
		period = defaults->ed_period;
		hz = period == 0 ? defaults->ed_frequency_hz : 0;
	}
	if (period == 0 && hz == 0) {
		if (pace == PROF_PACE_RARE)
			period = 1;
		else if ((hz = prof_max_sample_rate()) > RATE_USUAL_HZ)
			hz = RATE_USUAL_HZ;
	}
	return (prof_rate_set(event, period, hz, pace == PROF_PACE_CLOCK,
	    error));
}

/* Once u, k or h is named, the modes that are not named are left out. */
int
prof_mods_set(struct prof_event *event, const struct prof_spec *spec,
    const struct prof_event_defaults *defaults, struct prof_err *error)
{
	struct perf_event_attr *attr = &event->ev_attr;
	const char *mods = spec->sp_mods;
	unsigned precise = 0;

	if (strpbrk(mods, "ukh") != NULL) {
		attr->exclude_user = strchr(mods, 'u') == NULL;
		attr->exclude_kernel = strchr(mods, 'k') == NULL;
		attr->exclude_hv = strchr(mods, 'h') == NULL;
	}
	for (const char *at = mods; *at != '\0'; at++)
		precise += *at == 'p';
	if (precise > PRECISE_MAX) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s: modifier p is given %u times, but there are only %d "
		    "levels of precision",
		    event->ev_name, precise, PRECISE_MAX);
		return (prof_cure(error, "use :p, :pp or :ppp"));
	}
	if (precise != 0)
		attr->precise_ip = (__u8)(precise & 3);
	if (defaults == NULL || !defaults->ed_user_only)
		return (0);
	if (attr->exclude_user) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s samples only the kernel, but only user space is "
		    "recorded", event->ev_name);
		return (prof_cure(error, "leave out the modifier, or "
		    "--user-only"));
	}
	attr->exclude_kernel = attr->exclude_hv = 1;
	return (0);
}
