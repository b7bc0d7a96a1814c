/* SPDX-License-Identifier: ISC */
/*
 * Parses the arguments of a command by its table of options.  All or
 * nothing: values land in the command's struct only when every argument is
 * good.  Each refusal says what was wrong with which option, what range it
 * takes and its default, or the nearest option when there is none such.
 *
 * Called by cmd_run and by the unit tests.  Prints nothing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../cmd.h"

#define DAY_NS		86400000000000ULL
#define EXAMPLE_NS	500000000	/* of a time in hints */

/* One parse: the words that are left, and where the values go. */
struct parse {
	const struct prof_cmd	*pa_cmd;
	char			**pa_argv;
	int			 pa_argc;
	int			 pa_at;		/* the word being looked at */
	char			*pa_options;
	struct opt_error	*pa_error;
};

static int	 option_refuse(struct parse *parse, const char *cure,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static int	 refuse_value(struct parse *parse, const struct opt_row *row,
		    const char *text, const char *why);
static unsigned	 edit_distance(const char *a, const char *b);
static const struct opt_row *find_long(const struct prof_cmd *cmd,
		    const char *name, size_t length);
static const struct opt_row *find_letter(const struct prof_cmd *cmd,
		    char letter);
static void	 show_limit(const struct opt_row *row, uint64_t value,
		    char *buffer, size_t size);
static int	 set_number(struct parse *parse, const struct opt_row *row,
		    const char *text);
static int	 set_words(struct parse *parse, const struct opt_row *row,
		    const char *text);
static int	 set_ids(struct parse *parse, const struct opt_row *row,
		    const char *text);
static int	 set_strings(struct parse *parse, const struct opt_row *row,
		    const char *text);
static int	 set_value(struct parse *parse, const struct opt_row *row,
		    const char *text);
static int	 set_defaults(struct parse *parse);
static int	 take_long(struct parse *parse);
static int	 take_letters(struct parse *parse);
static int	 take_words(struct parse *parse);
static int	 unknown_option(struct parse *parse, const char *name);

static int
option_refuse(struct parse *parse, const char *cure, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(parse->pa_error->oe_text, sizeof(parse->pa_error->oe_text),
	    fmt, ap);
	va_end(ap);
	snprintf(parse->pa_error->oe_cure, sizeof(parse->pa_error->oe_cure),
	    "%s", cure);
	return (-1);
}

/* Edit distance; names longer than a row are never near. */
static unsigned
edit_distance(const char *a, const char *b)
{
	unsigned row[64];
	size_t nb = strlen(b);

	if (nb >= sizeof(row) / sizeof(row[0]))
		return (UINT32_MAX);
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; a[i - 1] != '\0'; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return (row[nb]);
}

const char *
opt_nearest(const char *name, const char *const *names)
{
	const char *nearest = NULL;
	unsigned best = (unsigned)strlen(name) / 3 + 2;

	for (; *names != NULL; names++) {
		unsigned d = edit_distance(name, *names);

		/* As far as the whole name is long: another word. */
		if (d < best && d < strlen(*names)) {
			best = d;
			nearest = *names;
		}
	}
	return (nearest);
}

static const struct opt_row *
find_long(const struct prof_cmd *cmd, const char *name, size_t length)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		if (strlen(row->op_name) == length &&
		    strncmp(row->op_name, name, length) == 0)
			return (row);
	}
	return (NULL);
}

static const struct opt_row *
find_letter(const struct prof_cmd *cmd, char letter)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		if (row->op_letter == letter)
			return (row);
	}
	return (NULL);
}

