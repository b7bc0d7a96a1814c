/* SPDX-License-Identifier: ISC */
/*
 * The recording that a reading command works on: its operand, several of them
 * merged, -i FILE, or dtprof.dtp in this directory, or what import makes one
 * of; and what is to be said of it on standard error.  Called by the commands
 * that read recordings.
 */
#include "../cmd.h"

int
input_check(const char *command, const char *option, int n)
{
	if (option == NULL || n == 0)
		return (0);
	return (msg_error(command, "two input files: one as an operand and one "
	    "with -i", "give only one input file"));
}

struct prof_reader *
input_read(const char *command, const char *path, struct prof_err *error)
{
	struct prof_import *import;
	struct prof_reader *reader;
	const char *note;

	if (prof_store_is_url(path))
		reader = input_store_read(path, &import, error);
	else {
		file_narrow(path);
		reader = prof_reader_open_any(path, &import, error);
	}
	for (size_t n = 0; import != NULL &&
	    (note = prof_import_note(import, n)) != NULL; n++)
		msg_note(command, "%s: %s", path, note);
	prof_import_free(import);
	return (reader);
}

/* Several operands are one recording. */
static struct prof_reader *
merged_read(const char *command, int n, char **operands,
    struct prof_err *error)
{
	struct prof_import *import;
	struct prof_reader *reader;
	const char *note;

	for (int i = 0; i < n; i++)
		file_narrow(operands[i]);
	reader = prof_reader_open_merged((const char *const *)operands,
	    (size_t)n, &import, error);
	for (size_t i = 0; reader != NULL &&
	    (note = prof_import_note(import, i)) != NULL; i++)
		msg_note(command, "%s", note);
	prof_import_free(import);
	return (reader);
}

struct prof_reader *
input_open(const char *command, const char *option, int n, char **operands,
    const char **path)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader;

	*path = option != NULL ? option : n > 0 ? operands[0] :
	    DEFAULT_RECORDING;
	reader = option == NULL && n > 1 ? merged_read(command, n, operands,
	    &error) : input_read(command, *path, &error);
	if (reader == NULL)
		msg_prof(command, &error);
	return (reader);
}

void
input_say_cut(const char *command, const struct prof_reader *reader)
{
	const char *cut = prof_reader_cut(reader);

	if (cut == NULL)
		return;
	if (prof_reader_in_progress(reader))
		msg_note(command, "the recording is %s", cut);
	else
		msg_warning(command, "the recording was cut short: %s", cut);
}

void
input_say_names(const char *command, struct prof_symbols *symbols)
{
	const char *note;

	for (size_t n = 0; symbols != NULL &&
	    (note = prof_symbols_note(symbols, n)) != NULL; n++)
		msg_note(command, "%s", note);
}

void
input_say_limits(const char *command, struct prof_symbols *symbols)
{
	const char *note;

	for (size_t n = 0; symbols != NULL &&
	    (note = prof_symbols_limit(symbols, n)) != NULL; n++)
		msg_note(command, "%s", note);
}
