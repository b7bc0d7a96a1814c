/* SPDX-License-Identifier: ISC */
/*
 * The reader of recordings: opening, what a recording says about itself,
 * accounting, and the merge of samples with process events.  Nothing
 * of the file is believed: what is decoded is bounded by the bytes that are
 * there (format.c), and what is kept by a budget.
 *
 * Finding chunks is scan.c, decoding those that are kept is keep.c, samples
 * are decode.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "confine/reading.h"
#include "reader.h"

#define BUDGET_FIRST	(48u << 20)
#define BUDGET_PER_BYTE	64
/* Process events: a small file holds few, and a large one is not all. */
#define LIFE_FIRST	(24u << 20)
#define LIFE_PER_BYTE	32
#define LIFE_MANY	(240u << 20)
#define LIFE_MANY_PER_BYTE 4

static struct prof_reader *reader_new(void);
static int	reader_load(struct prof_reader *, const char *,
		    struct prof_err *);
static int	reader_begin(struct prof_reader *, const char *,
		    struct prof_err *);
static int	reader_header(struct prof_reader *, const char *);
static int	reader_foreign(struct prof_reader *, const char *,
		    const uint8_t *, size_t);

/* ----------------------------------------------------- kept memory */

bool
prof_reader_charge(struct prof_reader *reader, size_t bytes)
{
	if (bytes > reader->rd_budget) {
		prof_reader_exceeded(&reader->rd_error);
		return (false);
	}
	reader->rd_budget -= bytes;
	return (true);
}

int
prof_reader_exceeded(struct prof_err *error)
{
	return (prof_fail(error, PROF_E_DAMAGED,
	    "the recording claims more data than a recording of its size can "
	    "hold"));
}

void *
prof_array_extend(struct prof_reader *reader, struct prof_array *array,
    size_t size, size_t count)
{
	size_t cap = array->ar_cap;
	void *items;

	if (count <= array->ar_cap - array->ar_count)
		goto out;
	if (cap == 0)
		cap = 16;
	while (cap - array->ar_count < count)
		cap += cap / 2;
	if (!prof_reader_charge(reader, (cap - array->ar_cap) * size))
		return (NULL);
	items = reallocarray(array->ar_items, cap, size);
	if (items == NULL) {
		prof_fail_nomem(&reader->rd_error);
		return (NULL);
	}
	array->ar_items = items;
	array->ar_cap = cap;
out:
	items = (char *)array->ar_items + array->ar_count * size;
	array->ar_count += count;
	return (items);
}

void *
prof_array_add(struct prof_reader *reader, struct prof_array *array,
    size_t size)
{
	void *item = prof_array_extend(reader, array, size, 1);

	if (item != NULL)
		memset(item, 0, size);
	return (item);
}

const char *
prof_reader_text(struct prof_reader *reader, const char *text)
{
	char **slot;

	if (!prof_reader_charge(reader, strlen(text) + 1))
		return (NULL);
	slot = prof_array_add(reader, &reader->rd_texts, sizeof(*slot));
	if (slot == NULL)
		return (NULL);
	*slot = strdup(text);
	if (*slot == NULL)
		prof_fail_nomem(&reader->rd_error);
	return (*slot);
}

/* -------------------------------------------------- open and close */

static struct prof_reader *
reader_new(void)
{
	struct prof_reader *reader;

	reader = calloc(1, sizeof(*reader));
	if (reader == NULL)
		return (NULL);
	prof_source_memory(&reader->rd_source, NULL, 0);
	reader->rd_inflate.if_zstd = ZSTD_createDCtx();
	if (reader->rd_inflate.if_zstd == NULL) {
		free(reader);
		return (NULL);
	}
	return (reader);
}