/* A limit as the user would write it. */
static void
show_limit(const struct opt_row *row, uint64_t value, char *buffer,
    size_t size)
{
	static const char units[] = "BKMGT";
	unsigned long long v = value;
	int unit = 0;

	switch (row->op_type) {
	case OPT_SIZE:
		for (; v >= 1024 && v % 1024 == 0 && unit < 4; v /= 1024)
			unit++;
		snprintf(buffer, size, "%llu%c", v, units[unit]);
		break;
	case OPT_TIME:
		if (v > 0 && v % DAY_NS == 0)
			snprintf(buffer, size, "%llud", v / DAY_NS);
		else if (v % 1000000000 == 0)
			snprintf(buffer, size, "%llus", v / 1000000000);
		else if (v % 1000000 == 0)
			snprintf(buffer, size, "%llums", v / 1000000);
		else
			snprintf(buffer, size, "%lluus", v / 1000);
		break;
	case OPT_PERCENT:
		snprintf(buffer, size, "%g", (double)v / 1000);
		break;
	default:
		snprintf(buffer, size, "%llu", v);
		break;
	}
}

/* Without an upper bound here, the kernel or the command may have one. */
static int
cure_range(char *cure, size_t size, const struct opt_row *row, const char *low,
    const char *high)
{
	return (snprintf(cure, size, "use %s%s%s%s%s%s", low,
	    row->op_max == INT64_MAX ? " or more" : " to ",
	    row->op_max == INT64_MAX ? "" : high,
	    row->op_words != NULL ? " or " : "",
	    row->op_words != NULL ? row->op_words : "",
	    row->op_type == OPT_SIZE ? ", e.g. 8M or 64M" : ""));
}

/* A time with words may have a sign: -10s is relative to the end. */
static int
cure_time(char *cure, size_t size, const struct opt_row *row, const char *low,
    const char *high)
{
	const bool is_any = row->op_max == INT64_MAX;

	return (snprintf(cure, size, "use %s%s%s, e.g. 10s%s",
	    is_any && row->op_min < 1000 ? "a time" : low,
	    is_any ? row->op_min < 1000 ? "" : " or more" : " to ",
	    is_any ? "" : high, row->op_words != NULL ? ", 500ms or -10s" :
	    row->op_min <= EXAMPLE_NS ? " or 500ms" : ""));
}

static int
refuse_value(struct parse *parse, const struct opt_row *row, const char *text,
    const char *why)
{
	char low[32], high[32], cure[256];
	const struct opt_habit *habit = habit_of_option(parse->pa_cmd->cm_name,
	    row->op_name, strlen(row->op_name));
	int n = 0;

	if (habit != NULL && habit->oh_cure != NULL)
		return (option_refuse(parse, habit->oh_cure, "--%s %s: %s",
		    row->op_name, text, why));
	show_limit(row, row->op_min, low, sizeof(low));
	show_limit(row, row->op_max, high, sizeof(high));
	switch (row->op_type) {
	case OPT_CHOICE:
	case OPT_SET:
		n = snprintf(cure, sizeof(cure), "use %s%s",
		    row->op_type == OPT_SET ? "some of " : "one of ",
		    row->op_words);
		break;
	case OPT_IDS:
		n = snprintf(cure, sizeof(cure),
		    "use a list such as 1,2,5-7, each from %s to %s",
		    low, high);
		break;
	case OPT_TIME:
		n = cure_time(cure, sizeof(cure), row, low, high);
		break;
	default:
		n = cure_range(cure, sizeof(cure), row, low, high);
		break;
	}
	if (row->op_default != NULL && n >= 0 && (size_t)n < sizeof(cure))
		snprintf(cure + n, sizeof(cure) - (size_t)n, " (default %s)",
		    row->op_default);
	return (option_refuse(parse, cure, "--%s %s: %s", row->op_name, text,
	    why));
}

