/* SPDX-License-Identifier: ISC */
/*
 * The public face of comparisons: runs with what they had of metrics and
 * functions come in one by one, in any order of metrics; then everything is
 * worked out at once and can be asked for.
 *
 * Called by the bench and compare commands, and by the pictures that show
 * differences.  Knows nothing of files.  The same input and seed give the
 * same answers.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "comparison.h"

#define MAX_RUNS	1000000

struct prof_comparison *
prof_comparison_new(const struct prof_comparison_options *options,
    struct prof_err *error)
{
	struct prof_comparison *cp = calloc(1, sizeof(*cp));

	if (cp == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	if (prof_options_take(&cp->cp_options, sizeof(cp->cp_options),
	    options, "prof_comparison_options", error) == -1) {
		free(cp);
		return (NULL);
	}
	if (!(cp->cp_options.cp_threshold > 0))
		cp->cp_options.cp_threshold = 0.01;
	if (cp->cp_options.cp_family == 0)
		cp->cp_options.cp_family = 1;
	return (cp);
}

const struct prof_err *
prof_comparison_error(const struct prof_comparison *cp)
{
	return (&cp->cp_error);
}

/* Room for another run, which has none of the metrics yet. */
static int
metrics_grow(struct prof_comparison *cp)
{
	for (size_t i = 0; i < cp->cp_nmetrics; i++) {
		struct metric *metric = &cp->cp_metric[i];
		double *grown = reallocarray(metric->mt_value,
		    cp->cp_nruns + 1, sizeof(*grown));

		if (grown == NULL)
			return (-1);
		metric->mt_value = grown;
		grown[cp->cp_nruns] = NAN;
	}
	return (0);
}

long
prof_comparison_run(struct prof_comparison *cp, int side, uint32_t block,
    long place)
{
	struct run *run;

	if (side < 0 || side > 1 || cp->cp_nruns >= MAX_RUNS)
		return (prof_fail(&cp->cp_error, PROF_E_USAGE,
		    "the run belongs to neither base nor new, or there are too "
		    "many runs"));
	if (metrics_grow(cp) == -1)
		return (prof_fail_nomem(&cp->cp_error));
	run = prof_grow(&cp->cp_run, &cp->cp_nruns,
	    &cp->cp_cap_runs, sizeof(*run));
	if (run == NULL)
		return (prof_fail_nomem(&cp->cp_error));
	run->rn_side = side;
	run->rn_block = block;
	run->rn_place = place;
	return ((long)cp->cp_nruns - 1);
}

int
prof_comparison_warning(struct prof_comparison *cp, long run, const char *why)
{
	char *copy;

	if (run < 0 || (size_t)run >= cp->cp_nruns)
		return (prof_fail(&cp->cp_error, PROF_E_USAGE,
		    "no such run: %ld", run));
	copy = strdup(why);
	if (copy == NULL)
		return (prof_fail_nomem(&cp->cp_error));
	free(cp->cp_run[run].rn_warning);
	cp->cp_run[run].rn_warning = copy;
	return (0);
}

/* ----------------------------------------------------------- metrics */

static int
metric_init(const struct prof_comparison *cp, struct metric *metric,
    const char *name, const char *unit)
{
	metric->mt_name = strdup(name);
	metric->mt_unit = strdup(unit);
	metric->mt_value = reallocarray(NULL, cp->cp_nruns + 1,
	    sizeof(*metric->mt_value));
	if (metric->mt_name == NULL || metric->mt_unit == NULL ||
	    metric->mt_value == NULL)
		return (-1);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		metric->mt_value[i] = NAN;
	return (0);
}

static void
metric_fini(struct metric *metric)
{
	free(metric->mt_name);
	free(metric->mt_unit);
	free(metric->mt_value);
}

