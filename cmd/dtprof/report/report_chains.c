/* SPDX-License-Identifier: ISC */
/*
 * report --by waker-chain: how long threads waited, who ended these waits, and
 * who ended the waits of those.
 *
 * Called by cmd_report.c.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/table.h"
#include "report.h"

/* In JSON; and what text has in place of a thread that is not there. */
static const char *const ends[PROF_CHAIN_NENDS] = {
	[PROF_CHAIN_HARDIRQ] = "hardirq",
	[PROF_CHAIN_SOFTIRQ] = "softirq",
	[PROF_CHAIN_IDLE] = "idle",
	[PROF_CHAIN_NO_WAIT] = "no wait",
	[PROF_CHAIN_NOT_RECORDED] = "not recorded",
	[PROF_CHAIN_UNKNOWN] = "unknown",
	[PROF_CHAIN_LIMIT] = "limit",
};

struct shown {
	const struct prof_chains *sw_chains;
	uint64_t	 sw_total_ns;
	size_t		 sw_nrows;	/* within --limit */
};

bool
report_is_chains(const struct report_by *by)
{
	return (by->rb_set == BY_ARGS && by->rb_nargs == 1 &&
	    strcmp(by->rb_arg[0], "waker-chain") == 0);
}

/* "client (futex) <- server (read) <- hardirq"; owned by caller. */
static char *
chain_text(const struct prof_chain *chain)
{
	const struct prof_chain_link *link;
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		return (NULL);
	for (size_t n = 0; n < chain->ca_nlinks; n++) {
		link = &chain->ca_link[n];
		fprintf(stream, "%s%s", n > 0 ? " <- " : "", link->cl_thread);
		if (link->cl_reason != NULL)
			fprintf(stream, " (%s)", link->cl_reason);
	}
	if (chain->ca_end == PROF_CHAIN_NOT_RECORDED)
		fprintf(stream, " (%s)", ends[chain->ca_end]);
	else if (chain->ca_end != PROF_CHAIN_NO_WAIT)
		fprintf(stream, " <- %s", ends[chain->ca_end]);
	if (fclose(stream) == 0)
		return (text);
	free(text);
	return (NULL);
}

static void
chain_row(struct table *tb, const void *arg, size_t n)
{
	const struct shown *shown = arg;
	const struct prof_chain *chain = prof_chains_at(shown->sw_chains, n);
	char *text = chain_text(chain), ns[32];

	table_cell(tb, "%.2f", shown->sw_total_ns == 0 ? 0 : 100 *
	    (double)chain->ca_ns / (double)shown->sw_total_ns);
	weight_time(ns, sizeof(ns), chain->ca_ns);
	table_cell(tb, "%s", ns);
	table_cell(tb, "%" PRIu64, chain->ca_waits);
	weight_time(ns, sizeof(ns), chain->ca_ns / chain->ca_waits);
	table_cell(tb, "%s", ns);
	weight_time(ns, sizeof(ns), chain->ca_longest_ns);
	table_cell(tb, "%s", ns);
	if (text != NULL)
		table_text(tb, text);
	free(text);
}

static void
chains_text(const void *arg, struct out *out, const struct terminal *terminal)
{
	const struct shown *shown = arg;
	struct table_column columns[] = {
		{ .tc_title = "share%", .tc_least = 6 },
		{ .tc_title = "time", .tc_gap = 2, .tc_least = 8 },
		{ .tc_title = "waits", .tc_gap = 2 },
		{ .tc_title = "mean", .tc_gap = 2, .tc_drop = 2 },
		{ .tc_title = "max", .tc_gap = 2, .tc_drop = 1 },
		{ .tc_title = "thread (reason) <- woken by",
		    .tc_gap = 2, .tc_is_left = true }
	};
	struct table tb = { .tb_out = out, .tb_column = columns,
	    .tb_terminal = terminal->te_width == 0 ? NULL : terminal,
	    .tb_ncolumns = sizeof(columns) / sizeof(columns[0]) };

	table_show(&tb, shown->sw_nrows, chain_row, shown);
}

static void
emit_links(struct emit *em, const struct prof_chain *chain)
{
	emit_list(em, "threads");
	for (size_t n = 0; n < chain->ca_nlinks; n++) {
		const struct prof_chain_link *link = &chain->ca_link[n];

		emit_object(em, NULL);
		EMIT(em, TEXT("thread", link->cl_thread),
		    TEXT("reason", link->cl_reason),
		    COUNT("wait_ns", link->cl_ns));
		emit_close(em);
	}
	emit_close(em);
}

static void
emit_chains(const void *arg, struct emit *em)
{
	const struct shown *shown = arg;

	for (size_t n = 0; n < shown->sw_nrows; n++) {
		const struct prof_chain *chain = prof_chains_at(
		    shown->sw_chains, n);
		char *text = chain_text(chain);

		emit_object(em, NULL);
		EMIT(em, TEXT("chain", text), WORD("end",
		    ends[chain->ca_end]), COUNT("time_ns", chain->ca_ns),
		    COUNT("waits", chain->ca_waits),
		    COUNT("longest_ns", chain->ca_longest_ns));
		if (!em->em_is_csv)
			emit_links(em, chain);
		emit_close(em);
		free(text);
	}
}

static const char *const columns_of_chains[] = {
	"chain", "end", "time_ns", "waits", "longest_ns", NULL
};

int
report_chains(struct report *report, const struct report_waits *rw)
{
	struct prof_err error = { 0 };
	struct shown shown = { 0 };
	const struct report_rows rows = { "chains", columns_of_chains,
	    &shown, chains_text, emit_chains };
	struct prof_chains *chains;
	const struct prof_chain *chain;
	int status;

	input_say_cut("report", report->re_reader);
	report->re_symbols = prof_symbols_open(report->re_reader, NULL,
	    &error);
	chains = report->re_symbols == NULL ? NULL : prof_chains_new(
	    report->re_reader, report->re_symbols, rw->rw_options, &error);
	if (chains == NULL)
		return (msg_prof("report", &error), EXIT_FAILED);
	shown.sw_chains = chains;
	shown.sw_nrows = prof_chains_n(chains);
	for (size_t n = 0; (chain = prof_chains_at(chains, n)) != NULL; n++)
		shown.sw_total_ns += chain->ca_ns;
	if (shown.sw_nrows == 0)
		msg_note("report", "no sample is a wait");
	if (shown.sw_nrows > rw->rw_limit)
		shown.sw_nrows = rw->rw_limit;
	status = report_rows(report, &rows, rw->rw_form, rw->rw_color);
	prof_chains_free(chains);
	return (status);
}
