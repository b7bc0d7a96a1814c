/* SPDX-License-Identifier: ISC */
/*
 * Takes probes of programs apart, whose parts are no names of ours:
 *
 *	uprobe:FILE:FUNCTION[+OFFSET|@LINE][/word,.../]
 *	uretprobe:FILE:FUNCTION[/word,.../]
 *	usdt:FILE:[PROVIDER:]NAME[/word,.../]
 *
 *	kprobe:FUNCTION[/word,.../]	of the kernel; kretprobe, fentry, fexit
 *
 * FILE ends at the first colon, FUNCTION at / { or , outside of parentheses;
 * what has these is put in double quotes.  bpftrace's spellings are accepted:
 * u:FILE:FUNCTION, U:FILE:NAME, and a language before the function.
 *
 * Called by spec.c.  The text may be anything at all.
 */
#include <string.h>

#include "base/error.h"
#include "names.h"

static const struct site_name {
	const char	*sn_name;
	const char	*sn_provider;
} site_names[] = {
	{ "uprobe", "uprobe" }, { "u", "uprobe" },
	{ "uretprobe", "uretprobe" }, { "ur", "uretprobe" },
	{ "usdt", "usdt" }, { "U", "usdt" },
	{ "kprobe", "kprobe" }, { "k", "kprobe" },
	{ "kretprobe", "kretprobe" }, { "kr", "kretprobe" },
	{ "fentry", "fentry" }, { "kfunc", "fentry" }, { "f", "fentry" },
	{ "fexit", "fexit" }, { "kretfunc", "fexit" }, { "fr", "fexit" },
};

/* The provider, if the text begins as a probe of it; where its rest is. */
static const char *
site_provider(char *text, char **rest)
{
	const size_t n = strcspn(text, ":");

	for (size_t i = 0; i < sizeof(site_names) / sizeof(site_names[0]);
	    i++) {
		const struct site_name *name = &site_names[i];

		if (strlen(name->sn_name) == n && text[n] == ':' &&
		    strncmp(text, name->sn_name, n) == 0) {
			*rest = text + n + 1;
			return (name->sn_provider);
		}
	}
	return (NULL);
}

static int
site_fail(struct prof_spec *spec, struct prof_err *error, const char *why)
{
	prof_fail(error, PROF_E_EVENT_SYNTAX, "invalid event name '%s': %s",
	    spec->sp_whole, why);
	return (prof_cure(error, "use uprobe:FILE:FUNCTION or "
	    "usdt:FILE:PROVIDER:NAME, with '\"...\"' around parts that "
	    "contain : / , { or a space"));
}

/*
 * One part, which a character of stop ends outside of quotes and parentheses;
 * that character is overwritten, and *ended is it.  NULL: a quote is open.
 */
static char *
part_take(char **text, const char *stop, char *ended)
{
	char *part = *text, *at = part;
	int depth = 0;

	*ended = '\0';
	if (*part == '"') {
		if ((at = strchr(++part, '"')) == NULL)
			return (NULL);
		*at++ = '\0';
	} else
		for (; *at != '\0' && (depth > 0 ||
		    strchr(stop, *at) == NULL); at++)
			depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
	*ended = *at;
	if (*at != '\0')
		*at++ = '\0';
	*text = at;
	return (part);
}

/* What follows the function, beginning with the character that ended it. */
static int
site_tail(struct prof_spec *spec, char *rest, char ended,
    struct prof_err *error)
{
	char *close;

	if (ended != '/')
		return (ended == '\0' ? 1 : site_fail(spec, error,
		    "unexpected text after the function"));
	close = strrchr(rest, '/');
	if (close == NULL || close[1] != '\0')
		return (site_fail(spec, error, "arguments need two slashes"));
	*close = '\0';
	spec->sp_slashed = true;
	return (prof_spec_terms(spec, rest, error) == -1 ? -1 : 1);
}

/* "+OFFSET" or "@LINE". */
static bool
place_parse(struct prof_spec *spec, char kind, const char *text)
{
	uint64_t number;

	if (!prof_parse_u64(text, &number) ||
	    (kind == '@' && (number == 0 || number > UINT32_MAX)))
		return (false);
	if (kind == '@')
		spec->sp_line = (uint32_t)number;
	else
		spec->sp_offset = number;
	return (true);
}

static int
site_function(struct prof_spec *spec, char *rest, struct prof_err *error)
{
	char *function, *place, ended;

	/* bpftrace names a language before a C++ function. */
	if (strncmp(rest, "cpp:", 4) == 0 && rest[4] != ':')
		rest += 4;
	function = part_take(&rest, "/{,", &ended);
	if (function == NULL)
		return (site_fail(spec, error, "a quote is not closed"));
	place = strpbrk(function, "@+");
	/* Behind a quoted one. */
	if (ended == '+' || ended == '@') {
		const char kind = ended;

		place = part_take(&rest, "/{,", &ended);
		if (place == NULL || !place_parse(spec, kind, place))
			return (site_fail(spec, error, "invalid offset or "
			    "line"));
	} else if (place != NULL) {
		place = strrchr(function, *place);
		if (place > function && place_parse(spec, *place, place + 1))
			*place = '\0';
	}
	if (function[0] == '\0')
		return (site_fail(spec, error, "the function is missing"));
	spec->sp_function = function;
	return (site_tail(spec, rest, ended, error));
}

/* "provider:name", or a name of any provider. */
static int
site_static(struct prof_spec *spec, char *rest, struct prof_err *error)
{
	char *part, *name, ended;

	part = part_take(&rest, ":/{,", &ended);
	if (part == NULL)
		return (site_fail(spec, error, "a quote is not closed"));
	spec->sp_module = ended == ':' ? part : "*";
	name = part;
	if (ended == ':' && (name = part_take(&rest, "/{,", &ended)) == NULL)
		return (site_fail(spec, error, "a quote is not closed"));
	if (name[0] == '\0' || spec->sp_module[0] == '\0')
		return (site_fail(spec, error, "the name is missing"));
	spec->sp_function = name;
	return (site_tail(spec, rest, ended, error));
}

int
prof_spec_site(struct prof_spec *spec, struct prof_err *error)
{
	char *rest, *file, ended;
	const char *provider = site_provider(spec->sp_text, &rest);

	if (provider == NULL)
		return (0);
	spec->sp_is_probe = spec->sp_is_site = true;
	spec->sp_provider = provider;
	spec->sp_name = "";
	if (provider[0] == 'k' || provider[0] == 'f')
		return (site_function(spec, rest, error));
	file = part_take(&rest, ":", &ended);
	if (file == NULL)
		return (site_fail(spec, error, "a quote is not closed"));
	if (file[0] == '\0' || ended != ':')
		return (site_fail(spec, error, file[0] == '\0' ?
		    "the file is missing" : "the function is missing"));
	spec->sp_file = file;
	return (strcmp(provider, "usdt") == 0 ?
	    site_static(spec, rest, error) :
	    site_function(spec, rest, error));
}
