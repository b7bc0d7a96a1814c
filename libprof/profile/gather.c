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
 *
 * What is different is charged to a budget.  Beyond it, or the tree's, which
 * samples found room must not depend on which thread was first: one begins
 * anew and alone, and what comes too late for it becomes one fold an event.
 *
 * When each fold has its node there may be a second pass over all samples, to
 * know what was when: a node is few folds, and a bucket of time few samples, so
 * this takes much less memory than telling folds apart by time.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/error.h"
#include "process/symbols.h"
#include "profile_impl.h"

#define MAX_THREADS	16
#define CACHE_SIZE	256	/* threads times CPUs, about */
#define NOBODY		UINT32_MAX /* there is no room for who it was */

/* Memory, with what tables and later steps keep of the same. */
#define WHO_BYTES	320
#define FOLD_BYTES	224

/* What one thread of a process on a CPU is, for a while. */
struct cached {
	struct prof_moment ca_moment;
	uint32_t	 ca_pid;
	uint32_t	 ca_tid;
	uint32_t	 ca_cpu;
	uint32_t	 ca_who;
	uint32_t	 ca_task;	/* UINT32_MAX: it had no room */
	bool		 ca_valid;
};

/* What all threads share. */
struct prof_gather {
	const struct prof_reader *gt_reader;
	struct prof_symbols *gt_symbols;
	const struct prof_history *gt_history;
	const struct prof_profile_options *gt_options;
	struct prof_select gt_select;
	struct prof_folding gt_folding;
	const uint32_t	*gt_nodes;	/* of folds; NULL: the first pass */
	size_t		 gt_nchunks;
	size_t		 gt_nevents;
	atomic_size_t	 gt_next;	/* chunk that nobody has */
	atomic_bool	 gt_stop, gt_over; /* one has no room left */
	uint8_t		*gt_taken;	/* who has the chunk's folds */
	struct worker	*gt_worker;
	size_t		 gt_nworkers;
};

struct worker {
	struct prof_gather *wk_gather;
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
	size_t		 wk_first;	/* its folds' place among all */
	size_t		 wk_nchunk;	/* the second pass is here */
	struct prof_buckets wk_buckets;
	struct prof_budget wk_budget;
};

/* ----------------------------------------------------- who was it */

static int
who_insert(struct worker *worker, const struct prof_who *key)
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

/* Its number, or NOBODY; -1: no memory. */
static int
who_add(struct worker *worker, const struct prof_who *key, uint32_t *number)
{
	int n;

	*number = prof_dict_peek(&worker->wk_by_who, key, sizeof(*key));
	if (*number != PROF_INTERN_FAILED)
		return (0);
	*number = NOBODY;
	if (!prof_budget_take(&worker->wk_budget, WHO_BYTES))
		return (0);
	n = who_insert(worker, key);
	*number = (uint32_t)n;
	return (n == -1 ? -1 : 0);
}

static int
who_number(struct worker *worker, const struct prof_record *record,
    const struct prof_moment *moment, const char *comm, uint32_t *number)
{
	unsigned roots = worker->wk_gather->gt_options->pl_roots;
	struct prof_who key = {
		.wh_space = moment->mo_space,
		.wh_roots = roots,
	};

	if (roots & PROF_ROOT_PID)
		key.wh_pid = record->pr_pid;
	if (roots & PROF_ROOT_TID)
		key.wh_tid = record->pr_tid;
	if (roots & PROF_ROOT_CPU)
		key.wh_cpu = record->pr_cpu;
	if (roots & PROF_ROOT_CALL)
		key.wh_call = prof_fold_call(worker->wk_gather->gt_reader,
		    record);
	if (roots & PROF_ROOT_ARGS) {
		key.wh_args = prof_args_of(&worker->wk_got.ga_args,
		    &worker->wk_budget, worker->wk_gather->gt_options,
		    prof_reader_event(worker->wk_gather->gt_reader,
		    record->pr_event), record);
		*number = NOBODY;
		if (key.wh_args == PROF_ARGS_OVER)
			return (0);
		if (key.wh_args++ == PROF_INTERN_FAILED)
			return (-1);
	}
	if (roots & PROF_ROOT_COMM && record->pr_tid == 0)
		key.wh_is_0 = 1;
	else if (roots & PROF_ROOT_COMM)
		memcpy(key.wh_comm, comm, strnlen(comm, PROF_COMM_LEN - 1));
	return (who_add(worker, &key, number));
}