static struct metric *
metric_find(struct prof_comparison *cp, const char *name, const char *unit)
{
	struct metric *metric;

	for (size_t i = 0; i < cp->cp_nmetrics; i++)
		if (strcmp(cp->cp_metric[i].mt_name, name) == 0)
			return (&cp->cp_metric[i]);
	metric = prof_grow(&cp->cp_metric, &cp->cp_nmetrics,
	    &cp->cp_cap_metrics, sizeof(*metric));
	if (metric == NULL || metric_init(cp, metric, name, unit) == -1)
		return (NULL);
	return (metric);
}

int
prof_comparison_value(struct prof_comparison *cp, long run,
    const char *name, const char *unit, double value)
{
	struct metric *metric;

	if (run < 0 || (size_t)run >= cp->cp_nruns)
		return (prof_fail(&cp->cp_error, PROF_E_USAGE,
		    "no such run: %ld", run));
	metric = metric_find(cp, name, unit);
	if (metric == NULL)
		return (prof_fail_nomem(&cp->cp_error));
	metric->mt_value[run] = value;
	return (0);
}

/* --------------------------------------------------------- functions */

int
prof_comparison_rename(struct prof_comparison *cp, const char *old_name,
    const char *new_name)
{
	struct rename *re = prof_grow(&cp->cp_rename,
	    &cp->cp_nrenames, &cp->cp_cap_renames, sizeof(*re));

	if (re == NULL || (re->re_old = strdup(old_name)) == NULL ||
	    (re->re_new = strdup(new_name)) == NULL)
		return (prof_fail_nomem(&cp->cp_error));
	return (0);
}

const char *
prof_comparison_renamed(const struct prof_comparison *cp, int side,
    const char *name)
{
	char base[512];

	if (side == 1 || cp->cp_nrenames == 0)
		return (name);
	prof_function_base_name(name, base, sizeof(base));
	for (size_t i = 0; i < cp->cp_nrenames; i++)
		if (strcmp(cp->cp_rename[i].re_old, name) == 0 ||
		    strcmp(cp->cp_rename[i].re_old, base) == 0)
			return (cp->cp_rename[i].re_new);
	return (name);
}

/* Before the key of a function stands the state, if costs have states. */
static char *
key_of(const char *state, const char *name, const char *module)
{
	char *key = prof_function_key(name, module), *whole;

	if (*state == '\0' || key == NULL)
		return (key);
	if (asprintf(&whole, "%s\n%s", state, key) == -1)
		whole = NULL;
	free(key);
	return (whole);
}

static int
function_add(struct prof_comparison *cp, const char *key,
    const struct prof_item *item)
{
	struct function *function = prof_grow(&cp->cp_function,
	    &cp->cp_nfunctions, &cp->cp_cap_functions, sizeof(*function));

	if (function == NULL)
		return (-1);
	if (*item->it_state != '\0')
		key += strlen(item->it_state) + 1;
	/* The key ends with the name as all builds have it. */
	function->fn_name = strdup(strchr(key, '\n') + 1);
	function->fn_module = strdup(item->it_module);
	function->fn_state = strdup(item->it_state);
	return (function->fn_name == NULL || function->fn_module == NULL ||
	    function->fn_state == NULL ? -1 : 0);
}

static uint32_t
function_find(struct prof_comparison *cp, const struct prof_item *item)
{
	char *key = key_of(item->it_state, item->it_name, item->it_module);
	uint32_t number = PROF_INTERN_FAILED;
	bool is_new = false;

	if (key != NULL)
		number = prof_dict_find(&cp->cp_by_name, key, strlen(key),
		    &is_new);
	if (is_new && number != PROF_INTERN_FAILED &&
	    function_add(cp, key, item) == -1)
		number = PROF_INTERN_FAILED;
	free(key);
	return (number);
}

const struct function *
prof_comparison_find(const struct prof_comparison *cp, const char *name,
    const char *module)
{
	char *key = prof_function_key(name, module);
	uint32_t number = PROF_INTERN_FAILED;

	if (key != NULL)
		number = prof_dict_peek(&cp->cp_by_name, key, strlen(key));
	free(key);
	return (number < cp->cp_nfunctions ? &cp->cp_function[number] : NULL);
}