struct prof_reader *
prof_reader_open(const char *path, struct prof_err *error)
{
	struct prof_reader *reader = reader_new();

	if (reader == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (reader_load(reader, path, error) == -1 ||
	    reader_begin(reader, path, error) == -1) {
		prof_reader_close(reader);
		return (NULL);
	}
	return (reader);
}

struct prof_reader *
prof_reader_open_memory(const void *bytes, size_t length,
    struct prof_err *error)
{
	struct prof_reader *reader = reader_new();

	if (reader == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	prof_source_memory(&reader->rd_source, bytes, length);
	if (reader_begin(reader, "recording", error) == -1) {
		prof_reader_close(reader);
		return (NULL);
	}
	return (reader);
}

struct prof_reader *
prof_reader_open_source(struct prof_source *source, const char *path,
    struct prof_err *error)
{
	struct prof_reader *reader = reader_new();

	if (reader == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	reader->rd_source = *source;
	prof_source_memory(source, NULL, 0);
	if (reader_begin(reader, path, error) == 0)
		return (reader);
	prof_reader_close(reader);
	return (NULL);
}

static int
reader_explain(struct prof_err *error, const char *path, int error_number)
{
	if (error_number == EACCES || error_number == EPERM) {
		prof_fail(error, PROF_E_PERMISSION, "%s: not readable",
		    path);
		return (prof_cure(error, "run as the user who owns the "
		    "recording"));
	}
	if (error_number == EISDIR)
		return (prof_fail(error, PROF_E_FORMAT, "%s: is a directory",
		    path));
	if (error_number == ENOENT || error_number == ENOTDIR) {
		prof_fail(error, PROF_E_IO, "%s: no such file",
		    path);
		return (prof_cure(error, "create a recording with dtprof "
		    "record"));
	}
	return (prof_fail(error, PROF_E_IO, "%s: %s", path,
	    strerror(error_number)));
}

static int
reader_load(struct prof_reader *reader, const char *path,
    struct prof_err *error)
{
	int fd = prof_reading_open(path, 0), error_number;

	if (fd == -1)
		return (reader_explain(error, path, errno));
	error_number = prof_source_open(&reader->rd_source, fd);
	(void)close(fd);
	return (error_number == 0 ? 0 :
	    reader_explain(error, path, error_number));
}

/* Bytes for what is kept of a file of this length. */
static void
reader_budgets(struct prof_reader *reader)
{
	const size_t length = reader->rd_source.so_length;
	size_t few, many;

	if (length >= SIZE_MAX / (2 * BUDGET_PER_BYTE)) {
		reader->rd_budget = reader->rd_life_budget = SIZE_MAX;
		return;
	}
	reader->rd_budget = BUDGET_FIRST + BUDGET_PER_BYTE * length;
	few = LIFE_FIRST + LIFE_PER_BYTE * length;
	many = LIFE_MANY + LIFE_MANY_PER_BYTE * length;
	reader->rd_life_budget = few < many ? few : many;
}

static int
reader_begin(struct prof_reader *reader, const char *path,
    struct prof_err *error)
{
	struct prof_err why;

	reader_budgets(reader);
	if (reader_header(reader, path) == 0) {
		if (prof_scan(reader) == 0 &&
		    prof_keep_done(reader) == 0 &&
		    prof_keep_calls(reader) == 0)
			return (prof_reader_rewind(reader));
		why = reader->rd_error;
		prof_fail(&reader->rd_error, (enum prof_code)why.pe_code,
		    "%s: %.400s", path, why.pe_text);
	}
	if (error != NULL)
		*error = reader->rd_error;
	return (-1);
}

static int
reader_header(struct prof_reader *reader, const char *path)
{
	size_t length = reader->rd_source.so_length < PROF_FILE_HEADER ?
	    reader->rd_source.so_length : PROF_FILE_HEADER;
	const uint8_t *at = prof_source_at(&reader->rd_source, 0, length,
	    &reader->rd_stored);
	struct prof_err *error = &reader->rd_error;

	if (at == NULL)
		return (prof_fail(error, PROF_E_IO, "cannot read %s",
		    path));
	if (length < PROF_FILE_MAGIC_LEN ||
	    memcmp(at, PROF_FILE_MAGIC, PROF_FILE_MAGIC_LEN) != 0)
		return (reader_foreign(reader, path, at, length));
	if (length < PROF_FILE_HEADER)
		return (prof_fail(error, PROF_E_DAMAGED,
		    "%s: truncated header", path));
	if (prof_get_le(at + 12, 4) != PROF_FILE_ORDER)
		return (prof_fail(error, PROF_E_FORMAT,
		    "%s: unknown byte order", path));
	if (prof_get_le(at + 8, 2) > PROF_FILE_MAJOR) {
		prof_fail(error, PROF_E_NEWER, "%s: format %u.%u is newer than "
		    "this version of dtprof, which reads formats up to %u",
		    path,
		    (unsigned)prof_get_le(at + 8, 2),
		    (unsigned)prof_get_le(at + 10, 2), PROF_FILE_MAJOR);
		return (-1);
	}
	if (prof_get_le(at + 16, 4) < PROF_FILE_HEADER ||
	    prof_get_le(at + 16, 4) > reader->rd_source.so_length)
		return (prof_fail(error, PROF_E_DAMAGED,
		    "%s: damaged header", path));
	reader->rd_scan_at = prof_get_le(at + 16, 4);
	return (0);
}

/* Not ours: say whose it is, where that is plain to see. */
static int
reader_foreign(struct prof_reader *reader, const char *path,
    const uint8_t *at, size_t length)
{
	static const struct {
		const char	*ff_magic;
		unsigned	 ff_len;
		const char	*ff_what;
		const char	*ff_cure;
	} files[] = {
		{ "PERFILE2", 8, "is a perf recording",
		    "convert the file: dtprof import -o OUT.dtp FILE" },
		{ "2ELIFREP", 8, "is a perf recording from a machine with a "
		    "different byte order",
		    "use perf script -i FILE | dtprof import -" },
		{ "\x7f" "ELF", 4, "is a program or library, not a dtprof "
		    "recording", "record the program: dtprof record -- "
		    "COMMAND" },
		{ "\x1f\x8b", 2, "is compressed by gzip", "gunzip it first" },
		{ "\x28\xb5\x2f\xfd", 4, "is compressed by zstd",
		    "unzstd it first" },
		{ "\xfd" "7zXZ", 5, "is compressed by xz", "unxz it first" },
	};
	struct prof_err *error = &reader->rd_error;
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (length < files[i].ff_len ||
		    memcmp(at, files[i].ff_magic, files[i].ff_len) != 0)
			continue;
		prof_fail(error, PROF_E_FORMAT, "%s: %s", path,
		    files[i].ff_what);
		return (prof_cure(error, "%s", files[i].ff_cure));
	}
	if (length == 0)
		return (prof_fail(error, PROF_E_FORMAT, "%s: is empty",
		    path));
	if (length < PROF_FILE_MAGIC_LEN &&
	    memcmp(at, PROF_FILE_MAGIC, length) == 0)
		return (prof_fail(error, PROF_E_DAMAGED,
		    "%s: truncated header", path));
	return (prof_fail(error, PROF_E_FORMAT,
	    "%s: is not a dtprof recording", path));
}

static void
reader_free(struct prof_reader *reader)
{
	struct prof_array *arrays[] = {
		&reader->rd_texts, &reader->rd_pairs, &reader->rd_rows,
		&reader->rd_tallies, &reader->rd_cpus, &reader->rd_life_records,
		&reader->rd_life_bytes, &reader->rd_strings,
		&reader->rd_places, &reader->rd_nodes, &reader->rd_leaves,
		&reader->rd_segments, &reader->rd_samples,
		&reader->rd_symbols
	};
	size_t i;

	for (i = 0; i < reader->rd_texts.ar_count; i++)
		free(((char **)reader->rd_texts.ar_items)[i]);
	for (i = 0; i < reader->rd_symbols.ar_count; i++)
		free(((struct prof_kept *)
		    reader->rd_symbols.ar_items)[i].kp_bytes);
	for (i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		free(arrays[i]->ar_items);
	for (i = 0; i < reader->rd_nevents; i++)
		if (reader->rd_events[i] != &reader->rd_unknown)
			free(reader->rd_events[i]);
	prof_keep_calls_free(reader);
	prof_dict_free(&reader->rd_by_string);
	prof_dict_free(&reader->rd_by_key);
	free(reader->rd_cut);
	free(reader->rd_events);
	free(reader->rd_place);
	free(reader->rd_frames);
	free(reader->rd_twin);
	prof_decoder_free(reader->rd_decoder);
	prof_inflate_free(&reader->rd_inflate);
	prof_buf_free(&reader->rd_stored);
	prof_source_close(&reader->rd_source);
	free(reader);
}

void
prof_reader_close(struct prof_reader *reader)
{
	if (reader != NULL)
		reader_free(reader);
}