/* The same thread on the same CPU has not changed most of the time. */
static struct cached *
who_find(struct worker *worker, const struct prof_record *record)
{
	uint32_t at = (record->pr_tid + record->pr_cpu * 7) % CACHE_SIZE;
	struct cached *cached = &worker->wk_cache[at];
	struct prof_moment *moment = &cached->ca_moment;

	if (cached->ca_valid && cached->ca_tid == record->pr_tid &&
	    cached->ca_pid == record->pr_pid &&
	    cached->ca_cpu == record->pr_cpu &&
	    record->pr_time_ns >= moment->mo_from_ns &&
	    record->pr_time_ns < moment->mo_to_ns)
		return (cached);
	prof_history_at(worker->wk_gather->gt_history, record->pr_tid,
	    record->pr_time_ns, moment);
	moment->mo_space = prof_symbols_space_while(
	    worker->wk_gather->gt_symbols, record->pr_pid,
	    record->pr_time_ns, &moment->mo_from_ns, &moment->mo_to_ns);
	cached->ca_valid = false;
	if (who_number(worker, record, moment, moment->mo_comm,
	    &cached->ca_who) == -1 || prof_tasks_find(
	    &worker->wk_got.ga_tasks, &worker->wk_budget, record->pr_pid,
	    record->pr_tid, &cached->ca_task) == -1)
		return (NULL);
	cached->ca_pid = record->pr_pid;
	cached->ca_tid = record->pr_tid;
	cached->ca_cpu = record->pr_cpu;
	cached->ca_valid = true;
	return (cached);
}

/* ------------------------------------------------------- samples */

static int
bucket_add(struct worker *worker, const struct prof_fold *fold, uint32_t n,
    int64_t at)
{
	struct prof_bucket bucket = {
		.pc_bucket = (uint32_t)at,
		.pc_node = worker->wk_gather->gt_nodes[worker->wk_first + n],
		.pc_event = fold->fo_event,
		.pc_samples = fold->fo_samples,
		.pc_weight = fold->fo_weight,
	};

	return (prof_buckets_add(&worker->wk_buckets, &bucket) == -1 ?
	    prof_fail_nomem(&worker->wk_error) : 0);
}

/* All of an event that there is no room for. */
static int
fold_over(struct worker *worker, const struct prof_fold *fold,
    struct prof_fold *over)
{
	static const struct prof_who anybody;
	int who;

	atomic_store(&worker->wk_gather->gt_over, true);
	if (worker->wk_gather->gt_nworkers > 1)
		atomic_store(&worker->wk_gather->gt_stop, true);
	who = who_insert(worker, &anybody);
	if (who == -1)
		return (prof_fail_nomem(&worker->wk_error));
	*over = (struct prof_fold){
		.fo_who = (uint32_t)who,
		.fo_event = fold->fo_event,
		.fo_bits = PROF_FOLD_OVER,
		.fo_weight = fold->fo_weight,
		.fo_samples = fold->fo_samples,
	};
	return (0);
}

/* Is there one, whose number it is, or room for it? */
static bool
fold_find(struct worker *worker, const struct prof_fold *fold, uint32_t *n)
{
	*n = fold->fo_who == NOBODY ? PROF_INTERN_FAILED :
	    prof_dict_peek(&worker->wk_by_fold, fold, PROF_FOLD_KEY);
	return (*n != PROF_INTERN_FAILED || (fold->fo_who != NOBODY &&
	    worker->wk_gather->gt_nodes == NULL &&
	    prof_budget_take(&worker->wk_budget, FOLD_BYTES)));
}

