/* SPDX-License-Identifier: ISC */
/*
 * Samples to folds: what is the same counts once, with the sum of its
 * weights.  Chunks of samples do not depend on each other, so each thread
 * takes the next chunk that nobody has, folds its samples into tables of its
 * own, and in the end these are put one behind the other.
 *
 * A stack is its number and its innermost pc; no name is looked up and no
 * frame is looked at, so a sample costs two look-ups in a table, whatever its
 * depth.  Called by profile.c; tree.c goes on from here.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analysis.h"

#define MAX_THREADS	16
#define CACHE_SIZE	256	/* threads times CPUs, about */

/* What one thread of a process on a CPU is, for a while. */
struct cached {
	struct prof_moment ca_moment;
	uint32_t	 ca_pid;
	uint32_t	 ca_tid;
	uint32_t	 ca_cpu;
	uint32_t	 ca_who;
	bool		 ca_valid;
};

/* What all threads share. */
struct gather {
	const struct prof_reader *gt_reader;
	struct prof_symbols *gt_symbols;
	const struct prof_history *gt_history;
	const struct prof_profile_options *gt_options;
	struct prof_select gt_select;
	uint64_t	 gt_cell_from_ns;
	size_t		 gt_nchunks;
	size_t		 gt_nevents;
	atomic_size_t	 gt_next;	/* chunk that nobody has */
	atomic_bool	 gt_stop;
};

struct worker {
	struct gather	*wk_gather;
	pthread_t	 wk_thread;
	bool		 wk_started;
	struct prof_err	 wk_error;
	struct prof_decoder *wk_decoder;
	struct cached	 wk_cache[CACHE_SIZE];
	struct prof_dict wk_by_who;
	struct prof_dict wk_by_fold;
	struct prof_gathered wk_got;
	size_t		 wk_cap_who;
	size_t		 wk_cap_folds;
};

/* ----------------------------------------------------- who was it */

static int
who_add(struct worker *worker, const struct prof_who *key)
{
	struct prof_who *who;
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&worker->wk_by_who, key, sizeof(*key), &is_new);
	if (n == PROF_INTERN_FAILED)
		return (-1);
	if (!is_new)
		return ((int)n);
	who = prof_grow((void **)&worker->wk_got.ga_who,
	    &worker->wk_got.ga_nwho, &worker->wk_cap_who, sizeof(*who));
	if (who == NULL)
		return (-1);
	*who = *key;
	return ((int)n);
}

static int
who_number(struct worker *worker, const struct prof_record *record,
    const struct prof_moment *moment, const char *comm)
{
	unsigned roots = worker->wk_gather->gt_options->pl_roots;
	struct prof_who key = {
		.wh_space = prof_symbols_space(worker->wk_gather->gt_symbols,
		    record->pr_pid, moment->mo_maps_ns),
		.wh_roots = roots,
	};

	if (roots & PROF_ROOT_PID)
		key.wh_pid = record->pr_pid;
	if (roots & PROF_ROOT_TID)
		key.wh_tid = record->pr_tid;
	if (roots & PROF_ROOT_CPU)
		key.wh_cpu = record->pr_cpu;
	if (roots & PROF_ROOT_COMM)
		memcpy(key.wh_comm, comm, strnlen(comm, PROF_COMM_LEN - 1));
	return (who_add(worker, &key));
}

/* The same thread on the same CPU has not changed most of the time. */
static struct cached *
who_find(struct worker *worker, const struct prof_record *record)
{
	uint32_t at = (record->pr_tid + record->pr_cpu * 7) % CACHE_SIZE;
	struct cached *cached = &worker->wk_cache[at];
	struct prof_moment *moment = &cached->ca_moment;
	int who;

	if (cached->ca_valid && cached->ca_tid == record->pr_tid &&
	    cached->ca_pid == record->pr_pid &&
	    cached->ca_cpu == record->pr_cpu &&
	    record->pr_time_ns >= moment->mo_from_ns &&
	    record->pr_time_ns < moment->mo_to_ns)
		return (cached);
	prof_history_at(worker->wk_gather->gt_history, record->pr_pid,
	    record->pr_tid, record->pr_time_ns, moment);
	who = who_number(worker, record, moment, moment->mo_comm);
	if (who == -1)
		return (NULL);
	cached->ca_pid = record->pr_pid;
	cached->ca_tid = record->pr_tid;
	cached->ca_cpu = record->pr_cpu;
	cached->ca_who = (uint32_t)who;
	cached->ca_valid = true;
	return (cached);
}