int
prof_comparison_add(struct prof_comparison *cp, long run,
    const struct prof_item *given, double value)
{
	struct prof_item item = *given;
	const enum prof_presence presence = item.it_is_inlined ?
	    PROF_PRESENCE_INLINED : PROF_PRESENCE_WHOLE;
	struct cost *cost;
	uint32_t number;
	int side;

	if (run < 0 || (size_t)run >= cp->cp_nruns || !isfinite(value))
		return (prof_fail(&cp->cp_error, PROF_E_USAGE,
		    "a cost belongs to no run, or is not a finite number"));
	side = cp->cp_run[run].rn_side;
	item.it_name = prof_comparison_renamed(cp, side, item.it_name);
	number = function_find(cp, &item);
	cost = number == PROF_INTERN_FAILED ? NULL : prof_grow(
	    &cp->cp_cost, &cp->cp_ncosts, &cp->cp_cap_costs, sizeof(*cost));
	if (cost == NULL)
		return (prof_fail_nomem(&cp->cp_error));
	cost->cs_function = number;
	cost->cs_run = (uint32_t)run;
	cost->cs_cost = value;
	if (cp->cp_function[number].fn_presence[side] < presence)
		cp->cp_function[number].fn_presence[side] = presence;
	cp->cp_run[run].rn_has_costs = true;
	cp->cp_has_states |= *item.it_state != '\0';
	return (0);
}

int
prof_comparison_cost(struct prof_comparison *cp, long run, const char *name,
    const char *module, int is_inlined, double value)
{
	const struct prof_item item = { "", name, module, is_inlined };

	return (prof_comparison_add(cp, run, &item, value));
}

/* ----------------------------------------------------------- answers */

/* The total is a metric, made of all costs. */
static int
make_total(struct prof_comparison *cp)
{
	if (cp->cp_ncosts == 0)
		return (0);
	if (metric_init(cp, &cp->cp_total, cp->cp_total_name != NULL ?
	    cp->cp_total_name : "total", cp->cp_total_unit != NULL ?
	    cp->cp_total_unit : "") == -1)
		return (-1);
	for (size_t i = 0; i < cp->cp_nruns; i++)
		if (cp->cp_run[i].rn_has_costs || cp->cp_is_hosts)
			cp->cp_total.mt_value[i] = 0;
	for (size_t i = 0; i < cp->cp_ncosts; i++)
		cp->cp_total.mt_value[cp->cp_cost[i].cs_run] +=
		    cp->cp_cost[i].cs_cost;
	return (0);
}

int
prof_comparison_finish(struct prof_comparison *cp)
{
	if (prof_hosts_prepare(cp) == -1)
		return (-1);
	if (make_total(cp) == -1)
		return (prof_fail_nomem(&cp->cp_error));
	prof_change_init(&cp->cp_total.mt_change);
	if (cp->cp_hosts.ph_confounder != PROF_CONFOUNDER_NONE)
		return (0);
	if (prof_drawing_init(cp) == -1 ||
	    prof_comparison_judge_metrics(cp) == -1 ||
	    prof_comparison_judge_functions(cp) == -1 ||
	    prof_comparison_doubt(cp) == -1)
		return (prof_fail_nomem(&cp->cp_error));
	return (0);
}

size_t
prof_comparison_nmetrics(const struct prof_comparison *cp)
{
	return (cp->cp_nmetrics);
}

const struct prof_change *
prof_comparison_metric(const struct prof_comparison *cp, size_t n)
{
	return (n < cp->cp_nmetrics ? &cp->cp_metric[n].mt_change : NULL);
}

const struct prof_change *
prof_comparison_total(const struct prof_comparison *cp)
{
	return (cp->cp_ncosts > 0 ? &cp->cp_total.mt_change : NULL);
}

size_t
prof_comparison_nfunctions(const struct prof_comparison *cp)
{
	return (cp->cp_nfunctions);
}

