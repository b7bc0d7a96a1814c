/* SPDX-License-Identifier: ISC */
/*
 * Other tools' files made into recordings: the public calls, and what the
 * readers of the formats have in common.  A file is read whole; what
 * comes out goes through the same writer as a session's records, so
 * everything that reads recordings reads these.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/grow.h"
#include "confine/reading.h"
#include "import.h"
#include "merge.h"
#include "recording/write.h"
#include "store/client.h"

/* -------------------------------------------------- what readers call */

int
prof_import_say(struct prof_import *import, const char *fmt, ...)
{
	char **note = prof_append(&import->im_notes, &import->im_nnotes,
	    sizeof(*note));
	va_list ap;
	int n;

	if (note == NULL)
		return (prof_fail_nomem(&import->im_error));
	va_start(ap, fmt);
	n = vasprintf(note, fmt, ap);
	va_end(ap);
	if (n != -1)
		return (0);
	import->im_nnotes--;
	return (prof_fail_nomem(&import->im_error));
}

int
prof_import_info(struct prof_import *import, const char *key,
    const char *value)
{
	return (prof_sink_info(&import->im_sink, key, value));
}

int
prof_import_event(struct prof_import *import,
    const struct prof_event_info *info)
{
	return (prof_sink_event(&import->im_sink, info));
}

int
prof_import_add(struct prof_import *import, const struct prof_record *record)
{
	import->im_samples += record->pr_type == PROF_R_SAMPLE;
	return (prof_sink_record(&import->im_sink, record));
}

int
prof_import_repeat(struct prof_import *import, struct prof_record *record,
    uint64_t n, struct prof_accounting *sum, uint64_t *time_ns)
{
	sum->pa_fired += n;
	sum->pa_weight += n * record->pr_weight;
	sum->pa_ustack[record->pr_ustatus] += n;
	import->im_samples += n;
	for (uint64_t i = 0; i < n; i++) {
		record->pr_time_ns = ++*time_ns;
		if ((i == 0 ? prof_sink_record : prof_sink_again)(
		    &import->im_sink, record) == -1)
			return (-1);
	}
	return (0);
}

int
prof_import_symbols(struct prof_import *import, const void *body,
    size_t len)
{
	return (prof_sink_symbols(&import->im_sink, body, len));
}

int
prof_import_accounting(struct prof_import *import,
    const struct prof_accounting *accounting, size_t n)
{
	char key[32];
	size_t i;

	for (i = 0; i < import->im_nnotes; i++) {
		(void)snprintf(key, sizeof(key), "note.%zu", i);
		if (prof_import_info(import, key, import->im_notes[i]) == -1)
			return (-1);
	}
	return (prof_sink_end(&import->im_sink, accounting, n));
}

/* ----------------------------------------------------------- reading */