static int
set_number(struct parse *parse, const struct opt_row *row, const char *text)
{
	struct opt_number *number;
	uint64_t value = 0;
	int rv;

	number = (void *)(parse->pa_options + row->op_at);
	number->on_from_end = row->op_type == OPT_TIME &&
	    row->op_words != NULL && text[0] == '-';
	if (row->op_type == OPT_SIZE)
		rv = opt_size(text, &value);
	else if (row->op_type == OPT_TIME)
		rv = opt_time(text + number->on_from_end, &value);
	else if (row->op_type == OPT_PERCENT)
		rv = opt_percent(text, &value);
	else if (opt_word(text, strlen(text), row->op_words) >= 0) {
		number->on_value = UINT64_MAX;
		number->on_set = true;
		return (0);
	} else
		rv = opt_number(text, &value);
	if (rv == -1)
		return (refuse_value(parse, row, text,
		    row->op_type == OPT_SIZE ? "not a size" :
		    row->op_type == OPT_TIME ? "not a time" :
		    row->op_type == OPT_PERCENT ? "not a percentage" :
		    "not a number"));
	if (value < row->op_min || value > row->op_max)
		return (refuse_value(parse, row, text, "out of range"));
	number->on_value = value;
	number->on_set = true;
	return (0);
}

static int
set_words(struct parse *parse, const struct opt_row *row, const char *text)
{
	const char *p = text;
	unsigned set = 0;
	int word;

	do {
		size_t length = row->op_type == OPT_SET ? strcspn(p, ",") :
		    strlen(p);

		word = opt_word(p, length, row->op_words);
		if (word == -1)
			return (refuse_value(parse, row, text,
			    "invalid argument"));
		set |= 1U << word;
		p += length;
	} while (*p++ == ',');
	if (row->op_type == OPT_SET)
		*(unsigned *)(void *)(parse->pa_options + row->op_at) = set;
	else
		*(int *)(void *)(parse->pa_options + row->op_at) = word;
	return (0);
}

static int
set_ids(struct parse *parse, const struct opt_row *row, const char *text)
{
	switch (opt_ids(text, row->op_min, row->op_max,
	    (void *)(parse->pa_options + row->op_at))) {
	case 0:
		return (0);
	case -2:
		return (refuse_value(parse, row, text, "out of range"));
	case -3:
		return (option_refuse(parse, "free memory", "out of memory"));
	default:
		return (refuse_value(parse, row, text,
		    "not a list of numbers"));
	}
}

static int
set_strings(struct parse *parse, const struct opt_row *row, const char *text)
{
	struct opt_strings *strings = (void *)(parse->pa_options + row->op_at);
	const char **slot = prof_append(&strings->os_text, &strings->os_n,
	    sizeof(*slot));

	if (slot == NULL)
		return (option_refuse(parse, "free memory", "out of memory"));
	*slot = text;
	return (0);
}

/* What takes no value. */
static void
set_flag(struct parse *parse, const struct opt_row *row)
{
	*(bool *)(void *)(parse->pa_options + row->op_at) = true;
}

static int
set_value(struct parse *parse, const struct opt_row *row, const char *text)
{
	switch (row->op_type) {
	case OPT_END:
	case OPT_FLAG:
		break;
	case OPT_STRING:
	case OPT_WORDS:
		if (text[0] == '\0')
			return (option_refuse(parse,
			    "give the option an argument, or leave the option "
			    "out",
			    "--%s: empty argument", row->op_name));
		*(const char **)(void *)(parse->pa_options + row->op_at) =
		    text;
		return (0);
	case OPT_STRINGS:
		return (set_strings(parse, row, text));
	case OPT_CHOICE:
	case OPT_SET:
		return (set_words(parse, row, text));
	case OPT_IDS:
		return (set_ids(parse, row, text));
	case OPT_COUNT:
	case OPT_SIZE:
	case OPT_TIME:
	case OPT_PERCENT:
		return (set_number(parse, row, text));
	}
	return (-1);
}

/*
 * Words and strings start out as their default; numbers stay unset, so that
 * a command can tell what was said from what was not.
 */
static int
set_defaults(struct parse *parse)
{
	const struct opt_row *row;

	for (row = parse->pa_cmd->cm_options; row->op_type != OPT_END; row++) {
		if (row->op_default == NULL || (row->op_type != OPT_CHOICE &&
		    row->op_type != OPT_SET && row->op_type != OPT_STRING &&
		    row->op_type != OPT_WORDS))
			continue;
		if (set_value(parse, row, row->op_default) == -1)
			return (-1);
	}
	return (0);
}

