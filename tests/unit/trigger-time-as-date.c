/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the next moment of a time of day is the one that date(1) finds, in
 * zones north and south of the equator, with half hours, and around each change
 * to and from summer time.  Easy to get wrong: days of 23 and 25 hours, a time
 * that is now, a time that clocks skip or show twice.
 */
#include <stdlib.h>

#include "../../cmd/dtprof/record/trigger_time.c"
#include "cli-check.h"

static const char *const zones[] = {
	"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0",
	"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "<+0545>-5:45"
};

/* By local date and time; from this day on, the next that is after now. */
static time_t
date_next(time_t now, const char *zone, int second)
{
	char command[256], text[32];
	long long then = 0;
	FILE *date;

	for (int day = 0; day < 3 && then <= now; day++) {
		snprintf(command, sizeof(command), "export TZ='%s'; date -d "
		    "\"$(date -d @%lld +%%F) %02d:%02d:%02d %d day\" +%%s",
		    zone, (long long)now, second / 3600, second / 60 % 60,
		    second % 60, day);
		date = popen(command, "r");
		if (date == NULL)
			break;
		if (fgets(text, sizeof(text), date) != NULL)
			then = strtoll(text, NULL, 10);
		pclose(date);
	}
	return ((time_t)then);
}

static void
zone_set(const char *zone)
{
	setenv("TZ", zone, 1);
	tzset();
}

static void
zone_check(const char *zone)
{
	/* Hours before and after changes in 2026 and at the ends of years. */
	static const time_t around[] = {
		1774746000, 1792890000, 1772953200, 1793512800, 1759593600,
		1775318400, 1767225599, 1709251199
	};
	/* None that clocks skip or show twice in one of these zones. */
	static const int hours[] = { 0, 4, 12, 23 };

	zone_set(zone);
	for (size_t n = 0; n < sizeof(around) / sizeof(around[0]); n++) {
		const time_t now = around[n] + (time_t)(n * 2477 % 7200) - 3600;

		for (size_t h = 0; h < 4; h++) {
			const int second = hours[h] * 3600 + (int)(n * 443);
			const time_t next = trigger_time_next(now, second);
			const time_t expected = date_next(now, zone, second);

			CHECK(next == expected, "%s: %02d:%02d:%02d after "
			    "%lld is %lld, date says %lld", zone,
			    second / 3600, second / 60 % 60, second % 60,
			    (long long)now, (long long)next,
			    (long long)expected);
		}
	}
}

int
main(void)
{
	/* 01:00 in Berlin, before the clocks skip 02:00 to 03:00. */
	const time_t spring = 1774742400;
	/* 02:00 in Berlin, for the first time this night. */
	const time_t autumn = 1792886400;

	for (size_t n = 0; n < sizeof(zones) / sizeof(zones[0]); n++)
		zone_check(zones[n]);
	zone_set(zones[1]);
	CHECK(trigger_time_next(spring, 9000) == spring + 5400,
	    "a time that is skipped");
	CHECK(trigger_time_next(autumn, 9000) == autumn + 1800,
	    "a time that comes twice");
	CHECK(trigger_time_next(autumn + 1800, 9000) == autumn + 1800 +
	    25 * 3600, "it counts once");
	CHECK(trigger_time_next(spring, second_of(spring)) - spring ==
	    23 * 3600, "now, tomorrow, after a short day");
	OK("%zu zones as date has them", sizeof(zones) / sizeof(zones[0]));
	return (0);
}
