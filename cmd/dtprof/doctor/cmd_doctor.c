/* SPDX-License-Identifier: ISC */
/*
 * dtprof doctor: what works here and what does not, what would cure it, and
 * what is lost without; first of all, what record would do.  libprof makes
 * the checks (doctor.c there); here are the programs that commands run, and
 * the two ways to show it all.
 *
 * Exit status: 0 when something can be recorded, else 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/emit.h"
#include "../ui/terminal.h"
#include "../ui/tools.h"

#define MAX_CHECKS	64
#define NAME_WIDTH	20
#define TEXT_COLUMN	31

struct doctor_options {
	bool		 do_json;
};

struct doctor {
	struct prof_check dr_check[MAX_CHECKS];
	size_t		 dr_n;
};

static int	 run_doctor(void *options, int n, char **operands);

static const struct opt_row options_of_doctor[] = {
	{ 0, "json", NULL, OPT_FLAG, 0, 0, NULL, "print one JSON object",
	    offsetof(struct doctor_options, do_json), NULL },
	{ .op_type = OPT_END }
};

static const char *const examples[] = {
	"dtprof doctor", "check this system and suggest fixes",
	"sudo dtprof doctor", "check what works as root",
	NULL
};

const struct prof_cmd cmd_doctor = {
	.cm_name = "doctor",
	.cm_summary = "check this system and suggest fixes",
	.cm_operands = "",
	.cm_options = options_of_doctor,
	.cm_size = sizeof(struct doctor_options),
	.cm_usage_status = EXIT_USAGE,
	.cm_examples = examples,
	.cm_run = run_doctor,
};

static const char *const state_names[] = {
	[PROF_CHECK_OK] = "ok", [PROF_CHECK_LESS] = "degraded",
	[PROF_CHECK_NO] = "failed"
};

/* ---------------------------------------------------------- the checks */

static void
check_tool(struct doctor *doctor, const char *name, const char *cure,
    const char *loss)
{
	struct prof_check *check = &doctor->dr_check[doctor->dr_n++];
	struct prof_err *error = &check->ck_error;

	memset(check, 0, sizeof(*check));
	check->ck_name = name;
	check->ck_loss = loss;
	if (file_find_program(name, error->pe_text, sizeof(error->pe_text)))
		return;
	check->ck_state = PROF_CHECK_LESS;
	snprintf(error->pe_text, sizeof(error->pe_text),
	    "%s is not installed", name);
	snprintf(error->pe_cure, sizeof(error->pe_cure), "%s", cure);
}

static void
checks_run(struct doctor *doctor)
{
	while (doctor->dr_n < MAX_CHECKS - 2 && prof_check_run(doctor->dr_n,
	    &doctor->dr_check[doctor->dr_n]) == 1)
		doctor->dr_n++;
	check_tool(doctor, TOOL_GNUPLOT, TOOL_GNUPLOT_CURE,
	    "dtprof report --plot and dtprof compare --plot");
	check_tool(doctor, TOOL_OBJDUMP, TOOL_OBJDUMP_CURE,
	    "instructions in dtprof annotate");
}

static bool
is_ok(const struct doctor *doctor, const char *name)
{
	for (size_t n = 0; n < doctor->dr_n; n++)
		if (strcmp(doctor->dr_check[n].ck_name, name) == 0)
			return (doctor->dr_check[n].ck_state ==
			    PROF_CHECK_OK);
	return (false);
}

/* What record would do when nothing else is said. */
struct plan {
	bool		 pl_possible;
	bool		 pl_bpf;
	bool		 pl_all;
	bool		 pl_kernel;
	const char	*pl_event;
};

static void
make_plan(const struct doctor *doctor, struct plan *plan)
{
	plan->pl_possible = is_ok(doctor, "perf_events") &&
	    is_ok(doctor, "proc");
	plan->pl_bpf = is_ok(doctor, "bpf") && is_ok(doctor, "btf") &&
	    is_ok(doctor, "container");
	plan->pl_all = is_ok(doctor, "perf_event_paranoid");
	plan->pl_kernel = plan->pl_bpf && plan->pl_all;
	plan->pl_event = is_ok(doctor, "pmu") ? "cycles" : "cpu-clock";
}

/* ---------------------------------------------------------------- text */

static void
show_check(const struct terminal *terminal, const struct prof_check *check,
    struct out *out)
{
	static const enum terminal_colour colours[] = {
		[PROF_CHECK_OK] = TERMINAL_WARM,
		[PROF_CHECK_LESS] = TERMINAL_BOLD,
		[PROF_CHECK_NO] = TERMINAL_HOT
	};

