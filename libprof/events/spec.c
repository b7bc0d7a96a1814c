/* SPDX-License-Identifier: ISC */
/*
 * Takes one -e apart, without knowing which events exist:
 *
 *	provider:module:function:name	any part empty or a glob
 *	NAME[:ukhp]			perf's and libpfm4's names, group:name
 *	NAME/word,key=value,.../[ukhp]	settings, arguments, sysfs terms
 *	NAME@PERIOD  NAME@RATEhz	how often
 *	uprobe:FILE:FUNCTION		probes of programs: spec_site.c
 *	EVENT{EXPRESSION}		with a filter of its own: spec_filter.c
 *
 * Called once for each -e, by names.c; fuzzed by tests/fuzz/event.c.
 * Nothing is opened here, and the text may be anything at all.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/glob.h"
#include "names.h"

static int	spec_slashes(struct prof_spec *spec, struct prof_err *error);
static int	spec_how_often(struct prof_spec *spec, const char *key,
		    const char *value, struct prof_err *error);
static int	spec_at(struct prof_spec *spec, struct prof_err *error);
static void	spec_parts(struct prof_spec *spec);
static void	spec_mods(struct prof_spec *spec);
static bool	spec_starts_probe(const char *base);

size_t
prof_spec_colons(const char *text)
{
	size_t n = 0;

	for (; *text != '\0'; text++)
		n += *text == ':';
	return (n);
}

int
prof_spec_parse(struct prof_spec *spec, const char *text,
    struct prof_err *error)
{
	static const char bpftrace[] = "tracepoint:";
	size_t length;
	int is_site;

	/* As bpftrace spells it; what follows is all that we ask for. */
	if (strncmp(text, bpftrace, sizeof(bpftrace) - 1) == 0 &&
	    prof_spec_colons(text) == 2)
		text += sizeof(bpftrace) - 1;
	length = strlen(text);
	memset(spec, 0, sizeof(*spec));
	if (length == 0)
		return (prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "empty event name"));
	if (length >= sizeof(spec->sp_text))
		return (prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "event name too long: %zu characters (at most %zu)",
		    length, sizeof(spec->sp_text) - 1));
	for (size_t n = 0; n < length; n++)
		if (!isprint((unsigned char)text[n]))
			return (prof_fail(error, PROF_E_EVENT_SYNTAX,
			    "invalid event name: character %zu is not "
			    "printable", n + 1));
	memcpy(spec->sp_text, text, length + 1);
	spec->sp_whole = text;
	spec->sp_name = spec->sp_text;
	spec->sp_provider = spec->sp_module = spec->sp_function = "";
	spec->sp_mods = "";
	if (prof_spec_filter(spec, error) == -1)
		return (-1);
	if ((is_site = prof_spec_site(spec, error)) != 0)
		return (is_site == 1 ? 0 : -1);
	if (spec_slashes(spec, error) == -1 || spec_at(spec, error) == -1)
		return (-1);
	spec_parts(spec);
	spec_mods(spec);
	if (spec->sp_name[0] == '\0' && !spec->sp_is_probe)
		return (prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "invalid event name: '%s'", text));
	return (0);
}

bool
prof_event_needs_program(const char *text)
{
	struct prof_err error;
	struct prof_spec spec;

	return (prof_spec_parse(&spec, text, &error) == 0 &&
	    (spec.sp_filter != NULL || spec.sp_is_site));
}

bool
prof_event_is_site(const char *probe)
{
	return (strncmp(probe, "uprobe:", 7) == 0 ||
	    strncmp(probe, "uretprobe:", 10) == 0 ||
	    strncmp(probe, "usdt:", 5) == 0);
}

