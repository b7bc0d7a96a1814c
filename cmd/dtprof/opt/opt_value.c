/* SPDX-License-Identifier: ISC */
/*
 * The values of options: numbers, sizes, times, percentages, lists of ids,
 * words, and lists of events.  Text in, value out; no messages, which opt.c
 * makes, and no limits but those of the type.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"

#define MAX_IDS		65536

static int	 digits_parse(const char **text, uint64_t *value);
static int	 decimal_parse(const char *text, uint64_t *whole,
		    uint64_t *fraction, const char **unit);
static int	 decimal_scale(const char *text, uint64_t unit, uint64_t *value,
		    const char **rest);
static int	 ids_append(struct opt_ids *ids, uint64_t first, uint64_t last);
static int	 strings_append(struct opt_strings *parts, const char *text,
		    size_t length);

#define FRACTION	1000000000ULL	/* nine digits behind the point */

/* At least one digit; the text moves on. */
static int
digits_parse(const char **text, uint64_t *value)
{
	const char *p = *text;

	if (!isdigit((unsigned char)*p))
		return (-1);
	for (*value = 0; isdigit((unsigned char)*p); p++) {
		if (__builtin_mul_overflow(*value, 10, value) ||
		    __builtin_add_overflow(*value, *p - '0', value))
			return (-1);
	}
	*text = p;
	return (0);
}

/* 12 or 1.5, then a unit; the fraction in units of 1 / FRACTION. */
static int
decimal_parse(const char *text, uint64_t *whole, uint64_t *fraction,
    const char **unit)
{
	uint64_t scale = FRACTION;

	*fraction = 0;
	if (digits_parse(&text, whole) == -1)
		return (-1);
	if (*text == '.') {
		text++;
		if (!isdigit((unsigned char)*text))
			return (-1);
		for (; isdigit((unsigned char)*text); text++) {
			scale /= 10;
			*fraction += scale * (uint64_t)(*text - '0');
		}
	}
	*unit = text;
	return (0);
}

/* (whole + fraction) * unit, exactly as far as integers go. */
static int
decimal_scale(const char *text, uint64_t unit, uint64_t *value,
    const char **rest)
{
	uint64_t whole, fraction;

	if (decimal_parse(text, &whole, &fraction, rest) == -1 ||
	    __builtin_mul_overflow(whole, unit, value))
		return (-1);
	/* 128 bits: nine digits times the nanoseconds of a day. */
	fraction = (uint64_t)((unsigned __int128)fraction * unit / FRACTION);
	if (__builtin_add_overflow(*value, fraction, value))
		return (-1);
	return (0);
}

int
opt_number(const char *text, uint64_t *value)
{
	if (digits_parse(&text, value) == -1 || *text != '\0')
		return (-1);
	return (0);
}

int
opt_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	uint64_t unit = 1;
	const char *rest, *found;

	if (decimal_scale(text, 1, bytes, &rest) == -1)
		return (-1);
	if (*rest == '\0' || strcmp(rest, "B") == 0)
		return (strchr(text, '.') == NULL ? 0 : -1);
	/* Most readers take 10m for ten minutes: --ring 10m is refused. */
	found = strchr(units, toupper((unsigned char)*rest));
	if (found == NULL || strcmp(rest, "m") == 0)
		return (-1);
	unit <<= 10 * (found - units + 1);
	rest++;
	if (strcmp(rest, "") != 0 && strcmp(rest, "B") != 0 &&
	    strcmp(rest, "iB") != 0)
		return (-1);
	return (decimal_scale(text, unit, bytes, &rest));
}

int
opt_time(const char *text, uint64_t *ns)
{
	static const struct {
		const char	*un_name;
		uint64_t	 un_ns;
	} units[] = {
		{ "", 1000000000ULL }, { "s", 1000000000ULL },
		{ "ms", 1000000ULL }, { "us", 1000ULL }, { "ns", 1ULL },
		{ "m", 60000000000ULL }, { "min", 60000000000ULL },
		{ "h", 3600000000000ULL }, { "d", 86400000000000ULL },
	};
	const char *rest;

	if (decimal_scale(text, 1, ns, &rest) == -1)
		return (-1);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(rest, units[i].un_name) == 0)
			return (decimal_scale(text, units[i].un_ns, ns, &rest));
	}
	return (-1);
}