	out_fmt(out, "%-*s ", NAME_WIDTH, check->ck_name);
	terminal_colour(terminal, out, colours[check->ck_state]);
	out_fmt(out, "%-8s", state_names[check->ck_state]);
	terminal_colour(terminal, out, TERMINAL_PLAIN);
	out_str(out, "  ");
	out_wrapped(out, check->ck_error.pe_text, TEXT_COLUMN, TEXT_COLUMN);
	if (check->ck_state == PROF_CHECK_OK)
		return;
	out_fmt(out, "%*sfix:      ", NAME_WIDTH + 1, "");
	out_wrapped(out, check->ck_error.pe_cure, TEXT_COLUMN, TEXT_COLUMN);
	out_fmt(out, "%*saffects:  ", NAME_WIDTH + 1, "");
	out_wrapped(out, check->ck_loss, TEXT_COLUMN, TEXT_COLUMN);
}

static void
show_text(const struct terminal *terminal, const struct doctor *doctor,
    const struct plan *plan, struct out *out)
{
	char line[256];
	size_t bad = 0;

	if (plan->pl_possible) {
		snprintf(line, sizeof(line), "dtprof record works here: "
		    "event %s, %s, with %s", plan->pl_event,
		    prof_record_reach(plan->pl_bpf, plan->pl_all ?
		    PROF_TARGET_ALL : PROF_TARGET_PIDS), plan->pl_bpf ?
		    "BPF" : "perf rings");
		out_wrapped(out, line, 4, 0);
	} else
		out_str(out, "dtprof record does not work here\n");
	for (size_t n = 0; n < doctor->dr_n; n++)
		bad += doctor->dr_check[n].ck_state != PROF_CHECK_OK;
	out_fmt(out, "%zu of %zu checks found a problem\n\n", bad,
	    doctor->dr_n);
	for (size_t n = 0; n < doctor->dr_n; n++)
		show_check(terminal, &doctor->dr_check[n], out);
}

/* ---------------------------------------------------------------- JSON */

static void
emit_check(struct emit *em, const struct prof_check *check)
{
	const bool ok = check->ck_state == PROF_CHECK_OK;

	EMIT_ROW(em, NULL, TEXT("name", check->ck_name),
	    WORD("state", state_names[check->ck_state]),
	    TEXT("found", check->ck_error.pe_text),
	    TEXT("fix", ok ? "" : check->ck_error.pe_cure),
	    TEXT("affects", ok ? "" : check->ck_loss));
}

static void
show_json(const struct doctor *doctor, const struct plan *plan,
    struct out *out)
{
	const bool is_possible = plan->pl_possible;
	struct emit em;

	emit_json(&em, out);
	EMIT(&em, COUNT("schema_version", JSON_SCHEMA));
	emit_line(&em);
	EMIT_ROW(&em, "record", FLAG("possible", is_possible),
	    FLAG("all_processes", is_possible && plan->pl_all),
	    FLAG("kernel", is_possible && plan->pl_kernel),
	    WORD("backend", !is_possible ? "" : plan->pl_bpf ? "bpf" : "perf"),
	    WORD("event", is_possible ? plan->pl_event : ""));
	emit_rows(&em, "checks");
	for (size_t n = 0; n < doctor->dr_n; n++)
		emit_check(&em, &doctor->dr_check[n]);
	emit_end(&em);
}

static int
run_doctor(void *options, int n, char **operands)
{
	const struct doctor_options *chosen = options;
	struct doctor *doctor = calloc(1, sizeof(*doctor));
	struct terminal terminal = { .te_fd = STDOUT_FILENO };
	struct plan plan;
	struct out out;
	int status;

	(void)n;
	(void)operands;
	if (doctor == NULL) {
		msg_error("doctor", "out of memory", "free memory");
		return (EXIT_FAILED);
	}
	checks_run(doctor);
	make_plan(doctor, &plan);
	if (!chosen->do_json)
		terminal_begin(&terminal, TERMINAL_AUTO);
	out_init(&out, terminal.te_fd);
	if (chosen->do_json)
		show_json(doctor, &plan, &out);
	else
		show_text(&terminal, doctor, &plan, &out);
	status = terminal_end(&terminal, "doctor", out_end(&out, "doctor"));
	free(doctor);
	return (status == 0 && !plan.pl_possible ? EXIT_FAILED : status);
}