static int
fold_add(struct worker *worker, const struct prof_fold *fold, int64_t bucket)
{
	struct prof_fold over, *sum;
	bool is_new;
	uint32_t n;

	if (!fold_find(worker, fold, &n)) {
		if (fold_over(worker, fold, &over) == -1)
			return (-1);
		fold = &over;
		n = prof_dict_peek(&worker->wk_by_fold, fold, PROF_FOLD_KEY);
	}
	if (worker->wk_gather->gt_nodes != NULL)
		return (n == PROF_INTERN_FAILED ? prof_fail(&worker->wk_error,
		    PROF_E_DAMAGED,
		    "the recording changed while dtprof read it") :
		    bucket_add(worker, fold, n, bucket));
	if (n != PROF_INTERN_FAILED) {
		sum = &worker->wk_got.ga_fold[n];
		sum->fo_weight += fold->fo_weight;
		sum->fo_samples += fold->fo_samples;
		return (0);
	}
	if (prof_dict_find(&worker->wk_by_fold, fold, PROF_FOLD_KEY,
	    &is_new) == PROF_INTERN_FAILED)
		return (prof_fail_nomem(&worker->wk_error));
	sum = prof_grow((void **)&worker->wk_got.ga_fold,
	    &worker->wk_got.ga_nfolds, &worker->wk_cap_folds, sizeof(*sum));
	if (sum == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	*sum = *fold;
	return (0);
}

static void
sample_tally(struct worker *worker, const struct prof_record *record,
    uint32_t task)
{
	struct prof_gathered *got = &worker->wk_got;

	if (task != UINT32_MAX)
		got->ga_tasks.tk_task[task].ta_samples++;
	prof_ends_add(&got->ga_ends[record->pr_event], record,
	    record->pr_weight);
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
    const struct prof_fold *sample, int64_t bucket)
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
		if (worker->wk_gather->gt_nodes == NULL)
			prof_ends_add(ends, record, weight);
		fold.fo_event = info->pi_counter[n];
		fold.fo_weight = weight;
		if (fold_add(worker, &fold, bucket) == -1)
			return (-1);
	}
	return (0);
}

