/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: arguments are parsed all or nothing, and each refusal says what
 * was wrong and what is right.  Easy to get wrong where a good option before
 * the bad one has already been stored, and where operands stand between
 * options.
 */
#include <string.h>

#include "../../cmd/dtprof/opt/habits.c"
#include "../../cmd/dtprof/opt/opt.c"
#include "../../cmd/dtprof/opt/opt_value.c"
#include "cli-check.h"

struct values {
	bool		 va_all;
	bool		 va_verbose;
	const char	*va_file;
	struct opt_strings va_events;
	struct opt_number va_rate;
	struct opt_number va_size;
	struct opt_number va_time;
	struct opt_number va_loss;
	struct opt_ids	 va_ids;
	int		 va_choice;
	unsigned	 va_set;
};

#define VA(member)	offsetof(struct values, member)

static const struct opt_row rows[] = {
	{ 'a', "all", NULL, OPT_FLAG, 0, 0, NULL, "x", VA(va_all), NULL },
	{ 0, "buffer", "SIZE", OPT_SIZE, 65536, 1 << 30, "16M", "x",
	    VA(va_size), NULL },
	{ 0, "choice", "C", OPT_CHOICE, 0, 0, "two", "x", VA(va_choice),
	    "one,two,three" },
	{ 0, "duration", "T", OPT_TIME, 1000000, 1000000000000ULL, NULL, "x",
	    VA(va_time), NULL },
	{ 'e', "event", "E", OPT_STRINGS, 0, 0, NULL, "x", VA(va_events),
	    NULL },
	{ 'F', "freq", "HZ", OPT_COUNT, 1, 1000, "999", "x", VA(va_rate),
	    "max" },
	{ 0, "max-loss", "PCT", OPT_PERCENT, 0, 100000, NULL, "x",
	    VA(va_loss), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, "x.dtp", "x", VA(va_file),
	    NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, 4194304, NULL, "x", VA(va_ids),
	    NULL },
	{ 0, "show", "S", OPT_SET, 0, 0, "a,c", "x", VA(va_set), "a,b,c" },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL, "x", VA(va_verbose),
	    NULL },
	{ .op_type = OPT_END }
};

static struct prof_cmd cmd = {
	.cm_name = "test", .cm_operands = "FILE", .cm_options = rows,
	.cm_size = sizeof(struct values), .cm_max = 2,
};

static struct values values;
static struct opt_error error;

/* Words of one line, as a shell would split them without quotes. */
static int
parse(const char *line)
{
	static char copy[512];
	static char *argv[64];
	int argc = 0;

	snprintf(copy, sizeof(copy), "test %s", line);
	for (char *p = strtok(copy, " "); p != NULL; p = strtok(NULL, " "))
		argv[argc++] = p;
	argv[argc] = NULL;
	return (opt_parse(&cmd, argc, argv, &values, &error));
}

static void
good_ones(void)
{
	CHECK(parse("") == 1, "first operand");
	CHECK(values.va_choice == 1 && values.va_set == 5, "defaults");
	CHECK(strcmp(values.va_file, "x.dtp") == 0, "default of a string");
	CHECK(!values.va_rate.on_set, "numbers have no value unless given");
	CHECK(parse("-av -F99 -e a --event=b -e c,d --buffer 64K "
	    "--duration 1.5s --max-loss 0.5 -p 1,3-5 -p 7 --show b") > 0,
	    "%s", error.oe_text);
	CHECK(values.va_all && values.va_verbose, "letters together");
	CHECK(values.va_rate.on_value == 99, "value beside its letter");
	CHECK(values.va_events.os_n == 3 &&
	    strcmp(values.va_events.os_text[1], "b") == 0, "repeated");
	CHECK(values.va_size.on_value == 65536, "size");
	CHECK(values.va_time.on_value == 1500000000, "time");
	CHECK(values.va_loss.on_value == 500 && values.va_loss.on_set, "loss");
	CHECK(values.va_ids.oi_n == 5 && values.va_ids.oi_id[4] == 7, "ids");
	CHECK(values.va_set == 2, "a set that is given replaces the default");
	opt_free(&cmd, &values);
	CHECK(parse("--freq max") > 0 &&
	    values.va_rate.on_value == UINT64_MAX, "max");
	CHECK(parse("--help") == -2 && parse("-ah") == -2, "help");
	OK("values of all types arrive");
}