/* Cut "/terms/mods" off. */
static int
spec_slashes(struct prof_spec *spec, struct prof_err *error)
{
	char *open = strchr(spec->sp_text, '/'), *close;

	if (open == NULL)
		return (0);
	close = strrchr(spec->sp_text, '/');
	if (close == open) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "invalid event name '%s': settings need two slashes",
		    spec->sp_text);
		return (prof_cure(error, "use for example "
		    "cycles/period=1000003/"));
	}
	*open = '\0';
	*close++ = '\0';
	if (*close == ':')
		close++;
	if (close[strspn(close, "ukhp")] != '\0') {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "invalid modifiers '%s' after the settings of %s",
		    close, spec->sp_text);
		return (prof_cure(error, "modifiers are u (user), k (kernel), "
		    "h (hypervisor), p (precise): %s/.../u", spec->sp_text));
	}
	spec->sp_mods = close;
	spec->sp_slashed = true;
	return (prof_spec_terms(spec, open + 1, error));
}

int
prof_spec_terms(struct prof_spec *spec, char *body, struct prof_err *error)
{
	char *word, *value;

	while ((word = strsep(&body, ",")) != NULL) {
		if (*word == '\0')
			continue;
		if ((value = strchr(word, '=')) != NULL)
			*value++ = '\0';
		if (value != NULL && (strcmp(word, "period") == 0 ||
		    strcmp(word, "freq") == 0)) {
			if (spec_how_often(spec, word, value, error) == -1)
				return (-1);
			continue;
		}
		if (spec->sp_nterms == PROF_SPEC_TERMS)
			return (prof_fail(error, PROF_E_EVENT_SYNTAX,
			    "more than %d settings",
			    PROF_SPEC_TERMS));
		spec->sp_term[spec->sp_nterms].st_key = word;
		spec->sp_term[spec->sp_nterms++].st_value = value;
	}
	return (0);
}

static int
spec_how_often(struct prof_spec *spec, const char *key, const char *value,
    struct prof_err *error)
{
	bool is_hz = strcmp(key, "freq") == 0;
	char digits[32];
	size_t length = strlen(value);
	uint64_t number;

	if (length > 2 && strcasecmp(value + length - 2, "hz") == 0) {
		is_hz = true;
		length -= 2;
	}
	if (length >= sizeof(digits))
		length = sizeof(digits) - 1;
	memcpy(digits, value, length);
	digits[length] = '\0';
	if (!prof_parse_u64(digits, &number)) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "invalid %s '%s': not a number", is_hz ? "frequency" :
		    "period", value);
		return (prof_cure(error, "use for example "
		    "cycles/period=1000003/ or cycles/freq=999/"));
	}
	if (number == 0) {
		prof_fail(error, PROF_E_LIMIT, "%s 0: out of range",
		    is_hz ? "frequency" : "period");
		return (prof_cure(error, "use 1 or more"));
	}
	if (spec->sp_period != 0 || spec->sp_frequency != 0)
		return (prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "duplicate period or freq"));
	if (is_hz)
		spec->sp_frequency = number;
	else
		spec->sp_period = number;
	return (0);
}

/* NAME@1000003, NAME@999hz, and pmc:::NAME-1000003 as hwpmc writes it. */
static int
spec_at(struct prof_spec *spec, struct prof_err *error)
{
	char *at = strrchr(spec->sp_text, '@');

	if (at == NULL && strncmp(spec->sp_text, "pmc:", 4) == 0) {
		at = strrchr(spec->sp_text, '-');
		if (at != NULL) {
			const char *rest = at + 1 + strspn(at + 1,
			    "0123456789");

			if (rest == at + 1 || (*rest != '\0' &&
			    strcasecmp(rest, "hz") != 0))
				at = NULL;
		}
	}
	if (at == NULL)
		return (0);
	*at = '\0';
	return (spec_how_often(spec, "period", at + 1, error));
}

/* Four parts only when the first is a provider of ours, empty or a glob. */
static void
spec_parts(struct prof_spec *spec)
{
	char *part[3], *rest = spec->sp_text;

	if (!spec_starts_probe(rest))
		return;
	for (int n = 0; n < 3; n++)
		part[n] = strsep(&rest, ":");
	spec->sp_is_probe = true;
	spec->sp_provider = part[0];
	spec->sp_module = part[1];
	spec->sp_function = part[2];
	spec->sp_name = rest;
}