/* ------------------------------------------------------- samples */

static bool
is_cut(uint8_t status)
{
	return (status != PROF_STACK_NONE && status != PROF_STACK_OK);
}

static void
fold_key(struct prof_fold *fold, const struct prof_sample *sample)
{
	const struct prof_record *record = &sample->sm_record;

	memset(fold, 0, sizeof(*fold));
	fold->fo_event = record->pr_event;
	if (sample->sm_kernel.sk_there) {
		fold->fo_bits |= PROF_FOLD_KERNEL;
		fold->fo_kleaf = sample->sm_kernel.sk_leaf;
		fold->fo_kstack = sample->sm_kernel.sk_number;
	}
	if (sample->sm_user.sk_there) {
		fold->fo_bits |= PROF_FOLD_USER;
		fold->fo_uleaf = sample->sm_user.sk_leaf;
		fold->fo_ustack = sample->sm_user.sk_number;
	}
	if (is_cut(record->pr_kstatus))
		fold->fo_bits |= PROF_FOLD_KERNEL_CUT;
	if (is_cut(record->pr_ustatus))
		fold->fo_bits |= PROF_FOLD_USER_CUT;
	if (fold->fo_bits & (PROF_FOLD_KERNEL | PROF_FOLD_USER) ||
	    record->pr_ip == 0)
		return;
	if (record->pr_in_kernel) {
		fold->fo_bits |= PROF_FOLD_KERNEL_PC;
		fold->fo_kleaf = record->pr_ip;
	} else {
		fold->fo_bits |= PROF_FOLD_USER_PC;
		fold->fo_uleaf = record->pr_ip;
	}
}

static uint32_t
cell_of(const struct gather *gather, uint64_t time_ns)
{
	uint64_t cell;

	if (gather->gt_options->pl_cell_ns == 0 ||
	    time_ns < gather->gt_cell_from_ns)
		return (0);
	cell = (time_ns - gather->gt_cell_from_ns) /
	    gather->gt_options->pl_cell_ns;
	return (cell < UINT32_MAX ? (uint32_t)cell : UINT32_MAX);
}

static int
fold_add(struct worker *worker, const struct prof_fold *fold)
{
	struct prof_fold *sum;
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&worker->wk_by_fold, fold, PROF_FOLD_KEY, &is_new);
	if (n == PROF_INTERN_FAILED)
		return (prof_fail_nomem(&worker->wk_error));
	if (!is_new) {
		sum = &worker->wk_got.ga_fold[n];
		sum->fo_weight += fold->fo_weight;
		sum->fo_samples += fold->fo_samples;
		return (0);
	}
	sum = prof_grow((void **)&worker->wk_got.ga_fold,
	    &worker->wk_got.ga_nfolds, &worker->wk_cap_folds, sizeof(*sum));
	if (sum == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	*sum = *fold;
	return (0);
}

static void
tally(struct worker *worker, const struct prof_record *record)
{
	struct prof_gathered *got = &worker->wk_got;
	struct prof_ends *ends = &got->ga_ends[record->pr_event];

	if (record->pr_ustatus != PROF_STACK_NONE)
		ends->en_stacks++;
	if (record->pr_ustatus == PROF_STACK_OK)
		ends->en_whole++;
	ends->en_squares += (unsigned __int128)record->pr_weight *
	    record->pr_weight;
	if (record->pr_time_ns < got->ga_first_ns)
		got->ga_first_ns = record->pr_time_ns;
	if (record->pr_time_ns > got->ga_last_ns)
		got->ga_last_ns = record->pr_time_ns;
}

/*
 * A value is a sample of its counter, with the value for its weight; where it
 * was not counted all the time it says too little, and quality.c says so.
 */
static int
fold_values(struct worker *worker, const struct prof_record *record,
    const struct prof_fold *sample)
{
	const struct prof_event_info *info = prof_reader_event(
	    worker->wk_gather->gt_reader, record->pr_event);
	struct prof_fold fold = *sample;
	struct prof_ends *ends;
	uint64_t weight;

	for (uint32_t n = 0; n < record->pr_nvalues &&
	    n < info->pi_ncounters; n++) {
		weight = record->pr_values[n];
		ends = &worker->wk_got.ga_ends[info->pi_counter[n]];
		ends->en_squares += (unsigned __int128)weight * weight;
		fold.fo_event = info->pi_counter[n];
		fold.fo_weight = weight;
		if (fold_add(worker, &fold) == -1)
			return (-1);
	}
	return (0);
}