size_t
prof_comparison_ntested(const struct prof_comparison *cp)
{
	return (cp->cp_ntested);
}

const struct prof_change *
prof_comparison_function(const struct prof_comparison *cp, size_t n)
{
	return (n < cp->cp_nfunctions && cp->cp_sorted != NULL ?
	    &cp->cp_function[cp->cp_sorted[n]].fn_change : NULL);
}

int
prof_comparison_assumes_no_drift(const struct prof_comparison *cp)
{
	return (!cp->cp_is_drawn && !cp->cp_is_hosts);
}

/* Of a host the mean of each side. */
static size_t
values_of_hosts(const struct prof_comparison *cp, const struct metric *metric,
    double *values, int *sides, size_t max)
{
	double *mean = calloc(cp->cp_nhosts + 1, sizeof(*mean));
	size_t n = 0, of;

	for (int s = 0; s < 2 && mean != NULL; s++) {
		of = prof_side_values(cp, s, metric->mt_value, mean);
		for (size_t i = 0; i < of; i++, n++)
			if (n < max) {
				values[n] = mean[i];
				sides[n] = s;
			}
	}
	free(mean);
	return (n);
}

size_t
prof_comparison_values(const struct prof_comparison *cp, const char *name,
    double *values, int *sides, size_t max)
{
	const struct metric *metric = &cp->cp_total;

	for (size_t i = 0; name != NULL && i < cp->cp_nmetrics; i++)
		if (strcmp(cp->cp_metric[i].mt_name, name) == 0)
			metric = &cp->cp_metric[i];
	if (metric->mt_value == NULL)
		return (0);
	if (cp->cp_is_hosts)
		return (values_of_hosts(cp, metric, values, sides, max));
	for (size_t i = 0; i < cp->cp_nruns && i < max; i++) {
		values[i] = metric->mt_value[i];
		sides[i] = cp->cp_run[i].rn_side;
	}
	return (cp->cp_nruns);
}

const char *
prof_comparison_note(const struct prof_comparison *cp, size_t n)
{
	return (n < cp->cp_nnotes ? cp->cp_note[n] : NULL);
}

void
prof_comparison_free(struct prof_comparison *cp)
{
	if (cp == NULL)
		return;
	for (size_t i = 0; i < cp->cp_nruns; i++)
		free(cp->cp_run[i].rn_warning);
	for (size_t i = 0; i < cp->cp_nmetrics; i++)
		metric_fini(&cp->cp_metric[i]);
	metric_fini(&cp->cp_total);
	for (size_t i = 0; i < cp->cp_nfunctions; i++) {
		free(cp->cp_function[i].fn_state);
		free(cp->cp_function[i].fn_name);
		free(cp->cp_function[i].fn_module);
	}
	for (size_t i = 0; i < cp->cp_nrenames; i++) {
		free(cp->cp_rename[i].re_old);
		free(cp->cp_rename[i].re_new);
	}
	for (size_t i = 0; i < cp->cp_nnotes; i++)
		free(cp->cp_note[i]);
	prof_dict_free(&cp->cp_by_name);
	free(cp->cp_run);
	free(cp->cp_metric);
	free(cp->cp_function);
	free(cp->cp_cost);
	free(cp->cp_rename);
	free(cp->cp_sorted);
	free(cp->cp_errors);
	free(cp->cp_of_host);
	prof_dict_free(&cp->cp_by_host);
	prof_dict_free(&cp->cp_by_kind);
	prof_dict_free(&cp->cp_by_window);
	free(cp->cp_total_name);
	free(cp->cp_total_unit);
	prof_drawing_fini(&cp->cp_drawing);
	free(cp->cp_note);
	free(cp);
}

void
prof_shuffle(uint64_t seed, uint32_t *order, size_t n)
{
	struct prof_random random;

	prof_random_seed(&random, seed);
	for (size_t i = 0; i < n; i++) {
		const size_t j = (size_t)prof_random_below(&random, i + 1);

		order[i] = order[j];
		order[j] = (uint32_t)i;
	}
}
