/* SPDX-License-Identifier: ISC */
/*
 * The counts of each process or thread.  The events count everybody on each
 * CPU; sys/split.bpf.c gives what was counted between two switches of a CPU
 * to whom it was counted for, in a map that is read here after the stop.
 *
 *	open -> fill (descriptors, targets) -> attach -> detach -> collect
 *
 * Called by counters.c in place of counters of tasks.  What a CPU counted
 * after its last switch is added here, so the sums are the counts.
 */
#include <sys/mman.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/dtp_abi.h"
#include "abi/dtp_split.h"
#include "backend/bpf/wait.h"
#include "base/grow.h"
#include "counters_impl.h"
#include "os/cpus.h"
#include "os/permission.h"

#include "split.skel.h"

_Static_assert(PROF_SPLIT_EVENTS == DTP_SPLIT_EVENTS, "prof.h");

struct counting_split {
	struct split_bpf *sp_skel;
	struct dtp_targets *sp_targets;	/* mapped; NULL: not yet */
	bool		 sp_is_new;	/* one was entered */
	struct dtp_split_key *sp_keys;	/* of the tasks, then ... */
	struct dtp_split_task *sp_values;
	struct prof_counted_task *sp_tasks; /* ... what is shown of them */
	size_t		 sp_ntasks;
	size_t		 sp_nshown;	/* of sp_tasks */
	uint64_t	 sp_lost[DTP_SPLIT_EVENTS];
};

static int	program_load(struct prof_counting *, struct counting_split *);
static int	config_fill(struct prof_counting *, struct counting_split *);
static int	enter_all(struct prof_counting *, struct counting_split *);
static int	read_tasks(struct prof_counting *, struct counting_split *);
static int	add_rest(struct prof_counting *, struct counting_split *);
static int	show_tasks(struct prof_counting *, struct counting_split *);

/* Bit e: the kernel counts it for who leaves a CPU, after the switch. */
static uint32_t
late_events(const struct prof_counting *counting)
{
	uint32_t late = 0;

	for (size_t e = 0; e < counting->kg_nevents; e++) {
		const struct perf_event_attr *attr =
		    &counting->kg_event[e].ke_attr;

		if (attr->type == PERF_TYPE_SOFTWARE &&
		    (attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		    attr->config == PERF_COUNT_SW_CGROUP_SWITCHES))
			late |= 1U << e;
	}
	return (late);
}

bool
prof_counting_splits_family(const struct prof_counting *counting)
{
	return (counting->kg_split_by != PROF_SPLIT_NONE &&
	    (counting->kg_options.po_target == PROF_TARGET_COMMAND ||
	    counting->kg_options.po_target == PROF_TARGET_PIDS));
}

/* ----------------------------------------------------------------- arm */

static int
program_load(struct prof_counting *counting, struct counting_split *split)
{
	struct split_bpf *skel;
	const uint32_t ncpus = (uint32_t)prof_cpus_possible();

	libbpf_set_print(NULL);
	if ((skel = split->sp_skel = split_bpf__open()) == NULL)
		return (prof_bpf_explain(&counting->kg_error, errno));
	skel->rodata->cfg.dc_nvalues = (uint32_t)counting->kg_nevents;
	skel->rodata->cfg.dc_ncpus = ncpus;
	skel->rodata->cfg.dc_target_mode =
	    prof_counting_splits_family(counting) ? DTP_TARGET_PID :
	    DTP_TARGET_ALL;
	skel->rodata->cfg.dc_inherit = !counting->kg_options.po_no_inherit;
	skel->rodata->split.sg_late = late_events(counting);
	skel->rodata->split.sg_threads =
	    counting->kg_split_by == PROF_SPLIT_THREAD;
	if (bpf_map__set_max_entries(skel->maps.values_fds,
	    ncpus * (uint32_t)counting->kg_nevents) != 0 ||
	    split_bpf__load(skel) != 0)
		return (prof_bpf_explain(&counting->kg_error, errno));
	split->sp_targets = mmap(NULL, sizeof(*split->sp_targets),
	    PROT_READ | PROT_WRITE, MAP_SHARED,
	    bpf_map__fd(skel->maps.targets), 0);
	if (split->sp_targets != MAP_FAILED)
		return (0);
	split->sp_targets = NULL;
	return (prof_bpf_explain(&counting->kg_error, errno));
}