static bool
spec_starts_probe(const char *base)
{
	const char *colon = strchr(base, ':');
	char first[64];
	size_t length, ncolons = 0;

	for (const char *at = base; *at != '\0'; at++)
		ncolons += *at == ':';
	if (ncolons < 3)
		return (false);
	length = (size_t)(colon - base);
	if (length >= sizeof(first))
		return (false);
	memcpy(first, base, length);
	first[length] = '\0';
	if (length == 0 || prof_glob_is(first))
		return (true);
	for (size_t n = 0; prof_providers[n] != NULL; n++)
		if (strcmp(first, prof_providers[n]->pv_name) == 0)
			return (true);
	return (false);
}

/* "cycles:u": letters behind the last colon, when nothing else is there. */
static void
spec_mods(struct prof_spec *spec)
{
	char *name = spec->sp_text + (spec->sp_name - spec->sp_text);
	char *colon = strrchr(name, ':');

	if (spec->sp_slashed || colon == NULL || colon == name ||
	    colon[1] == '\0' || colon[1 + strspn(colon + 1, "ukhp")] != '\0')
		return;
	*colon = '\0';
	spec->sp_mods = colon + 1;
}

bool
prof_part_match(const char *part, const char *text)
{
	return (part[0] == '\0' || strcmp(part, text) == 0 ||
	    (prof_glob_is(part) && prof_glob_match(part, text)));
}

bool
prof_spec_is_for(const struct prof_spec *spec, const char *provider)
{
	return (!spec->sp_is_probe ||
	    prof_part_match(spec->sp_provider, provider));
}

bool
prof_parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return (false);
	errno = 0;
	*value = strtoull(text, &end, 0);
	return (*end == '\0' && errno == 0);
}

/* A rate ("997hz") or a time ("10ms", "1s", "250us", "50000ns"). */
bool
prof_parse_interval(const char *text, uint64_t *ns, uint64_t *hz)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{ "ns", 1 }, { "nsec", 1 }, { "us", 1000 }, { "usec", 1000 },
		{ "ms", 1000000 }, { "msec", 1000000 },
		{ "s", 1000000000 }, { "sec", 1000000000 }
	};
	uint64_t number;
	char *end;

	*ns = *hz = 0;
	if (!isdigit((unsigned char)text[0]))
		return (false);
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno != 0)
		return (false);
	/* DTrace writes a bare number for a rate. */
	if (*end == '\0' || strcasecmp(end, "hz") == 0) {
		*hz = number;
		return (true);
	}
	for (size_t n = 0; n < sizeof(units) / sizeof(units[0]); n++)
		if (strcasecmp(end, units[n].suffix) == 0) {
			if (__builtin_mul_overflow(number, units[n].ns, ns))
				*ns = UINT64_MAX;
			return (true);
		}
	return (false);
}

int
prof_spec_no_terms(const struct prof_spec *spec, const char *what,
    struct prof_err *error)
{
	if (spec->sp_nterms == 0)
		return (0);
	prof_fail(error, PROF_E_EVENT_SYNTAX, "%s has no setting '%s'",
	    what, spec->sp_term[0].st_key);
	return (prof_cure(error, "counters and timers have settings period=N "
	    "and freq=N; only PMUs have more settings: list PMUs with dtprof "
	    "list 'pmc:::*/'"));
}

/* Returns, and functions of the kernel, are probed as a whole. */
int
prof_spec_no_offset(const struct prof_spec *spec, struct prof_err *error)
{
	if (spec->sp_offset == 0 && spec->sp_line == 0)
		return (0);
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: only the first "
	    "instruction of a function can be probed", spec->sp_whole);
	return (prof_cure(error, "leave out the text after the function "
	    "name"));
}

/* What fires by itself has neither period nor modes. */
int
prof_spec_no_rate(const struct prof_spec *spec, const char *what,
    struct prof_err *error)
{
	if (spec->sp_period != 0 || spec->sp_frequency != 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s has no %s: every event is recorded", what,
		    spec->sp_period != 0 ? "period" : "frequency");
		return (prof_cure(error, "leave out the period or frequency; "
		    "to record fewer events, use --filter"));
	}
	if (spec->sp_mods[0] != '\0') {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s has no modifier ':%s'", what, spec->sp_mods);
		return (prof_cure(error, "use modifiers u, k, h and p only "
		    "with counters and clocks"));
	}
	return (0);
}