static int
fold_sample(struct worker *worker, const struct prof_sample *sample)
{
	const struct gather *gather = worker->wk_gather;
	const struct prof_record *record = &sample->sm_record;
	const struct cached *cached;
	struct prof_fold fold;
	int who;

	if (!prof_select_time(&gather->gt_select, record->pr_time_ns))
		return (0);
	cached = who_find(worker, record);
	if (cached == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	if (!prof_select_wants(&gather->gt_select, record,
	    cached->ca_moment.mo_comm))
		return (0);
	fold_key(&fold, sample);
	fold.fo_who = cached->ca_who;
	if (gather->gt_options->pl_roots & PROF_ROOT_COMM &&
	    record->pr_comm[0] != '\0') {
		/* It brings the name itself. */
		who = who_number(worker, record, &cached->ca_moment,
		    record->pr_comm);
		if (who == -1)
			return (prof_fail_nomem(&worker->wk_error));
		fold.fo_who = (uint32_t)who;
	}
	fold.fo_cell = cell_of(gather, record->pr_time_ns);
	fold.fo_weight = record->pr_weight;
	fold.fo_samples = 1;
	tally(worker, record);
	if (fold_add(worker, &fold) == -1)
		return (-1);
	return (record->pr_nvalues > 0 ? fold_values(worker, record, &fold) :
	    0);
}

/* ------------------------------------------------------- threads */

static int
worker_init(struct worker *worker, struct gather *gather)
{
	worker->wk_gather = gather;
	worker->wk_got.ga_first_ns = UINT64_MAX;
	worker->wk_got.ga_ends = calloc(gather->gt_nevents + 1,
	    sizeof(*worker->wk_got.ga_ends));
	if (worker->wk_got.ga_ends == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	worker->wk_decoder = prof_decoder_new(gather->gt_reader,
	    &worker->wk_error);
	return (worker->wk_decoder == NULL ? -1 : 0);
}

static void
worker_fini(struct worker *worker)
{
	prof_decoder_free(worker->wk_decoder);
	prof_dict_free(&worker->wk_by_who);
	prof_dict_free(&worker->wk_by_fold);
	prof_gathered_free(&worker->wk_got);
}

static int
work_chunk(struct worker *worker, size_t n)
{
	const struct prof_sample *sample;

	if (prof_decoder_open(worker->wk_decoder, n) == -1)
		return (-1);
	while ((sample = prof_decoder_next(worker->wk_decoder)) != NULL)
		if (fold_sample(worker, sample) == -1)
			return (-1);
	return (0);
}

/* Until there is no chunk left; the caller's own thread says how far it is. */
static void
work(struct worker *worker, bool is_caller)
{
	struct gather *gather = worker->wk_gather;
	const struct prof_profile_options *options = gather->gt_options;
	size_t n;

	while (!atomic_load(&gather->gt_stop) &&
	    (n = atomic_fetch_add(&gather->gt_next, 1)) <
	    gather->gt_nchunks) {
		if (work_chunk(worker, n) == -1)
			atomic_store(&gather->gt_stop, true);
		if (is_caller && options->pl_progress != NULL &&
		    options->pl_progress(options->pl_arg,
		    (double)n / (double)gather->gt_nchunks) != 0) {
			prof_fail(&worker->wk_error, PROF_E_BUSY, "given up");
			atomic_store(&gather->gt_stop, true);
		}
	}
}

static void *
work_thread(void *arg)
{
	work(arg, false);
	return (NULL);
}

/* Take over what another worker found. */
static int
merge(struct worker *to, struct worker *from)
{
	struct prof_gathered *got = &to->wk_got, *add = &from->wk_got;
	struct prof_fold *fold;
	size_t i;
	int who;

	fold = reallocarray(got->ga_fold, got->ga_nfolds + add->ga_nfolds + 1,
	    sizeof(*fold));
	if (fold == NULL)
		return (prof_fail_nomem(&to->wk_error));
	got->ga_fold = fold;
	for (i = 0; i < add->ga_nfolds; i++) {
		who = who_add(to, &add->ga_who[add->ga_fold[i].fo_who]);
		if (who == -1)
			return (prof_fail_nomem(&to->wk_error));
		fold = &got->ga_fold[got->ga_nfolds++];
		*fold = add->ga_fold[i];
		fold->fo_who = (uint32_t)who;
	}
	for (i = 0; i < to->wk_gather->gt_nevents; i++) {
		got->ga_ends[i].en_stacks += add->ga_ends[i].en_stacks;
		got->ga_ends[i].en_whole += add->ga_ends[i].en_whole;
		got->ga_ends[i].en_squares += add->ga_ends[i].en_squares;
	}
	if (add->ga_first_ns < got->ga_first_ns)
		got->ga_first_ns = add->ga_first_ns;
	if (add->ga_last_ns > got->ga_last_ns)
		got->ga_last_ns = add->ga_last_ns;
	return (0);
}

/* Run them all; the first one's tables have everything then. */
static int
work_all(struct worker *workers, size_t n)
{
	struct prof_err *error = &workers[0].wk_error;
	size_t i;

	for (i = 1; i < n; i++)
		workers[i].wk_started = pthread_create(&workers[i].wk_thread,
		    NULL, work_thread, &workers[i]) == 0;
	work(&workers[0], true);
	for (i = 1; i < n; i++)
		if (workers[i].wk_started)
			(void)pthread_join(workers[i].wk_thread, NULL);
	for (i = 1; i < n && error->pe_code == PROF_OK; i++) {
		if (workers[i].wk_error.pe_code != PROF_OK)
			*error = workers[i].wk_error;
		else
			(void)merge(&workers[0], &workers[i]);
	}
	return (error->pe_code == PROF_OK ? 0 : -1);
}

static size_t
count_cpus(void)
{
	cpu_set_t set;
	int n = 1;

	if (sched_getaffinity(0, sizeof(set), &set) == 0)
		n = CPU_COUNT(&set);
	return (n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : (size_t)n);
}

/* ------------------------------------------------------- cells */

/* Cells count from the first sample that is wanted; samples are in order. */
static int
find_first(struct worker *worker)
{
	struct gather *gather = worker->wk_gather;
	const struct prof_sample *sample;
	const struct prof_record *record;
	const struct cached *cached;
	size_t n;

	for (n = 0; n < gather->gt_nchunks; n++) {
		if (prof_decoder_open(worker->wk_decoder, n) == -1)
			return (-1);
		while ((sample = prof_decoder_next(worker->wk_decoder)) !=
		    NULL) {
			record = &sample->sm_record;
			if (!prof_select_time(&gather->gt_select,
			    record->pr_time_ns))
				continue;
			cached = who_find(worker, record);
			if (cached == NULL)
				return (prof_fail_nomem(&worker->wk_error));
			if (!prof_select_wants(&gather->gt_select, record,
			    cached->ca_moment.mo_comm))
				continue;
			gather->gt_cell_from_ns = record->pr_time_ns;
			return (0);
		}
	}
	return (0);
}

/* ------------------------------------------------------- the whole */

static int
gather_run(struct gather *gather, struct prof_gathered *gathered,
    struct prof_err *error)
{
	size_t n = count_cpus(), i;
	struct worker *workers;
	int rv = 0;

	if (n > gather->gt_nchunks)
		n = gather->gt_nchunks == 0 ? 1 : gather->gt_nchunks;
	workers = calloc(n, sizeof(*workers));
	if (workers == NULL)
		return (prof_fail_nomem(error));
	for (i = 0; i < n && rv == 0; i++) {
		rv = worker_init(&workers[i], gather);
		if (rv == -1)
			*error = workers[i].wk_error;
	}
	if (rv == 0 && ((gather->gt_options->pl_cell_ns != 0 &&
	    find_first(&workers[0]) == -1) || work_all(workers, n) == -1)) {
		*error = workers[0].wk_error;
		rv = -1;
	}
	if (rv == 0) {
		*gathered = workers[0].wk_got;
		memset(&workers[0].wk_got, 0, sizeof(workers[0].wk_got));
	}
	for (i = 0; i < n; i++)
		worker_fini(&workers[i]);
	free(workers);
	return (rv);
}

int
prof_gather(struct prof_gathered *gathered, const struct prof_reader *reader,
    struct prof_symbols *symbols, const struct prof_history *history,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct gather gather = {
		.gt_reader = reader,
		.gt_symbols = symbols,
		.gt_history = history,
		.gt_options = options,
		.gt_nchunks = prof_decoder_nchunks(reader),
		.gt_nevents = prof_reader_nevents(reader),
	};
	int rv;

	rv = prof_select_init(&gather.gt_select, reader, options, error);
	if (rv == 0)
		rv = gather_run(&gather, gathered, error);
	prof_select_fini(&gather.gt_select);
	return (rv);
}

void
prof_gathered_free(struct prof_gathered *gathered)
{
	free(gathered->ga_fold);
	free(gathered->ga_who);
	free(gathered->ga_ends);
}
