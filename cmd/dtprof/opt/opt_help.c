/* SPDX-License-Identifier: ISC */
/*
 * What a command says about itself, from its table of options: the usage,
 * which equals the SYNOPSIS of the manual (a test compares them), and
 * --help, with the examples first because they are what people look for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../cmd.h"

#define HELP_COLUMN	27
#define HELP_WIDTH	79
#define EXAMPLE_COLUMN	36
#define USAGE_INDENT	6

static void	 show_example(const char *const *example, struct out *out);
static void	 show_option(const struct opt_row *row, struct out *out);
static void	 show_piece(struct out *out, unsigned *column,
		    const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* What belongs together, on the next line where it does not fit. */
static void
show_piece(struct out *out, unsigned *column, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (*column + 1 + (unsigned)n > HELP_WIDTH) {
		out_fmt(out, "\n%*s", USAGE_INDENT, "");
		*column = USAGE_INDENT;
	} else {
		out_char(out, ' ');
		*column += 1;
	}
	out_str(out, text);
	*column += (unsigned)n;
}

/* Letters without a value in one bracket, then all others as they stand. */
void
opt_usage(const struct prof_cmd *cmd, struct out *out)
{
	const struct opt_row *row;
	char letters[64] = "";
	size_t n = 0;
	unsigned column = 2 + (unsigned)strlen("dtprof ") +
	    (unsigned)strlen(cmd->cm_name);

	out_fmt(out, "dtprof %s", cmd->cm_name);
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		if (row->op_letter != 0 && row->op_arg == NULL &&
		    n < sizeof(letters) - 1)
			letters[n++] = row->op_letter;
	if (n > 0)
		show_piece(out, &column, "[-%s]", letters);
	for (row = cmd->cm_options; row->op_type != OPT_END; row++) {
		if (row->op_letter != 0 && row->op_arg != NULL)
			show_piece(out, &column, "[-%c %s]", row->op_letter,
			    row->op_arg);
		else if (row->op_arg != NULL)
			show_piece(out, &column, "[--%s %s]", row->op_name,
			    row->op_arg);
		else if (row->op_letter == 0)
			show_piece(out, &column, "[--%s]", row->op_name);
	}
	if (cmd->cm_operands[0] != '\0')
		show_piece(out, &column, "%s", cmd->cm_operands);
	out_char(out, '\n');
}

void
out_wrapped(struct out *out, const char *text, unsigned indent,
    unsigned column)
{
	char word[512];
	bool begun = false;

	while (*text != '\0') {
		size_t n = strcspn(text, " ");

		if (begun && column + 1 + n > HELP_WIDTH) {
			out_fmt(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (begun) {
			out_char(out, ' ');
			column++;
		}
		snprintf(word, sizeof(word), "%.*s", (int)n, text);
		out_text(out, word);
		column += (unsigned)n;
		text += n;
		text += strspn(text, " ");
		begun = true;
	}
	out_char(out, '\n');
}

/* The command, and what it does: beside it where that fits, else below. */
static void
show_example(const char *const *example, struct out *out)
{
	size_t used = 2 + strlen(example[0]), column = used + 2;

	if (column < EXAMPLE_COLUMN)
		column = EXAMPLE_COLUMN;
	out_fmt(out, "  %s", example[0]);
	if (column + strlen(example[1]) > HELP_WIDTH)
		out_fmt(out, "\n        %s\n", example[1]);
	else
		out_fmt(out, "%*s%s\n", (int)(column - used), "", example[1]);
}

static void
show_option(const struct opt_row *row, struct out *out)
{
	char left[80], right[512], letter[8] = "    ";
	int n;

	if (row->op_letter != 0)
		snprintf(letter, sizeof(letter), "-%c, ", row->op_letter);
	n = snprintf(left, sizeof(left), "  %s--%s", letter, row->op_name);
	if (row->op_arg != NULL && n > 0 && (size_t)n < sizeof(left))
		n += snprintf(left + n, sizeof(left) - (size_t)n, " %s",
		    row->op_arg);
	out_str(out, left);
	if (n >= HELP_COLUMN - 1)
		out_fmt(out, "\n%*s", HELP_COLUMN, "");
	else
		out_fmt(out, "%*s", HELP_COLUMN - n, "");
	snprintf(right, sizeof(right), row->op_default != NULL ?
	    "%s (default %s)" : "%s", row->op_help, row->op_default);
	out_wrapped(out, right, HELP_COLUMN, HELP_COLUMN);
}

void
opt_help(const struct prof_cmd *cmd, struct out *out)
{
	const char *const *example;
	const struct opt_row *row;

	out_fmt(out, "dtprof %s: %s\n\nexamples:\n", cmd->cm_name,
	    cmd->cm_summary);
	for (example = cmd->cm_examples; *example != NULL; example += 2)
		show_example(example, out);
	out_str(out, "\nusage:\n  ");
	opt_usage(cmd, out);
	if (cmd->cm_notes != NULL) {
		out_char(out, '\n');
		out_wrapped(out, cmd->cm_notes, 0, 0);
	}
	out_str(out, "\noptions:\n");
	for (row = cmd->cm_options; row->op_type != OPT_END; row++)
		show_option(row, out);
	out_str(out, "  -h, --help               print this help\n");
}