static void
operands(void)
{
	char word0[] = "test", one[] = "one", a[] = "-a", two[] = "two";
	char dashes[] = "--", v[] = "-v";
	char *mixed[] = { word0, one, a, two, NULL };
	char *ended[] = { word0, a, dashes, v, two, NULL };
	char *command[] = { word0, a, one, v, two, NULL };

	CHECK(opt_parse(&cmd, 4, mixed, &values, &error) == 2, "%s",
	    error.oe_text);
	CHECK(mixed[2] == one && mixed[3] == two && values.va_all,
	    "operands gather behind the options, in their order");
	CHECK(opt_parse(&cmd, 5, ended, &values, &error) == 3 &&
	    ended[3] == v && !values.va_verbose, "-- ends the options");
	cmd.cm_stop_early = true;
	cmd.cm_max = -1;
	CHECK(opt_parse(&cmd, 5, command, &values, &error) == 2 &&
	    !values.va_verbose, "a command's own options are its own");
	cmd.cm_stop_early = false;
	cmd.cm_max = 2;
	OK("operands are told from options");
}

static void
refused(const char *line, const char *text, const char *cure)
{
	static const struct values none;

	CHECK(parse(line) == -1, "%s was taken", line);
	CHECK(strstr(error.oe_text, text) != NULL, "%s: said \"%s\"", line,
	    error.oe_text);
	CHECK(strstr(error.oe_cure, cure) != NULL, "%s: cure \"%s\"", line,
	    error.oe_cure);
	CHECK(strchr(error.oe_text, '\n') == NULL &&
	    strchr(error.oe_cure, '\n') == NULL, "%s: more lines", line);
	CHECK(memcmp(&values, &none, sizeof(none)) == 0,
	    "%s: something was stored", line);
}

int
main(void)
{
	good_ones();
	operands();
	refused("-a -e x -p 1 --buffer 1K", "--buffer 1K: out of range",
	    "64K to 1G");
	refused("-a -F 0", "--freq 0: out of range", "1 to 1000 or max "
	    "(default 999)");
	refused("-F 9x", "not a number", "1 to 1000");
	refused("--duration 5parsecs", "not a time", "10s or 500ms");
	refused("--duration 1us", "out of range", "1ms to 1000s, e.g. 10s");
	refused("--buffer 1Q", "not a size", "8M or 64M");
	refused("--max-loss 101", "out of range", "0 to 100");
	refused("--choice four", "--choice four", "one,two,three");
	refused("--show a,x", "--show a,x", "a,b,c");
	refused("-p 1,x", "not a list", "1,2,5-7");
	refused("-p 5-1", "not a list", "1,2,5-7");
	refused("-p 0", "out of range", "from 1 to 4194304");
	refused("-p 1-99999999999999999999", "not a list", "1,2,5-7");
	refused("-a --duratoin 1s", "--duratoin: no such option",
	    "did you mean --duration?");
	refused("-z", "-z: no such option", "--help");
	refused("--qqqqqq=1", "--qqqqqq: no such option", "--help");
	refused("-o", "missing argument", "-o FILE");
	refused("--output", "missing argument", "--output FILE");
	refused("--output=", "empty argument", "leave the option out");
	refused("--all=1", "takes no argument", "=");
	refused("a b c", "too many operands: 'c'", "--help");
	cmd.cm_min = 1;
	refused("-a", "missing FILE", "--help");
	OK("nothing is stored of what is refused, and the reason is said");
	return (0);
}
