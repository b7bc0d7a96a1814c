/* SPDX-License-Identifier: ISC */
/*
 * An annotated function for programs: as JSON, with the text around what was
 * sampled, and as CSV, a line for each row and event that has samples.
 *
 * Called by cmd_annotate.c.
 */
#include "../ui/emit.h"
#include "annotate.h"

/* Of two recordings, whose figures these are; NULL: there is just one. */
static const char *
side_of(const struct annotate *an, size_t c)
{
	return (an->an_base == NULL ? NULL : c % 2 == 0 ? "base" : "new");
}

static bool
has_figures(const struct an_row *row)
{
	return (row->ar_kind == AN_SOURCE || row->ar_kind == AN_CODE);
}

/* Of an event; all: what share is a share of. */
static void
emit_sum(struct emit *em, const struct an_sum *sum, uint64_t all)
{
	EMIT(em, COUNT("weight", sum->as_weight),
	    SHARE("share", annotate_part(sum, all)),
	    COUNT("samples", sum->as_samples));
}

static void
emit_event(const struct annotate *an, size_t c, struct emit *em)
{
	EMIT(em, TEXT("event", an->an_column[c].ac_info->pi_name));
	if (em->em_is_csv)
		EMIT(em, TEXT("unit", an->an_column[c].ac_info->pi_unit));
	EMIT(em, GIVEN("recording", side_of(an, c)));
}

/* What it is about; in CSV each row stands there once for each event. */
static void
emit_names(const struct an_row *row, const char *file, struct emit *em)
{
	const bool is_code = row->ar_kind == AN_CODE;

	EMIT(em, TEXT("kind", is_code ? "code" : "source"));
	if (!em->em_is_csv)
		EMIT(em, FLAG("hot", row->ar_is_hot));
	if (em->em_is_csv)
		EMIT(em, TEXT("file", file));
	if (is_code && em->em_is_csv)
		EMIT(em, HEX("address", row->ar_number));
	else if (is_code || row->ar_number > 0)
		EMIT(em, COUNT(is_code ? "address" : "line", row->ar_number));
	if (!em->em_is_csv)
		EMIT(em, GIVEN(is_code ? "module" : "file", file));
	EMIT(em, GIVEN("text", row->ar_text),
	    GIVEN("inlined_at", row->ar_chain));
}

static void
emit_row(const struct annotate *an, const struct an_row *row,
    const char *file, struct emit *em)
{
	const struct an_sum *sum;

	if (!em->em_is_csv) {
		emit_object(em, NULL);
		emit_names(row, file, em);
		emit_list(em, "events");
	}
	for (size_t c = 0; c < an->an_ncolumns; c++) {
		if ((sum = annotate_sum_of(an, row, c)) == NULL)
			continue;
		emit_object(em, NULL);
		if (em->em_is_csv)
			emit_names(row, file, em);
		emit_event(an, c, em);
		emit_sum(em, sum, an->an_column[c].ac_sum.as_weight);
		emit_close(em);
	}
	if (!em->em_is_csv) {
		emit_close(em);
		emit_close(em);
	}
}

static void
emit_table(const struct annotate *an, struct emit *em)
{
	const char *file = "";

	for (size_t i = 0; i < an->an_nrows; i++) {
		if (an->an_row[i].ar_kind == AN_FILE)
			file = an->an_row[i].ar_text;
		else if (has_figures(&an->an_row[i]))
			emit_row(an, &an->an_row[i], file, em);
	}
}

void
annotate_csv(const struct annotate *an, struct out *out)
{
	static const char *const columns[] = { "kind", "file", "line",
	    "address", "text", "inlined_at", "event", "unit", "recording",
	    "weight", "share", "samples", NULL };
	struct emit em;

	emit_csv(&em, out, columns, "\r\n");
	emit_head(&em);
	emit_table(an, &em);
}

static void
emit_column_info(const struct annotate *an, size_t c, struct emit *em)
{
	const struct an_column *column = &an->an_column[c];
	struct prof_quality quality;

	prof_profile_quality(annotate_side(an, c)->an_profile,
	    column->ac_event, &quality);
	emit_object(em, NULL);
	emit_event(an, c, em);
	EMIT(em, TEXT("unit", column->ac_info->pi_unit));
	emit_sum(em, &column->ac_sum, column->ac_all);
	EMIT(em, FLAG("is_bad", quality.pq_is_bad),
	    TEXT("quality", quality.pq_text));
	emit_close(em);
}

void
annotate_json(const struct annotate *an, struct out *out)
{
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA),
	    TEXT("function", an->an_function->fu_name),
	    TEXT("module", an->an_function->fu_module),
	    COUNT("address", an->an_function->fu_address));
	emit_rows(&em, "events");
	for (size_t c = 0; c < an->an_ncolumns; c++)
		emit_column_info(an, c, &em);
	emit_close(&em);
	emit_rows(&em, "rows");
	emit_table(an, &em);
	emit_close(&em);
	emit_rows(&em, "notes");
	for (size_t i = 0; i < an->an_nrows; i++)
		if (an->an_row[i].ar_kind == AN_NOTE)
			EMIT(&em, TEXT(NULL, an->an_row[i].ar_text));
	emit_end(&em);
}