static int
unknown_option(struct parse *parse, const char *name)
{
	const struct opt_row *row;
	const char *names[64], *nearest = NULL;
	char cure[256];
	size_t n = 0;

	for (row = parse->pa_cmd->cm_options; row->op_type != OPT_END &&
	    n < sizeof(names) / sizeof(names[0]) - 1; row++)
		names[n++] = row->op_name;
	names[n] = NULL;
	if (strncmp(name, "--", 2) == 0)
		nearest = opt_nearest(name + 2, names);
	if (nearest != NULL)
		snprintf(cure, sizeof(cure), "did you mean --%s? (for all "
		    "options see dtprof %s --help)", nearest,
		    parse->pa_cmd->cm_name);
	else
		snprintf(cure, sizeof(cure), "for all options see dtprof %s "
		    "--help", parse->pa_cmd->cm_name);
	return (option_refuse(parse, cure, "%s: no such option", name));
}

/* An option of perf's: what stands behind it, or NULL. */
static int
take_habit(struct parse *parse, const struct opt_habit *habit,
    const char *shown, const char *value)
{
	const struct opt_row *row;

	if (habit->oh_cure != NULL && (value == NULL ||
	    habit->oh_only == NULL || strcmp(value, habit->oh_only) != 0))
		return (option_refuse(parse, habit->oh_cure,
		    "%s: no such option", shown));
	if (habit->oh_arg != NULL && value == NULL)
		return (option_refuse(parse, "see --help",
		    "%s: missing argument", shown));
	if (habit->oh_same == NULL)
		return (0);
	row = find_long(parse->pa_cmd, habit->oh_same,
	    strlen(habit->oh_same));
	if (row->op_arg != NULL)
		return (set_value(parse, row, value));
	set_flag(parse, row);
	return (0);
}

/*
 * The value of a habit: what follows in the same word, else the next word.
 * NULL is none, or one that is missing, and then the habit has a cure.
 */
static const char *
habit_value(struct parse *parse, const struct opt_habit *habit,
    const char *rest)
{
	if (habit->oh_arg == NULL)
		return (NULL);
	if (rest != NULL && *rest != '\0')
		return (rest);
	if (parse->pa_at < parse->pa_argc)
		return (parse->pa_argv[parse->pa_at++]);
	return (NULL);
}

/* --name, --name value, --name=value */
static int
take_long(struct parse *parse)
{
	char *word = parse->pa_argv[parse->pa_at++];
	const char *name = word + 2, *equals = strchr(name, '=');
	const struct opt_habit *habit;
	const struct opt_row *row;
	size_t length;
	char shown[64];

	if (strcmp(name, "help") == 0)
		return (-2);
	length = equals != NULL ? (size_t)(equals - name) : strlen(name);
	row = find_long(parse->pa_cmd, name, length);
	if (row == NULL) {
		snprintf(shown, sizeof(shown), "--%.*s",
		    length > 60 ? 60 : (int)length, name);
		habit = habit_of_option(parse->pa_cmd->cm_name, name, length);
		if (habit != NULL)
			return (take_habit(parse, habit, shown,
			    habit_value(parse, habit,
			    equals != NULL ? equals + 1 : NULL)));
		return (unknown_option(parse, shown));
	}
	if (row->op_arg == NULL && equals != NULL)
		return (option_refuse(parse, "leave out '=' and the text after "
		    "it",
		    "--%s: takes no argument", row->op_name));
	if (row->op_arg == NULL) {
		set_flag(parse, row);
		return (0);
	}
	if (equals != NULL)
		return (set_value(parse, row, equals + 1));
	if (parse->pa_at >= parse->pa_argc) {
		snprintf(shown, sizeof(shown), "use --%s %s", row->op_name,
		    row->op_arg);
		return (option_refuse(parse, shown, "--%s: missing argument",
		    row->op_name));
	}
	return (set_value(parse, row, parse->pa_argv[parse->pa_at++]));
}

