/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: sizes, times, percentages and lists mean exactly what is
 * written, and what is not written like one is refused.  Easy to get wrong
 * where a product overflows, or a fraction goes through floating point.
 */
#include <string.h>

#include "../../cmd/dtprof/opt/opt_value.c"
#include "cli-check.h"

typedef int parse_fn(const char *text, uint64_t *value);

static void
is(parse_fn *parse, const char *text, uint64_t want)
{
	uint64_t value = 0;

	CHECK(parse(text, &value) == 0, "\"%s\" was refused", text);
	CHECK(value == want, "\"%s\" is %llu, not %llu", text,
	    (unsigned long long)value, (unsigned long long)want);
}

static void
is_none(parse_fn *parse, const char *text)
{
	uint64_t value;

	CHECK(parse(text, &value) == -1, "\"%s\" was taken", text);
}

static void
numbers(void)
{
	is(opt_number, "0", 0);
	is(opt_number, "18446744073709551615", UINT64_MAX);
	is_none(opt_number, "18446744073709551616");
	is_none(opt_number, "");
	is_none(opt_number, "-1");
	is_none(opt_number, " 1");
	is_none(opt_number, "1 ");
	is_none(opt_number, "0x10");
	is(opt_size, "64K", 65536);
	is(opt_size, "64k", 65536);
	is(opt_size, "8MiB", 8 << 20);
	is(opt_size, "1.5M", 1572864);
	is(opt_size, "512", 512);
	is(opt_size, "512B", 512);
	is_none(opt_size, "1.5");
	is_none(opt_size, "8X");
	is_none(opt_size, "8MM");
	is_none(opt_size, "8m");
	is_none(opt_size, "M");
	is_none(opt_size, "99999999999999T");
	is(opt_time, "10", 10000000000ULL);
	is(opt_time, "10s", 10000000000ULL);
	is(opt_time, "500ms", 500000000);
	is(opt_time, "5m", 300000000000ULL);
	is(opt_time, "1.000000001s", 1000000001);
	is(opt_time, "0.1s", 100000000);
	is(opt_time, "2h", 7200000000000ULL);
	is(opt_time, "7us", 7000);
	is_none(opt_time, "5 s");
	is_none(opt_time, "1.s");
	is_none(opt_time, ".5s");
	is_none(opt_time, "-1s");
	is_none(opt_time, "99999999999999h");
	is(opt_percent, "0", 0);
	is(opt_percent, "0.5", 500);
	is(opt_percent, "100%", 100000);
	is_none(opt_percent, "1%%");
	OK("numbers, sizes, times, percentages");
}

static void
lists(void)
{
	struct opt_ids ids = { 0 };

	CHECK(opt_ids("1,2,5-7", 0, 100, &ids) == 0, "list");
	CHECK(ids.oi_n == 5 && ids.oi_id[2] == 5 && ids.oi_id[4] == 7,
	    "list");
	CHECK(opt_ids("1,,2", 0, 100, &ids) == -1, "empty");
	CHECK(opt_ids("1,", 0, 100, &ids) == -1, "comma at the end");
	CHECK(opt_ids("3-", 0, 100, &ids) == -1, "open range");
	CHECK(opt_ids("101", 0, 100, &ids) == -2, "range");
	CHECK(opt_ids("0-4000000000", 0, UINT32_MAX, &ids) == -2,
	    "a list that no machine needs");
	CHECK(opt_word("fp", 2, "auto,fp,none") == 1, "word");
	CHECK(opt_word("f", 1, "auto,fp,none") == -1, "part of a word");
	CHECK(opt_word("", 0, "auto,fp,none") == -1, "no word");
	free(ids.oi_id);
	OK("lists of ids and words");
}

static void
splits(const char *text, size_t n, const char *last)
{
	struct opt_strings parts = { 0 };

	CHECK(opt_split_events(text, &parts) == 0, "memory");
	CHECK(parts.os_n == n, "%s: %zu parts, not %zu", text, parts.os_n, n);
	CHECK(strcmp(parts.os_text[n - 1], last) == 0, "%s: last is %s", text,
	    parts.os_text[n - 1]);
	for (size_t i = 0; i < parts.os_n; i++)
		free((char *)(uintptr_t)parts.os_text[i]);
	free(parts.os_text);
}

int
main(void)
{
	numbers();
	lists();
	splits("cycles", 1, "cycles");
	splits("cycles,instructions:u", 2, "instructions:u");
	splits("cpu/event=0x3c,umask=1/u,cycles", 2, "cycles");
	splits("sched:sched_switch{next->pid,prev->pid},x", 2, "x");
	splits("static:[a,b]*:x", 1, "static:[a,b]*:x");
	splits("a,", 2, "");
	OK("events are split where the comma is not theirs");
	return (0);
}