static int
fold_sample(struct worker *worker, const struct prof_sample *sample)
{
	const struct prof_gather *gather = worker->wk_gather;
	const struct prof_record *record = &sample->sm_record;
	const struct cached *cached;
	struct prof_fold fold;
	int64_t bucket;

	if (!prof_select_time(&gather->gt_select, record->pr_time_ns))
		return (0);
	cached = who_find(worker, record);
	if (cached == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	/* Mostly all are: no call for each of them. */
	if (((gather->gt_select.se_filter != NULL ||
	    gather->gt_select.se_held != NULL) &&
	    !prof_select_wants(&gather->gt_select, sample,
	    cached->ca_moment.mo_comm)) || (bucket = prof_select_bucket(
	    &gather->gt_select, record, gather->gt_nodes == NULL ? 0 :
	    gather->gt_worker[0].wk_got.ga_first_ns)) < 0)
		return (0);
	prof_fold_make(&fold, &gather->gt_folding, sample);
	fold.fo_who = cached->ca_who;
	if ((gather->gt_options->pl_roots & PROF_ROOT_COMM &&
	    record->pr_comm[0] != '\0') ||
	    gather->gt_options->pl_roots & (PROF_ROOT_CALL |
	    PROF_ROOT_ARGS)) {
		/* What differs from sample to sample of a thread. */
		if (who_number(worker, record, &cached->ca_moment,
		    record->pr_comm[0] != '\0' ? record->pr_comm :
		    cached->ca_moment.mo_comm, &fold.fo_who) == -1)
			return (prof_fail_nomem(&worker->wk_error));
	}
	fold.fo_weight = record->pr_weight;
	fold.fo_samples = 1;
	if (gather->gt_nodes == NULL)
		sample_tally(worker, record, cached->ca_task);
	if (fold_add(worker, &fold, bucket) == -1)
		return (-1);
	return (record->pr_nvalues > 0 ? fold_values(worker, record, &fold,
	    bucket) : 0);
}

/* ------------------------------------------------------- threads */

static int
worker_init(struct worker *worker, struct prof_gather *gather)
{
	worker->wk_gather = gather;
	worker->wk_budget = prof_budget_of(gather->gt_reader);
	worker->wk_budget.bu_left /= gather->gt_nworkers;
	worker->wk_got.ga_first_ns = UINT64_MAX;
	worker->wk_got.ga_ends = calloc(gather->gt_nevents + 1,
	    sizeof(*worker->wk_got.ga_ends));
	if (worker->wk_got.ga_ends == NULL)
		return (prof_fail_nomem(&worker->wk_error));
	worker->wk_decoder = prof_decoder_elapsed(gather->gt_reader,
	    &worker->wk_error);
	return (worker->wk_decoder == NULL ? -1 : 0);
}

static void
worker_fini(struct worker *worker)
{
	prof_decoder_free(worker->wk_decoder);
	prof_dict_free(&worker->wk_by_who);
	prof_dict_free(&worker->wk_by_fold);
	prof_buckets_fini(&worker->wk_buckets);
	free(worker->wk_got.ga_fold);
	free(worker->wk_got.ga_who);
	free(worker->wk_got.ga_ends);
	prof_args_fini(&worker->wk_got.ga_args);
	prof_tasks_fini(&worker->wk_got.ga_tasks);
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

/* Any chunk that nobody has; in the second pass whose folds it knows. */
static size_t
next_chunk(struct worker *worker)
{
	struct prof_gather *gather = worker->wk_gather;
	const uint8_t self = (uint8_t)(worker - gather->gt_worker);
	size_t n;

	if (gather->gt_nodes == NULL) {
		n = atomic_fetch_add(&gather->gt_next, 1);
		if (n < gather->gt_nchunks)
			gather->gt_taken[n] = self;
		return (n);
	}
	while (worker->wk_nchunk < gather->gt_nchunks &&
	    gather->gt_taken[worker->wk_nchunk] != self)
		worker->wk_nchunk++;
	return (worker->wk_nchunk++);
}

/* How far it is, of one pass or two; nonzero: give up. */
static int
progress_tell(const struct prof_gather *gather, size_t n)
{
	const struct prof_profile_options *options = gather->gt_options;
	double done = (double)n / (double)gather->gt_nchunks;

	if (options->pl_progress == NULL)
		return (0);
	if (options->pl_bucket_ns != 0 || options->pl_bucket_of != NULL)
		done = (done + (gather->gt_nodes != NULL)) / 2;
	return (options->pl_progress(options->pl_arg, done));
}

/* Until there is no chunk left. */
static void
worker_run(struct worker *worker)
{
	struct prof_gather *gather = worker->wk_gather;
	size_t n;

	while (!atomic_load(&gather->gt_stop) &&
	    (n = next_chunk(worker)) < gather->gt_nchunks) {
		if (work_chunk(worker, n) == -1)
			atomic_store(&gather->gt_stop, true);
		/* The caller's own thread. */
		if (worker == gather->gt_worker &&
		    progress_tell(gather, n) != 0) {
			prof_fail(&worker->wk_error, PROF_E_BUSY, "given up");
			atomic_store(&gather->gt_stop, true);
		}
	}
}

static void *
work_thread(void *arg)
{
	worker_run(arg);
	return (NULL);
}

/* Numbers of texts are each worker's own. */
static int
who_join(struct worker *to, const struct prof_gathered *from, uint32_t n)
{
	struct prof_who who = from->ga_who[n];

	if (who.wh_args != 0) {
		who.wh_args = prof_args_join(&to->wk_got.ga_args,
		    &from->ga_args, who.wh_args - 1);
		if (who.wh_args++ == PROF_INTERN_FAILED)
			return (-1);
	}
	return (who_insert(to, &who));
}

/* Take over what another worker found. */
static int
worker_merge(struct worker *to, struct worker *from)
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
	from->wk_first = got->ga_nfolds;
	for (i = 0; i < add->ga_nfolds; i++) {
		who = who_join(to, add, add->ga_fold[i].fo_who);
		if (who == -1)
			return (prof_fail_nomem(&to->wk_error));
		fold = &got->ga_fold[got->ga_nfolds++];
		*fold = add->ga_fold[i];
		fold->fo_who = (uint32_t)who;
	}
	if (prof_tasks_join(&got->ga_tasks, &add->ga_tasks) == -1)
		return (prof_fail_nomem(&to->wk_error));
	for (i = 0; i < to->wk_gather->gt_nevents; i++)
		prof_ends_join(&got->ga_ends[i], &add->ga_ends[i]);
	if (add->ga_first_ns < got->ga_first_ns)
		got->ga_first_ns = add->ga_first_ns;
	if (add->ga_last_ns > got->ga_last_ns)
		got->ga_last_ns = add->ga_last_ns;
	return (0);
}

/*
 * Run them all.  Of one that cannot be started the others do the work; in
 * the second pass the caller does what only that one knows.
 */
static int
work_all(struct prof_gather *gather, struct prof_err *error)
{
	struct worker *worker = gather->gt_worker;
	size_t i;

	for (i = 1; i < gather->gt_nworkers; i++)
		worker[i].wk_started = pthread_create(&worker[i].wk_thread,
		    NULL, work_thread, &worker[i]) == 0;
	worker_run(worker);
	for (i = 1; i < gather->gt_nworkers; i++)
		if (worker[i].wk_started)
			(void)pthread_join(worker[i].wk_thread, NULL);
		else if (gather->gt_nodes != NULL)
			worker_run(&worker[i]);
	for (i = 0; i < gather->gt_nworkers; i++) {
		if (worker[i].wk_error.pe_code == PROF_OK)
			continue;
		*error = worker[i].wk_error;
		return (-1);
	}
	return (0);
}

/* One worker per CPU, or only one if the filter looks at stacks. */
static size_t
count_workers(const struct prof_gather *gather)
{
	cpu_set_t set;
	size_t n = 1;

	if (gather->gt_select.se_calls == NULL &&
	    sched_getaffinity(0, sizeof(set), &set) == 0)
		n = (size_t)CPU_COUNT(&set);
	if (n > gather->gt_nchunks)
		n = gather->gt_nchunks;
	return (n < 1 ? 1 : n > MAX_THREADS ? MAX_THREADS : n);
}

/* ------------------------------------------------------- the whole */

/* The first one's tables have everything then. */
static int
gather_folds(struct prof_gather *gather, struct prof_err *error)
{
	struct worker *worker = gather->gt_worker;
	size_t i;

	for (i = 0; i < gather->gt_nworkers; i++)
		if (worker_init(&worker[i], gather) == -1)
			goto failed;
	if (work_all(gather, error) == -1)
		return (-1);
	for (i = 1; !atomic_load(&gather->gt_over) &&
	    i < gather->gt_nworkers; i++)
		if (worker_merge(worker, &worker[i]) == -1) {
			i = 0;
			goto failed;
		}
	return (0);
failed:
	*error = worker[i].wk_error;
	return (-1);
}

static int
workers_new(struct prof_gather *gather, struct prof_err *error)
{
	gather->gt_nworkers = count_workers(gather);
	gather->gt_worker = calloc(gather->gt_nworkers,
	    sizeof(*gather->gt_worker));
	gather->gt_taken = calloc(gather->gt_nchunks + 1, 1);
	return (gather->gt_worker == NULL || gather->gt_taken == NULL ?
	    prof_fail_nomem(error) : 0);
}

static int
gather_count(struct prof_gather *gather, struct prof_err *error)
{
	struct prof_gathered *got = &gather->gt_worker[0].wk_got;

	if (prof_select_check(&gather->gt_select, error) == -1 ||
	    prof_chance_share(got, gather->gt_options, error) == -1)
		return (-1);
	prof_tasks_count(&got->ga_tasks, gather->gt_history,
	    &got->ga_sampled);
	got->ga_rest = prof_held_rest(gather->gt_select.se_held);
	got->ga_is_alone = gather->gt_nworkers == 1;
	return (0);
}

int
prof_gather_alone(struct prof_gather *gather, struct prof_err *error)
{
	for (size_t i = 0; i < gather->gt_nworkers; i++)
		worker_fini(&gather->gt_worker[i]);
	memset(gather->gt_worker, 0, gather->gt_nworkers *
	    sizeof(*gather->gt_worker));
	gather->gt_nworkers = 1;
	atomic_store(&gather->gt_next, 0);
	atomic_store(&gather->gt_stop, false);
	return (gather_folds(gather, error) == -1 ? -1 :
	    gather_count(gather, error));
}

struct prof_gather *
prof_gather_new(struct prof_reader *reader,
    struct prof_symbols *symbols, const struct prof_history *history,
    const struct prof_profile_options *options, struct prof_err *error)
{
	struct prof_gather *gather = calloc(1, sizeof(*gather));

	if (gather == NULL) {
		prof_fail_nomem(error);
		return (NULL);
	}
	gather->gt_reader = reader;
	gather->gt_symbols = symbols;
	gather->gt_history = history;
	gather->gt_options = options;
	gather->gt_nchunks = prof_decoder_nchunks(reader);
	gather->gt_nevents = prof_reader_nevents(reader);
	if (prof_select_init(&gather->gt_select, reader, symbols, options,
	    error) == 0 && prof_folding_init(&gather->gt_folding, reader,
	    options, error) == 0 && workers_new(gather, error) == 0 &&
	    gather_folds(gather, error) == 0 &&
	    (atomic_load(&gather->gt_over) && gather->gt_nworkers > 1 ?
	    prof_gather_alone : gather_count)(gather, error) == 0)
		return (gather);
	prof_gather_free(gather);
	return (NULL);
}

const struct prof_gathered *
prof_gather_folds(const struct prof_gather *gather)
{
	return (&gather->gt_worker[0].wk_got);
}

int
prof_gather_buckets(struct prof_gather *gather, const uint32_t *nodes,
    size_t nnodes, struct prof_buckets *buckets, struct prof_err *error)
{
	struct worker *worker = gather->gt_worker;
	size_t i;

	gather->gt_nodes = nodes;
	for (i = 0; i < gather->gt_nworkers; i++)
		if (prof_buckets_init(&worker[i].wk_buckets, nnodes,
		    buckets->ce_max) == -1)
			return (prof_fail_nomem(error));
	if (work_all(gather, error) == -1)
		return (-1);
	for (i = 0; i < gather->gt_nworkers; i++)
		if (prof_buckets_join(buckets, &worker[i].wk_buckets) == -1)
			return (prof_fail_nomem(error));
	return (0);
}

void
prof_gather_free(struct prof_gather *gather)
{
	size_t i;

	if (gather == NULL)
		return;
	for (i = 0; gather->gt_worker != NULL && i < gather->gt_nworkers; i++)
		worker_fini(&gather->gt_worker[i]);
	prof_select_fini(&gather->gt_select);
	prof_folding_fini(&gather->gt_folding);
	free(gather->gt_worker);
	free(gather->gt_taken);
	free(gather);
}