/* -a, -ag, -F 99, -F99 */
static int
take_letters(struct parse *parse)
{
	char *word = parse->pa_argv[parse->pa_at++];
	const struct opt_habit *habit;
	const struct opt_row *row;
	char shown[64];
	int rv;

	for (const char *p = word + 1; *p != '\0'; p++) {
		row = find_letter(parse->pa_cmd, *p);
		if (row == NULL && *p == 'h')
			return (-2);
		if (row == NULL) {
			snprintf(shown, sizeof(shown), "-%c", *p);
			habit = habit_of_option(parse->pa_cmd->cm_name, p, 1);
			if (habit == NULL)
				return (unknown_option(parse, shown));
			rv = take_habit(parse, habit, shown,
			    habit_value(parse, habit, p + 1));
			if (rv != 0 || habit->oh_arg != NULL)
				return (rv);
			continue;
		}
		if (row->op_arg == NULL) {
			set_flag(parse, row);
			continue;
		}
		if (p[1] != '\0')
			return (set_value(parse, row, p + 1));
		if (parse->pa_at < parse->pa_argc)
			return (set_value(parse, row,
			    parse->pa_argv[parse->pa_at++]));
		snprintf(shown, sizeof(shown), "use -%c %s", *p,
		    row->op_arg);
		return (option_refuse(parse, shown, "-%c: missing argument",
		    *p));
	}
	return (0);
}

/* All words; operands gather at the end.  Index of the first of them. */
static int
take_words(struct parse *parse)
{
	int noperands = 0, rv, first;

	while (parse->pa_at < parse->pa_argc) {
		char *word = parse->pa_argv[parse->pa_at];

		if (strcmp(word, "--") == 0 && !(noperands > 0 &&
		    parse->pa_cmd->cm_sides)) {
			parse->pa_at++;
			break;
		}
		if (word[0] != '-' || word[1] == '\0' ||
		    strcmp(word, "--") == 0) {
			if (parse->pa_cmd->cm_stop_early)
				break;
			/* The front of the vector is used up: keep it there. */
			parse->pa_argv[1 + noperands++] = word;
			parse->pa_at++;
			continue;
		}
		rv = word[1] == '-' ? take_long(parse) : take_letters(parse);
		if (rv != 0)
			return (rv);
	}
	first = parse->pa_at - noperands;
	memmove(&parse->pa_argv[first], &parse->pa_argv[1],
	    (size_t)noperands * sizeof(*parse->pa_argv));
	return (first);
}

int
opt_parse(const struct prof_cmd *cmd, int argc, char **argv, void *options,
    struct opt_error *error)
{
	struct parse parse = { cmd, argv, argc, 1, options, error };
	char see[64];
	int first, n;

	memset(options, 0, cmd->cm_size);
	memset(error, 0, sizeof(*error));
	snprintf(see, sizeof(see), "see dtprof %s --help", cmd->cm_name);
	first = set_defaults(&parse);
	if (first == 0)
		first = take_words(&parse);
	n = argc - first;
	if (first >= 0 && n < cmd->cm_min)
		first =
		    option_refuse(&parse, see, "missing %s", cmd->cm_operands);
	else if (first >= 0 && cmd->cm_max >= 0 && n > cmd->cm_max)
		first = option_refuse(&parse, see,
		    "too many operands: '%.100s'", argv[first + cmd->cm_max]);
	if (first < 0)
		opt_free(cmd, options);
	return (first);
}

void
opt_free(const struct prof_cmd *cmd, void *options)
{
	const struct opt_row *row;

	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		void *at = (char *)options + row->op_at;

		if (row->op_type == OPT_STRINGS)
			free(((struct opt_strings *)at)->os_text);
		else if (row->op_type == OPT_IDS)
			free(((struct opt_ids *)at)->oi_id);
	}
	memset(options, 0, cmd->cm_size);
}
