/* SPDX-License-Identifier: ISC */
/*
 * dtprof list: the probes of this machine with their arguments, and for each
 * provider without probes the reason.  What is printed is what record -e
 * takes.  Probes are data; reasons are messages, except in JSON.  Counters
 * by what they mean are list_counters.c's.
 */
#include <string.h>
#include <unistd.h>

#include "../ui/emit.h"
#include "list.h"

static int	 check_list(const void *options, int n,
		    char *const *operands);
static int	 run_list(void *options, int n, char **operands);

static const struct opt_row options_of_list[] = {
	{ 0, "counters", NULL, OPT_FLAG, 0, 0, NULL,
	    "find counters whose name or description contains all WORDS",
	    offsetof(struct list_options, lo_counters), NULL },
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL,
	    "print one JSON object: probes[] and missing[] (providers without "
	    "probes); with --counters: counters[]",
	    offsetof(struct list_options, lo_json), NULL },
	{ 'p', "pid", "PIDS", OPT_IDS, 1, OPT_MAX_PID, NULL,
	    "list uprobe: and usdt: probes of files that processes PIDS have "
	    "mapped",
	    offsetof(struct list_options, lo_pids), NULL },
	{ 0, "pmu", "NAME", OPT_STRING, 0, 0, NULL,
	    "list counters of PMU NAME of this or another machine, e.g. skx or "
	    "'*zen*'",
	    offsetof(struct list_options, lo_pmu), NULL },
	{ 'v', "verbose", NULL, OPT_FLAG, 0, 0, NULL,
	    "also print perf's name and a description of each probe",
	    offsetof(struct list_options, lo_verbose), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof list", "list all probes of this machine",
	"dtprof list 'sched:*'", "list probes by perf's names",
	"dtprof list -v 'static:block::*'", "list probes with descriptions",
	"dtprof list -p 4711 'usdt:*'", "list USDT probes of a process",
	"dtprof list --counters l2 miss", "find counters by description",
	NULL
};

const struct prof_cmd cmd_list = {
	.cm_name = "list",
	.cm_summary = "list the probes of this machine and their arguments",
	.cm_operands = "[GLOB | WORDS ...]",
	.cm_options = options_of_list,
	.cm_size = sizeof(struct list_options),
	.cm_max = -1,
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_notes = "A probe is named provider:module:function:name.  GLOB may "
	    "contain *, ? and [...], and also matches perf's names.",
	.cm_check = check_list,
	.cm_run = run_list,
};

static void
show_probe(struct out *out, const struct prof_probe *probe, bool verbose)
{
	out_text(out, probe->pp_probe);
	for (uint32_t n = 0; n < probe->pp_nargs; n++)
		OUT(out, n == 0 ? "  (" : ", ", probe->pp_arg_types[n], " ",
		    probe->pp_arg_names[n]);
	out_str(out, probe->pp_nargs > 0 ? ")" : "");
	if (probe->pp_price != NULL && probe->pp_why_not == NULL)
		OUT(out, "  ", probe->pp_price);
	if (probe->pp_why_not != NULL)
		OUT(out, "  unavailable: ", probe->pp_why_not);
	out_char(out, '\n');
	if (verbose && probe->pp_alias[0] != '\0')
		OUT(out, "\tperf's name: ", probe->pp_alias, "\n");
	if (verbose && probe->pp_desc[0] != '\0')
		OUT(out, "\t", probe->pp_desc, "\n");
}

static void
emit_probe(struct emit *em, const struct prof_probe *probe)
{
	emit_object(em, NULL);
	EMIT(em, TEXT("probe", probe->pp_probe), TEXT("alias", probe->pp_alias),
	    TEXT("description", probe->pp_desc),
	    TEXT("price", probe->pp_price),
	    TEXT("why_not", probe->pp_why_not));
	emit_list(em, "args");
	for (uint32_t n = 0; n < probe->pp_nargs; n++) {
		EMIT_ROW(em, NULL, TEXT("name", probe->pp_arg_names[n]),
		    TEXT("type", probe->pp_arg_types[n]));
	}
	emit_close(em);
	emit_close(em);
}

static void
show_json(struct out *out, const struct prof_catalog *catalog)
{
	const char *provider, *reason;
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
	emit_rows(&em, "probes");
	for (size_t n = 0; n < prof_catalog_nprobes(catalog); n++)
		emit_probe(&em, prof_catalog_probe(catalog, n));
	emit_close(&em);
	emit_rows(&em, "missing");
	for (size_t n = 0; prof_catalog_missing(catalog, n, &provider,
	    &reason); n++) {
		EMIT_ROW(&em, NULL, TEXT("provider", provider),
		    TEXT("reason", reason));
	}
	emit_end(&em);
}

static int
check_list(const void *options, int n, char *const *operands)
{
	const struct list_options *lo = options;

	if (n < 2 || lo->lo_counters || lo->lo_pmu != NULL)
		return (0);
	return (msg_fail("list", "quote the pattern, or add --counters",
	    "more than one pattern: '%s'", operands[1]));
}

/* A tracepoint is then listed without its group. */
static bool
hides_groups(const char *glob)
{
	return (glob != NULL && strchr(glob, ':') != NULL && geteuid() != 0 &&
	    access("/sys/kernel/tracing/events", R_OK) == -1);
}

static int
run_list(void *options, int n, char **operands)
{
	const struct list_options *lo = options;
	const char *glob = n > 0 ? operands[0] : NULL, *provider, *reason;
	struct prof_err error = { 0 };
	struct prof_catalog *catalog;
	struct out out;
	size_t nprobes;
	int status;

	if (lo->lo_counters || lo->lo_pmu != NULL)
		return (list_counters(lo, n, operands));
	catalog = prof_catalog_of_processes(glob, lo->lo_pids.oi_id,
	    lo->lo_pids.oi_n, &error);
	if (catalog == NULL) {
		msg_prof("list", &error);
		return (EXIT_FAILED);
	}
	out_init(&out, STDOUT_FILENO);
	nprobes = prof_catalog_nprobes(catalog);
	if (lo->lo_json)
		show_json(&out, catalog);
	for (size_t i = 0; !lo->lo_json && i < nprobes; i++)
		show_probe(&out, prof_catalog_probe(catalog, i),
		    lo->lo_verbose);
	status = out_end(&out, "list");
	/* To a narrow question the missing providers are no answer. */
	for (size_t i = 0; !lo->lo_json && (glob == NULL || nprobes == 0) &&
	    prof_catalog_missing(catalog, i, &provider, &reason); i++)
		msg_note("list", "no probes of provider %s: %s", provider,
		    reason);
	if (nprobes == 0 && status == 0) {
		msg_fail("list", hides_groups(glob) ? "run as root: only root "
		    "can list groups of tracepoints" :
		    "list all probes with dtprof list",
		    "no such probe on this machine: '%s'",
		    glob != NULL ? glob : "*");
		status = EXIT_FAILED;
	}
	prof_catalog_free(catalog);
	return (status);
}