/* When it was: what comes by a pipe is written until now, at the latest. */
static uint64_t
written_ns(int fd)
{
	struct timespec ts;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		ts = st.st_mtim;
	else if (clock_gettime(CLOCK_REALTIME, &ts) == -1)
		return (0);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static int
open_source(struct prof_import *import, const char *path)
{
	const bool is_stdin = strcmp(path, "-") == 0;
	struct prof_source *source = &import->im_source;
	int fd, error_number;

	prof_source_memory(source, NULL, 0);
	fd = is_stdin ? STDIN_FILENO : prof_reading_open(path, 0);
	error_number = fd == -1 ? errno : is_stdin ?
	    prof_source_stream(source, fd) : prof_source_open(source, fd);
	if (fd != -1)
		import->im_written_ns = written_ns(fd);
	if (fd != -1 && !is_stdin)
		(void)close(fd);
	if (error_number == EISDIR) {
		prof_fail(&import->im_error, PROF_E_FORMAT,
		    "%s: is a directory", path);
		return (prof_cure(&import->im_error, "perf record --threads "
		    "writes a directory: record without --threads"));
	}
	return (error_number == 0 ? 0 : prof_fail(&import->im_error,
	    PROF_E_IO, "%s: %s", path, strerror(error_number)));
}

/*
 * All of it: the formats are read in more than one order.  It is read once, so
 * what was checked cannot change afterwards, and cutting it does not kill us.
 */
static int
input_load(struct prof_import *import, const char *path)
{
	struct prof_source *source = &import->im_source;
	const int error_number = prof_source_whole(source);

	import->im_bytes = source->so_bytes;
	import->im_length = source->so_length;
	return (error_number == 0 ? 0 : prof_fail(&import->im_error,
	    PROF_E_IO, "%s: %s", path, strerror(error_number)));
}

static void
input_unload(struct prof_import *import)
{
	prof_source_close(&import->im_source);
	import->im_bytes = NULL;
}

/* ------------------------------------------------------- public calls */

static bool
has_magic(const uint8_t *bytes, size_t length)
{
	return (length >= PROF_FILE_MAGIC_LEN && memcmp(bytes,
	    PROF_FILE_MAGIC, PROF_FILE_MAGIC_LEN) == 0);
}

static int
refuse_recording(struct prof_import *import)
{
	prof_fail(&import->im_error, PROF_E_FORMAT, "already a recording");
	return (prof_cure(&import->im_error, "open the recording with dtprof "
	    "report, without import"));
}

/* The writer's own failure says more than that adding failed. */
static int
convert_by(struct prof_import *import, struct prof_writer *writer)
{
	int rv;

	import->im_sink = prof_writer_sink(writer);
	if (import->im_inputs != NULL)
		rv = prof_import_merge(import);
	else if (has_magic(import->im_bytes, import->im_length))
		rv = refuse_recording(import);
	else if (prof_import_is_store(import->im_bytes, import->im_length))
		rv = prof_import_store(import);
	else if (prof_import_is_perf(import->im_bytes, import->im_length))
		rv = prof_import_perf(import);
	else if (prof_import_is_pprof(import->im_bytes, import->im_length))
		rv = prof_import_pprof(import);
	else if (prof_import_is_perf_script(import->im_bytes,
	    import->im_length))
		rv = prof_import_perf_script(import);
	else
		rv = prof_import_folded(import);
	if (rv == 0)
		return (prof_writer_close(writer, &import->im_error));
	if (import->im_error.pe_code == PROF_OK)
		import->im_error = *prof_writer_error(writer);
	prof_writer_discard(writer);
	return (-1);
}

/* Where we may not write, in memory first. */
static int
input_convert(struct prof_import *import,
    const struct prof_import_options *options)
{
	const char *path = options->im_output;
	const bool in_memory = path == NULL || prof_reading_is_confined();
	struct prof_writer *writer;

	if (in_memory) {
		import->im_memory = memfd_create("import", MFD_CLOEXEC);
		if (import->im_memory == -1)
			return (prof_fail(&import->im_error, PROF_E_IO,
			    "cannot create a memory file: %s",
			    strerror(errno)));
	}
	writer = in_memory ? prof_writer_open_memory(import->im_memory,
	    &import->im_error) : prof_writer_open(path, &import->im_error);
	if (writer == NULL || convert_by(import, writer) == -1)
		return (-1);
	return (in_memory && path != NULL ? prof_reading_recording(path,
	    import->im_memory, &import->im_error) : 0);
}

static struct prof_import *
import_new(struct prof_err *error)
{
	struct prof_import *import = calloc(1, sizeof(*import));

	if (import == NULL)
		prof_fail_nomem(error);
	else
		import->im_memory = -1;
	return (import);
}

struct prof_import *
prof_import_new(const struct prof_import_options *given,
    struct prof_err *error)
{
	struct prof_import *import = import_new(error);
	struct prof_import_options options = { 0 };
	int rv;

	if (import == NULL)
		return (NULL);
	if (prof_options_take(&options, sizeof(options), given,
	    "prof_import_options", error) == -1) {
		free(import);
		return (NULL);
	}
	rv = open_source(import, options.im_input);
	if (rv == 0)
		rv = input_load(import, options.im_input);
	if (rv == 0)
		rv = input_convert(import, &options);
	input_unload(import);
	if (rv == 0)
		return (import);
	if (error != NULL)
		*error = import->im_error;
	prof_import_free(import);
	return (NULL);
}

/* -------------------------------------------------------- without a file */

/* Another tool's?  What is none of these may be a damaged recording. */
static bool
is_foreign(const struct prof_import *import)
{
	static bool (*const is[])(const uint8_t *, size_t) = {
		prof_import_is_store, prof_import_is_perf,
		prof_import_is_pprof,
		prof_import_is_perf_script, prof_import_is_folded
	};

	for (size_t n = 0; n < sizeof(is) / sizeof(is[0]); n++)
		if (is[n](import->im_bytes, import->im_length))
			return (true);
	return (false);
}

static bool
is_recording(const struct prof_source *source)
{
	struct prof_buf buf = { 0 };
	const uint8_t *bytes = prof_source_at(source, 0,
	    PROF_FILE_MAGIC_LEN, &buf);
	const bool is_it = bytes != NULL &&
	    has_magic(bytes, PROF_FILE_MAGIC_LEN);

	prof_buf_free(&buf);
	return (is_it);
}

/* Converted into a file of memory, and that read. */
static int
convert_in_memory(struct prof_import *import, const char *path,
    struct prof_source *memory)
{
	const struct prof_import_options options = {
		.im_size = sizeof(options), .im_input = path,
	};
	int error_number;

	if (input_convert(import, &options) == -1)
		return (-1);
	error_number = prof_source_open(memory, import->im_memory);
	return (error_number == 0 ? 0 : prof_fail(&import->im_error,
	    PROF_E_IO, "cannot create a memory file: %s",
	    strerror(error_number)));
}

/* *source: the recording, ready to be read, and whether it was made of it. */
static int
find_recording(struct prof_import *import, const char *path,
    struct prof_source *source, bool *is_made)
{
	*is_made = false;
	if (!is_recording(&import->im_source)) {
		if (input_load(import, path) == -1)
			return (-1);
		*is_made = is_foreign(import);
	}
	if (*is_made)
		return (convert_in_memory(import, path, source));
	*source = import->im_source;
	prof_source_memory(&import->im_source, NULL, 0);
	return (0);
}

/* Of a source that is open. */
static struct prof_reader *
reader_of(struct prof_import *import, const char *path,
    struct prof_import **made, struct prof_err *error)
{
	struct prof_reader *reader = NULL;
	struct prof_source source;
	bool is_made = false;

	if (find_recording(import, path, &source, &is_made) == 0)
		reader = prof_reader_open_source(&source, path, error);
	else if (error != NULL)
		*error = import->im_error;
	input_unload(import);
	if (reader != NULL && is_made)
		*made = import;
	else
		prof_import_free(import);
	return (reader);
}

struct prof_reader *
prof_reader_open_any(const char *path, struct prof_import **made,
    struct prof_err *error)
{
	struct prof_import *import = import_new(error);

	*made = NULL;
	if (import == NULL)
		return (NULL);
	if (open_source(import, path) == -1) {
		prof_import_free(import);
		/* It says best what a recording's file lacks. */
		return (prof_reader_open(path, error));
	}
	return (reader_of(import, path, made, error));
}

struct prof_reader *
prof_reader_open_answers(int fd, const char *name, struct prof_import **made,
    struct prof_err *error)
{
	struct prof_import *import = import_new(error);
	int error_number;

	*made = NULL;
	if (import == NULL)
		return (NULL);
	prof_source_memory(&import->im_source, NULL, 0);
	error_number = prof_source_open(&import->im_source, fd);
	if (error_number == 0)
		return (reader_of(import, name, made, error));
	prof_import_free(import);
	prof_fail(error, PROF_E_IO, "%s: %s", name, strerror(error_number));
	return (NULL);
}

/* ----------------------------------------------------- several as one */

struct prof_import *
prof_merge_new(const char *const *inputs, size_t n, const char *output,
    struct prof_err *error)
{
	const struct prof_import_options options = {
		.im_size = sizeof(options), .im_output = output,
	};
	struct prof_import *import = import_new(error);

	if (import == NULL)
		return (NULL);
	import->im_inputs = inputs;
	import->im_ninputs = n;
	prof_source_memory(&import->im_source, NULL, 0);
	if (input_convert(import, &options) == 0)
		return (import);
	*error = import->im_error;
	prof_import_free(import);
	return (NULL);
}

struct prof_reader *
prof_reader_open_merged(const char *const *inputs, size_t n,
    struct prof_import **made, struct prof_err *error)
{
	struct prof_reader *reader = NULL;
	struct prof_source source;
	int error_number;

	*made = prof_merge_new(inputs, n, NULL, error);
	if (*made == NULL)
		return (NULL);
	error_number = prof_source_open(&source, (*made)->im_memory);
	if (error_number != 0)
		prof_fail(error, PROF_E_IO, "cannot create a memory file: %s",
		    strerror(error_number));
	else
		reader = prof_reader_open_source(&source, inputs[0], error);
	if (reader == NULL) {
		prof_import_free(*made);
		*made = NULL;
	}
	return (reader);
}

uint64_t
prof_import_samples(const struct prof_import *import)
{
	return (import->im_samples);
}

const char *
prof_import_note(const struct prof_import *import, size_t n)
{
	return (n < import->im_nnotes ? import->im_notes[n] : NULL);
}

void
prof_import_free(struct prof_import *import)
{
	if (import == NULL)
		return;
	while (import->im_nnotes > 0)
		free(import->im_notes[--import->im_nnotes]);
	free(import->im_notes);
	if (import->im_memory != -1)
		(void)close(import->im_memory);
	free(import);
}
