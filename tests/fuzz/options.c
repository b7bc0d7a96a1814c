/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: whatever the arguments (one a line of the input), they are
 * parsed to values within their ranges, or refused as a whole with a sentence
 * and a cure; and what is printed of them obeys no terminal.
 */
#include <stdlib.h>
#include <string.h>

#include "../../cmd/dtprof/ui/msg.c"
#include "../../cmd/dtprof/opt/habits.c"
#include "../../cmd/dtprof/opt/opt.c"
#include "../../cmd/dtprof/opt/opt_value.c"
#include "../../cmd/dtprof/ui/out.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
	bool		 va_flag;
	const char	*va_text;
	struct opt_strings va_texts;
	struct opt_number va_count;
	struct opt_number va_size;
	struct opt_number va_time;
	struct opt_number va_percent;
	struct opt_ids	 va_ids;
	int		 va_choice;
	unsigned	 va_set;
};

#define VA(member)	offsetof(struct values, member)

static const struct opt_row rows[] = {
	{ 'a', "all", NULL, OPT_FLAG, 0, 0, NULL, "x", VA(va_flag), NULL },
	{ 'b', "buffer", "SIZE", OPT_SIZE, 65536, 1 << 30, "16M", "x",
	    VA(va_size), NULL },
	{ 'c', "choice", "C", OPT_CHOICE, 0, 0, "two", "x", VA(va_choice),
	    "one,two,three" },
	{ 'd', "duration", "T", OPT_TIME, 1000000, 1000000000000ULL, NULL,
	    "x", VA(va_time), NULL },
	{ 'e', "event", "E", OPT_STRINGS, 0, 0, NULL, "x", VA(va_texts),
	    NULL },
	{ 'F', "freq", "HZ", OPT_COUNT, 1, 1000, "999", "x", VA(va_count),
	    "max" },
	{ 'l', "max-loss", "PCT", OPT_PERCENT, 0, 100000, NULL, "x",
	    VA(va_percent), NULL },
	{ 'o', "output", "FILE", OPT_STRING, 0, 0, "x.dtp", "x", VA(va_text),
	    NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, 4194304, NULL, "x", VA(va_ids),
	    NULL },
	{ 's', "show", "S", OPT_SET, 0, 0, "a,c", "x", VA(va_set), "a,b,c" },
	{ .op_type = OPT_END }
};

static void
check_number(const struct opt_number *number, const struct opt_row *row)
{
	if (number->on_set && (number->on_value < row->op_min ||
	    number->on_value > row->op_max) &&
	    (row->op_words == NULL || number->on_value != UINT64_MAX))
		abort();
}

static void
check_values(const struct values *values)
{
	check_number(&values->va_size, &rows[1]);
	check_number(&values->va_time, &rows[3]);
	check_number(&values->va_count, &rows[5]);
	check_number(&values->va_percent, &rows[6]);
	for (size_t n = 0; n < values->va_ids.oi_n; n++)
		if (values->va_ids.oi_id[n] < 1 ||
		    values->va_ids.oi_id[n] > 4194304)
			abort();
	if (values->va_choice < 0 || values->va_choice > 2 ||
	    values->va_set == 0 || values->va_set > 7 ||
	    values->va_text == NULL || values->va_text[0] == '\0')
		abort();
}

static void
check_split(const struct values *values)
{
	for (size_t n = 0; n < values->va_texts.os_n; n++) {
		struct opt_strings parts = { 0 };
		size_t length = 0;

		if (opt_split_events(values->va_texts.os_text[n], &parts) ==
		    -1 || parts.os_n == 0)
			abort();
		for (size_t i = 0; i < parts.os_n; i++) {
			length += strlen(parts.os_text[i]) + 1;
			free((char *)(uintptr_t)parts.os_text[i]);
		}
		if (length != strlen(values->va_texts.os_text[n]) + 1)
			abort();
		free(parts.os_text);
	}
}

static void
check_printed(const char *text)
{
	static struct out out;

	for (int json = 0; json < 2; json++) {
		out_init(&out, -1);
		(json ? out_json : out_text)(&out, text);
		for (size_t n = 0; n < out.ou_n; n++)
			if ((unsigned char)out.ou_buf[n] < 0x20 ||
			    out.ou_buf[n] == 0x7f)
				abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct values none;
	const struct prof_cmd cmd = { .cm_name = "test", .cm_operands = "X",
	    .cm_options = rows, .cm_size = sizeof(struct values),
	    .cm_max = size % 2 ? -1 : 2, .cm_stop_early = size % 3 == 0 };
	char *text = malloc(size + 1), *argv[34], program[] = "test";
	struct opt_error error;
	struct values values;
	int argc = 1, first;

	if (text == NULL || size > 4096) {
		free(text);
		return (0);
	}
	memcpy(text, data, size);
	text[size] = '\0';
	check_printed(text);
	argv[0] = program;
	for (char *p = text; p != NULL && argc < 33; )
		argv[argc++] = strsep(&p, "\n");
	argv[argc] = NULL;
	first = opt_parse(&cmd, argc, argv, &values, &error);
	if (first > argc || first == 0 || first < -2)
		abort();
	if (first < 0 && memcmp(&values, &none, sizeof(none)) != 0)
		abort();
	if (first == -1 && (error.oe_text[0] == '\0' ||
	    error.oe_cure[0] == '\0' || strchr(error.oe_text, '\n') != NULL))
		abort();
	if (first > 0) {
		check_values(&values);
		check_split(&values);
		opt_free(&cmd, &values);
	}
	free(text);
	return (0);
}
