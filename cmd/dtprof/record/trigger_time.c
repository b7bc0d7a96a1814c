/* SPDX-License-Identifier: ISC */
/*
 * The time of day of a trigger, in local time.  Called by trigger_system.c.
 */
#include "trigger.h"

#define DAY_S	86400

/* Seconds of the day that clocks show. */
static int
second_of(time_t time_s)
{
	struct tm tm;

	return (localtime_r(&time_s, &tm) == NULL ? 0 : (tm.tm_hour * 60 +
	    tm.tm_min) * 60 + tm.tm_sec);
}

/*
 * Days are longer or shorter where clocks are set in between.  A time that they
 * skip comes as late after now as if they did not; one that they show twice in
 * one night comes once.
 */
time_t
trigger_time_next(time_t now_s, int second)
{
	const time_t same_s = now_s + 1 + (second - second_of(now_s) + DAY_S -
	    1) % DAY_S;
	const int error_s = (second - second_of(same_s) + DAY_S + DAY_S / 2) %
	    DAY_S - DAY_S / 2;
	const time_t next_s = same_s + error_s;

	return (next_s > now_s && second_of(next_s) == second ? next_s :
	    same_s);
}