/* The descriptors of the CPUs' counters. */
static int
config_fill(struct prof_counting *counting, struct counting_split *split)
{
	const int map = bpf_map__fd(split->sp_skel->maps.values_fds);
	const uint32_t ncpus = (uint32_t)prof_cpus_possible();

	for (size_t t = 0; t < counting->kg_ntargets; t++)
		for (size_t e = 0; e < counting->kg_nevents; e++) {
			const int fd = prof_counting_fd(counting, t,
			    e)->kf_fd;
			const uint32_t at = (uint32_t)e * ncpus +
			    (uint32_t)counting->kg_target[t].kt_cpu;

			if (fd != -1 && bpf_map_update_elem(map, &at, &fd,
			    BPF_ANY) != 0)
				return (prof_bpf_explain(&counting->kg_error,
				    errno));
		}
	return (0);
}

/* What the program has entered meanwhile stands. */
static bool
task_enter(struct counting_split *split, int pid, uint8_t how)
{
	uint8_t *at = &split->sp_targets->tg_how[(uint32_t)pid &
	    (DTP_TASK_IDS - 1)];
	uint8_t none = 0;

	return (__atomic_compare_exchange_n(at, &none, how, false,
	    __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

static int
target_enter(void *arg, int pid)
{
	struct counting_split *split = arg;

	split->sp_is_new |= task_enter(split, pid, DTP_TG_ACTIVE);
	return (0);
}

/*
 * The command, which waits for its exec; or the processes named, and, unless
 * they are meant alone, all that descend from them: until a look brings nobody
 * new, since who is born meanwhile is entered by the program.
 */
static int
enter_all(struct prof_counting *counting, struct counting_split *split)
{
	const struct prof_options *po = &counting->kg_options;

	if (!prof_counting_splits_family(counting))
		return (0);
	if (po->po_target == PROF_TARGET_COMMAND) {
		(void)task_enter(split, counting->kg_command.cm_pid,
		    DTP_TG_WAIT);
		return (0);
	}
	do {
		split->sp_is_new = false;
		if (prof_procfs_family(po->po_ids, po->po_nids,
		    !po->po_no_inherit, target_enter, split) == -1)
			return (prof_fail_nomem(&counting->kg_error));
	} while (split->sp_is_new);
	return (0);
}

int
prof_counting_split_check(struct prof_counting *counting)
{
	if (counting->kg_nevents > DTP_SPLIT_EVENTS)
		return (prof_fail(&counting->kg_error, PROF_E_LIMIT,
		    "more than %d events cannot be counted per process",
		    DTP_SPLIT_EVENTS));
	if (!prof_bpf_usable(&counting->kg_error))
		return (-1);
	return (prof_counting_fit_all(counting));
}

int
prof_counting_split_open(struct prof_counting *counting)
{
	struct counting_split *split;

	if ((split = calloc(1, sizeof(*split))) == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	counting->kg_split = split;
	if (program_load(counting, split) == -1 || config_fill(counting,
	    split) == -1)
		return (-1);
	if (split_bpf__attach(split->sp_skel) != 0)
		return (prof_bpf_explain(&counting->kg_error, errno));
	return (enter_all(counting, split));
}

/*
 * Run on each CPU for a moment: from that switch on it is known who runs
 * there, also where nobody comes or goes.
 */
void
prof_counting_split_visit(const struct prof_counting *counting)
{
	const size_t ncpus = (size_t)prof_cpus_possible();
	const size_t size = CPU_ALLOC_SIZE(ncpus);
	cpu_set_t *was = CPU_ALLOC(ncpus), *one = CPU_ALLOC(ncpus);

	if (was != NULL && one != NULL &&
	    sched_getaffinity(0, size, was) == 0) {
		for (size_t t = 0; t < counting->kg_ntargets; t++) {
			CPU_ZERO_S(size, one);
			CPU_SET_S((size_t)counting->kg_target[t].kt_cpu, size,
			    one);
			(void)sched_setaffinity(0, size, one);
		}
		(void)sched_setaffinity(0, size, was);
	}
	CPU_FREE(was);
	CPU_FREE(one);
}

/* ---------------------------------------------------------------- stop */

/* Who has this key; appended when it is new.  NULL: no memory. */
static struct dtp_split_task *
task_of(struct counting_split *split, const struct dtp_split_key *key)
{
	struct dtp_split_key *new;
	size_t n = split->sp_ntasks;

	for (size_t t = 0; t < n; t++)
		if (memcmp(&split->sp_keys[t], key, sizeof(*key)) == 0)
			return (&split->sp_values[t]);
	if ((new = prof_append(&split->sp_keys, &n, sizeof(*new))) == NULL)
		return (NULL);
	*new = *key;
	return (prof_append(&split->sp_values, &split->sp_ntasks,
	    sizeof(*split->sp_values)));
}

static int
read_tasks(struct prof_counting *counting, struct counting_split *split)
{
	const int map = bpf_map__fd(split->sp_skel->maps.split_tasks);
	struct dtp_split_key key, *last = NULL;
	size_t n = 0;

	/* Room for all at once: each is new, and none is looked for. */
	while (bpf_map_get_next_key(map, last, &key) == 0 &&
	    n++ < DTP_SPLIT_TASKS)
		last = &key;
	split->sp_keys = calloc(n + 1, sizeof(*split->sp_keys));
	split->sp_values = calloc(n + 1, sizeof(*split->sp_values));
	if (split->sp_keys == NULL || split->sp_values == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	for (last = NULL; split->sp_ntasks < n &&
	    bpf_map_get_next_key(map, last, &key) == 0; last = &key) {
		split->sp_keys[split->sp_ntasks] = key;
		if (bpf_map_lookup_elem(map, &key,
		    &split->sp_values[split->sp_ntasks]) == 0)
			split->sp_ntasks++;
	}
	return (0);
}

/* What a CPU has counted after its last switch. */
static int
add_rest(struct prof_counting *counting, struct counting_split *split)
{
	const size_t ncpus = (size_t)prof_cpus_possible();
	const uint32_t zero = 0, late = late_events(counting);
	struct dtp_split_cpu *cpus = calloc(ncpus, sizeof(*cpus)), *cpu;
	struct dtp_split_task *owner;

	if (cpus == NULL || bpf_map_lookup_elem(bpf_map__fd(
	    split->sp_skel->maps.split_cpus), &zero, cpus) != 0) {
		free(cpus);
		return (prof_fail_nomem(&counting->kg_error));
	}
	for (size_t t = 0; t < counting->kg_ntargets; t++)
		for (size_t e = 0; e < counting->kg_nevents; e++) {
			const bool is_late = late >> e & 1;
			uint64_t rest;

			cpu = &cpus[counting->kg_target[t].kt_cpu];
			rest = prof_counting_fd(counting, t, e)->kf_now[0] -
			    cpu->sc_counts[e];
			if (rest == 0)
				continue;
			if (is_late ? cpu->sc_has_before : cpu->sc_has_now) {
				owner = task_of(split, is_late ?
				    &cpu->sc_before : &cpu->sc_now);
				if (owner == NULL) {
					free(cpus);
					return (prof_fail_nomem(
					    &counting->kg_error));
				}
				owner->st_counts[e] += rest;
			} else if (!prof_counting_splits_family(counting))
				split->sp_lost[e] += rest;
		}
	free(cpus);
	return (0);
}

/* By the first event, the most first; then by number. */
static int
compare_tasks(const void *a, const void *b)
{
	const struct prof_counted_task *x = a, *y = b;

	if (x->ck_counts[0] != y->ck_counts[0])
		return (x->ck_counts[0] < y->ck_counts[0] ? 1 : -1);
	if (x->ck_pid != y->ck_pid)
		return (x->ck_pid < y->ck_pid ? -1 : 1);
	return ((x->ck_tid > y->ck_tid) - (x->ck_tid < y->ck_tid));
}

static bool
is_empty(const struct dtp_split_task *value)
{
	for (size_t e = 0; e < DTP_SPLIT_EVENTS; e++)
		if (value->st_counts[e] != 0)
			return (false);
	return (true);
}

static int
show_tasks(struct prof_counting *counting, struct counting_split *split)
{
	static const char idle[] = "(idle)";
	struct prof_counted_task *tasks;
	bool any_lost = false;

	split->sp_tasks = tasks = calloc(split->sp_ntasks + 1,
	    sizeof(*tasks));
	if (tasks == NULL)
		return (prof_fail_nomem(&counting->kg_error));
	for (size_t n = 0; n < split->sp_ntasks; n++) {
		struct dtp_split_task *value = &split->sp_values[n];
		const size_t t = split->sp_nshown;

		/* Outside of the cgroup. */
		if (counting->kg_cgroup != -1 && is_empty(value))
			continue;
		split->sp_nshown++;
		value->st_comm[DTP_SPLIT_COMM - 1] = '\0';
		tasks[t].ck_pid = split->sp_keys[n].sk_pid;
		tasks[t].ck_tid = split->sp_keys[n].sk_tid;
		tasks[t].ck_comm = tasks[t].ck_pid == 0 ? idle :
		    value->st_comm;
		tasks[t].ck_counts = (const uint64_t *)value->st_counts;
		tasks[t].ck_has_ended = value->st_has_ended != 0;
	}
	qsort(tasks, split->sp_nshown, sizeof(*tasks), compare_tasks);
	for (size_t e = 0; e < counting->kg_nevents; e++) {
		split->sp_lost[e] += split->sp_skel->bss->lost[e];
		any_lost |= split->sp_lost[e] != 0;
	}
	for (size_t e = 0; any_lost && e < counting->kg_nevents; e++)
		(void)prof_counting_say(counting, "%s: a count of %llu could "
		    "not be attributed to a process (more than %d processes, "
		    "or a CPU that dtprof may not run on)",
		    counting->kg_event[e].ke_info.ce_name,
		    (unsigned long long)split->sp_lost[e], DTP_SPLIT_TASKS);
	return (0);
}

/* After the events were switched off and read. */
int
prof_counting_split_collect(struct prof_counting *counting)
{
	struct counting_split *split = counting->kg_split;

	split_bpf__detach(split->sp_skel);
	if (prof_bpf_wait(&counting->kg_error) == -1 ||
	    read_tasks(counting, split) == -1 ||
	    add_rest(counting, split) == -1)
		return (-1);
	return (show_tasks(counting, split));
}

uint64_t
prof_counting_split_sum(const struct prof_counting *counting, size_t event)
{
	const struct counting_split *split = counting->kg_split;
	uint64_t sum = split == NULL ? 0 : split->sp_lost[event];

	for (size_t t = 0; split != NULL && t < split->sp_ntasks; t++)
		sum += split->sp_values[t].st_counts[event];
	return (sum);
}

void
prof_counting_split_close(struct prof_counting *counting)
{
	struct counting_split *split = counting->kg_split;

	if (split == NULL)
		return;
	if (split->sp_targets != NULL)
		(void)munmap(split->sp_targets, sizeof(*split->sp_targets));
	split_bpf__destroy(split->sp_skel);
	free(split->sp_keys);
	free(split->sp_values);
	free(split->sp_tasks);
	free(split);
	counting->kg_split = NULL;
}

size_t
prof_counting_ntasks(const struct prof_counting *counting)
{
	return (counting->kg_split == NULL ? 0 :
	    counting->kg_split->sp_nshown);
}

const struct prof_counted_task *
prof_counting_task(const struct prof_counting *counting, size_t n)
{
	return (n < prof_counting_ntasks(counting) ?
	    &counting->kg_split->sp_tasks[n] : NULL);
}