int
opt_percent(const char *text, uint64_t *thousandths)
{
	const char *rest;

	if (decimal_scale(text, 1000, thousandths, &rest) == -1)
		return (-1);
	return (*rest == '\0' || strcmp(rest, "%") == 0 ? 0 : -1);
}

static int
ids_append(struct opt_ids *ids, uint64_t first, uint64_t last)
{
	uint64_t n = last - first + 1;
	int *grown;

	if (n > MAX_IDS || ids->oi_n + n > MAX_IDS)
		return (-2);
	grown = reallocarray(ids->oi_id, ids->oi_n + n, sizeof(*grown));
	if (grown == NULL)
		return (-3);
	ids->oi_id = grown;
	for (uint64_t id = first; id <= last; id++)
		ids->oi_id[ids->oi_n++] = (int)id;
	return (0);
}

int
opt_ids(const char *text, uint64_t min, uint64_t max, struct opt_ids *ids)
{
	uint64_t first, last;
	int rv;

	for (;;) {
		if (digits_parse(&text, &first) == -1)
			return (-1);
		last = first;
		if (*text == '-') {
			text++;
			if (digits_parse(&text, &last) == -1 || last < first)
				return (-1);
		}
		if (first < min || last > max)
			return (-2);
		rv = ids_append(ids, first, last);
		if (rv != 0 || *text == '\0')
			return (rv);
		if (*text++ != ',')
			return (-1);
	}
}

int
opt_word(const char *text, size_t length, const char *words)
{
	int n = 0;

	for (const char *p = words; p != NULL && *p != '\0'; n++) {
		size_t here = strcspn(p, ",");

		if (here == length && strncmp(p, text, length) == 0)
			return (n);
		p += here;
		p += *p == ',';
	}
	return (-1);
}

static int
strings_append(struct opt_strings *parts, const char *text, size_t length)
{
	char **copy = prof_append(&parts->os_text, &parts->os_n,
	    sizeof(*copy));

	if (copy == NULL)
		return (-1);
	if ((*copy = strndup(text, length)) != NULL)
		return (0);
	parts->os_n--;
	return (-1);
}

/* The FILE of uprobe:FILE:FUNCTION, whose slashes begin no settings. */
static const char *
file_skip(const char *text)
{
	static const char *const providers[] = { "uprobe:", "u:",
	    "uretprobe:", "ur:", "usdt:", "U:" };
	const size_t n = sizeof(providers) / sizeof(providers[0]);

	for (size_t i = 0; i < n; i++) {
		const size_t length = strlen(providers[i]);

		if (strncmp(text, providers[i], length) != 0)
			continue;
		text += length;
		if (*text == '"')
			text += 1 + strcspn(text + 1, "\"");
		return (text + strcspn(text, ":"));
	}
	return (text);
}

int
opt_split_events(const char *text, struct opt_strings *parts)
{
	const char *begin = text;
	int depth = 0;
	bool slashes = false, quoted = false;

	for (text = file_skip(text);; text++) {
		if (*text == '"')
			quoted = !quoted;
		if (quoted && *text != '\0')
			continue;
		if (*text == '{' || *text == '[' || *text == '(')
			depth++;
		else if ((*text == '}' || *text == ']' || *text == ')') &&
		    depth > 0)
			depth--;
		else if (*text == '/' && depth == 0)
			slashes = !slashes;
		if (*text == '\0' || (*text == ',' && depth == 0 && !slashes)) {
			if (strings_append(parts, begin,
			    (size_t)(text - begin)) == -1)
				return (-1);
			begin = text + 1;
			if (*text != '\0')
				text = file_skip(begin) - 1;
		}
		if (*text == '\0')
			return (0);
	}
}
