/* SPDX-License-Identifier: ISC */
/*
 * The kernel component of a session: loads one program instance per event,
 * shares the maps between them, and maps into memory what both sides use.
 *
 * Called by backend.c.  Every instance is an object of its own, so that its
 * read-only data (struct dtp_config) specialises it; the maps are made by
 * the first, for proc, and reused by the rest.  bpf(2) map calls are made
 * before recording only: while one runs, the kernel skips overflow programs
 * on that CPU.  Links and counters are attach.c's.
 */
#include <sys/mman.h>
#include <sys/utsname.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/dtp_unwind.h"
#include "backend/bpf/bpf_impl.h"
#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"
#include "os/cpus.h"
#include "os/permission.h"

#define SNAPSHOTS_HZ	200	/* that a CPU takes to help walks */
#define SNAPSHOTS_ROOM	(4ULL << 20)	/* of a ring twice as large */
#define FIRST_PREEMPTED	7	/* Linux whose tracepoints are */
#define SPARE_EVENTS	8	/* to be attached while it records */

/* The maps that all instances share; order of bp_map. */
enum { MAP_STREAMS, MAP_RINGS, MAP_COUNTS, MAP_CONTROL, MAP_SCRATCH,
	MAP_TARGETS, MAP_WAKEUP, MAP_UW_PROCS, MAP_UW_MODULES, MAP_UW_ENTRIES,
	MAP_UW_SLABS, MAP_UW_CACHE, MAP_UW_FILES, MAP_UW_CHAINS,
	MAP_UW_NUMBERS, MAP_VALUES_FDS, MAP_VALUES_CPUS, MAP_VALUES_TASKS,
	MAP_GROUPS, MAP_BUCKETS, MAP_CLOCKS, MAP_N };

static const char *const map_names[MAP_N] = {
	"streams", "rings", "counts", "control", "scratch", "targets",
	    "wakeups",
	"uw_procs", "uw_modules", "uw_entries", "uw_slabs", "uw_cache",
	"uw_files", "uw_chains", "uw_numbers", "values_fds", "values_cpus",
	"values_tasks", "groups", "buckets", "clocks"
};

static int	load_event(struct prof_bpf *, struct prof_event *,
		    const char *types);
static int	load_instance(struct prof_bpf *, struct prof_event *,
		    const char *types, enum dtp_turn_mode);
static int	share_maps(struct prof_bpf *, struct bpf_object *, bool);
static int	map_memory(struct prof_bpf *);

/* libbpf explains on stderr unless told otherwise; we explain ourselves. */
static int
libbpf_print(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	const char *debug = getenv("DTPROF_DEBUG_BPF");

	(void)level;
	if (debug != NULL && *debug != '\0')
		return (vfprintf(stderr, fmt, ap));
	return (0);
}

/*
 * From Linux 7 on a program on a tracepoint can be preempted.  Those that fire
 * in a task's own context are then attached twice, see turn.bpf.h.
 */
static bool
is_preempted(const struct prof_event *event)
{
	struct utsname un;

	return (event->ev_instrument->im_is_in_task && uname(&un) == 0 &&
	    strtol(un.release, NULL, 10) >= FIRST_PREEMPTED);
}

struct prof_instance *
prof_bpf_second(const struct prof_bpf *bpf, const struct prof_event *event)
{
	return (&bpf->bp_instance[bpf->bp_room + event->ev_id]);
}

/* All events that are aggregated share tables of one size. */
static void
groups_size(struct prof_bpf *bpf, const struct dtp_grouping *grouping)
{
	if (!grouping->gp_is_on)
		return;
	bpf->bp_ngroups = grouping->gp_groups;
	bpf->bp_nbuckets = grouping->gp_buckets;
}

int
prof_bpf_load(struct prof_bpf *bpf)
{
	struct prof_btf_core core;
	size_t n;
	int rv = 0;

	libbpf_set_print(libbpf_print);
	bpf->bp_nevents = (uint32_t)bpf->bp_events->el_n;
	bpf->bp_room = bpf->bp_nevents + SPARE_EVENTS;
	bpf->bp_ncpus = (uint32_t)prof_cpus_possible();
	bpf->bp_nrings = bpf->bp_plan->pn_nonline;
	bpf->bp_ring_stride = bpf->bp_ring_bytes + DTP_MAX_RECORD;
	for (n = 0; n < bpf->bp_events->el_n; n++)
		groups_size(bpf, &bpf->bp_events->el_event[n]->ev_grouping);
	for (n = 0; n < MAP_N; n++)
		bpf->bp_map[n] = -1;
	bpf->bp_slab = -1;
	bpf->bp_instance = calloc(2UL * bpf->bp_room,
	    sizeof(*bpf->bp_instance));
	if (bpf->bp_instance == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	prof_btf_core_open(&core, PROF_BTF);
	bpf->bp_preempt_at = core.bc_preempt_at;
	for (n = 0; n < bpf->bp_events->el_n && rv == 0; n++)
		if (load_event(bpf, bpf->bp_events->el_event[n],
		    core.bc_path) == -1)
			rv = prof_bpf_refused(bpf,
			    bpf->bp_events->el_event[n]);
	prof_btf_core_close(&core);
	return (rv == -1 || prof_bpf_check_refused(bpf) == -1 ? -1 :
	    prof_clocks_load(bpf));
}

int
prof_bpf_refused(struct prof_bpf *bpf, struct prof_event *event)
{
	if (event->ev_pattern == NULL ||
	    bpf->bp_error->pe_code != PROF_E_EVENT_UNSUPPORTED)
		return (-1);
	free(event->ev_refused);
	event->ev_refused = malloc(sizeof(*event->ev_refused));
	if (event->ev_refused == NULL)
		return (prof_fail_nomem(bpf->bp_error));
	*event->ev_refused = *bpf->bp_error;
	return (0);
}

int
prof_bpf_check_refused(const struct prof_bpf *bpf)
{
	for (size_t n = 0; n < bpf->bp_events->el_n; n++)
		if (bpf->bp_events->el_event[n]->ev_refused != NULL)
			return (-1);
	return (0);
}

static int
load_event(struct prof_bpf *bpf, struct prof_event *event, const char *types)
{
	const bool twice = is_preempted(event);

	if (load_instance(bpf, event, types, twice ? DTP_TURN_FIRST :
	    DTP_TURN_ALONE) == -1 ||
	    (event->ev_id == 0 && map_memory(bpf) == -1))
		return (-1);
	return (twice ? load_instance(bpf, event, types, DTP_TURN_SECOND) : 0);
}

static void
instance_unload(struct prof_instance *instance)
{
	if (instance->in_skel != NULL)
		instance->in_destroy(instance->in_skel);
	memset(instance, 0, sizeof(*instance));
}

int
prof_bpf_load_one(struct prof_bpf *bpf, struct prof_event *event)
{
	struct prof_btf_core core;
	int rv;

	prof_btf_core_open(&core, PROF_BTF);
	rv = load_event(bpf, event, core.bc_path);
	prof_btf_core_close(&core);
	if (rv == -1) {
		instance_unload(prof_bpf_second(bpf, event));
		instance_unload(&bpf->bp_instance[event->ev_id]);
	}
	return (rv);
}

/*
 * The wakeup takes locks: not for tracepoints that fire while locks are being
 * taken.
 */
static bool
may_ring(const struct prof_event *event)
{
	static const char *const deep[] = {
		"lock_", "contention_", "irq_work_", "preempt_", "irq_enable",
		"irq_disable", "rcu_", "ipi_", "reschedule_"
	};
	size_t n;

	if (event->ev_instrument->im_is_anywhere)
		return (false);
	for (n = 0; event->ev_tracepoint != NULL &&
	    n < sizeof(deep) / sizeof(deep[0]); n++)
		if (strncmp(event->ev_tracepoint, deep[n],
		    strlen(deep[n])) == 0)
			return (false);
	return (true);
}

/*
 * Bytes of stack in a snapshot.  With each sample: as perf's users expect;
 * where a walk needs help, which is seldom, and where walks are compared,
 * enough for deep stacks.
 */
static uint32_t
stack_bytes(const struct prof_options *po)
{
	if (po->po_stack_bytes != 0)
		return ((uint32_t)po->po_stack_bytes);
	if (po->po_verify)
		return (64512);
	return (po->po_callgraph == PROF_CALLGRAPH_AUTO ? 32768 : 16384);
}

/*
 * Snapshots where walks need help are kept from flooding anybody; those that
 * were asked for take what there is room for.
 */
static void
configure_snapshots(const struct prof_bpf *bpf,
    struct dtp_config *cfg)
{
	const struct prof_options *po = bpf->bp_plan->pn_options;
	const uint64_t ring = bpf->bp_ring_bytes;
	bool each = po->po_verify || po->po_callgraph == PROF_CALLGRAPH_DWARF;

	if (bpf->bp_plan->pn_snapshots == NULL ||
	    (cfg->dc_parts & DTP_P_USTACK) == 0)
		return;
	cfg->dc_snap_mode = po->po_verify ? DTP_SNAP_ALL : each ?
	    DTP_SNAP_ONLY : DTP_SNAP_DOUBT;
	cfg->dc_snap_bytes = stack_bytes(po);
	cfg->dc_snap_room = each ? ring / 4 * 3 : ring / 2 == SNAPSHOTS_ROOM ?
	    SNAPSHOTS_ROOM : ring / 4;
	cfg->dc_snap_ns = each ? 0 : 1000000000 / SNAPSHOTS_HZ;
}

/* Which records it makes is decided here, once, for both sides. */
static void
program_configure(const struct prof_bpf *bpf, const struct prof_event *event,
    struct dtp_config *cfg)
{
	const struct prof_options *po = bpf->bp_plan->pn_options;
	uint32_t n;

	memset(cfg, 0, sizeof(*cfg));
	cfg->dc_event = (uint16_t)event->ev_id;
	cfg->dc_nevents = (uint16_t)bpf->bp_room;
	cfg->dc_parts = prof_event_parts(bpf->bp_plan, event);
	cfg->dc_ncpus = bpf->bp_ncpus;
	cfg->dc_ring_mask = (uint32_t)bpf->bp_ring_bytes - 1;
	cfg->dc_wakeup_bytes = may_ring(event) ?
	    (uint32_t)(bpf->bp_ring_bytes / 4) : 0;
	cfg->dc_inherit = !po->po_no_inherit;
	cfg->dc_nvalues = (uint32_t)bpf->bp_plan->pn_nvalues;
	cfg->dc_values = (uint32_t)bpf->bp_plan->pn_values;
	cfg->dc_values_ahead = prof_values_ahead(bpf);
	switch (po->po_target) {
	case PROF_TARGET_ALL:
		cfg->dc_target_mode = DTP_TARGET_ALL;
		break;
	case PROF_TARGET_TIDS:
		cfg->dc_target_mode = DTP_TARGET_TID;
		break;
	case PROF_TARGET_CGROUP:
		cfg->dc_target_mode = DTP_TARGET_CGROUP;
		cfg->dc_cgroup_id = bpf->bp_plan->pn_cgroup_id;
		cfg->dc_cgroup_level = bpf->bp_plan->pn_cgroup_level;
		break;
	case PROF_TARGET_NAME:
		cfg->dc_awaited_len = strlen(po->po_wait_for);
		memcpy(cfg->dc_awaited, po->po_wait_for, cfg->dc_awaited_len);
		/* FALLTHROUGH */
	default:
		cfg->dc_target_mode = DTP_TARGET_PID;
		break;
	}
	/*
	 * A counter of one task fires for nobody else, and before its exec
	 * and after its exit have been seen, too.
	 */
	if (event->ev_has_period &&
	    prof_plan_is_exact(bpf->bp_plan))
		cfg->dc_target_mode = DTP_TARGET_ALL;
	cfg->dc_ticks = event->ev_cpu >= 0 && !prof_plan_is_exact(bpf->bp_plan);
	/* An overflow is an interrupt. */
	cfg->dc_may_wait = !event->ev_has_period;
	cfg->dc_is_about = prof_event_is_about(bpf->bp_plan, event);
	cfg->dc_by_fp = po->po_callgraph == PROF_CALLGRAPH_FP;
	cfg->dc_page_shift = (uint32_t)__builtin_ctzl(
	    (unsigned long)sysconf(_SC_PAGESIZE));
	cfg->dc_preempt_at = bpf->bp_preempt_at;
	configure_snapshots(bpf, cfg);
	cfg->dc_skip_kernel = event->ev_attr.exclude_kernel;
	cfg->dc_nargs = event->ev_nargs;
	for (n = 0; n < event->ev_nargs; n++)
		cfg->dc_arg[n] = event->ev_args[n].ag_load;
	cfg->dc_filter = event->ev_filter;
	cfg->dc_grouping = event->ev_grouping;
	if (event->ev_instrument->im_configure != NULL)
		event->ev_instrument->im_configure(event, cfg);
}

/*
 * BPF as such is allowed, that was tried before: what is left are maps for
 * which there is no memory, and a program that this kernel does not accept.
 */
static int
explain_load(struct prof_bpf *bpf, const struct prof_event *event,
    int error_number)
{
	if (event->ev_instrument->im_explain != NULL &&
	    event->ev_instrument->im_explain(event, error_number,
	    bpf->bp_error) == -1)
		return (-1);
	if (error_number == ENOMEM || error_number == EPERM ||
	    error_number == EMFILE)
		return (prof_bpf_explain(bpf->bp_error, error_number));
	/* The verifier gives up when a signal waits. */
	if (error_number == EAGAIN || error_number == EINTR) {
		prof_fail(bpf->bp_error, PROF_E_BUSY, "%s: interrupted by a "
		    "signal while loading the BPF program of this event",
		    event->ev_name);
		return (prof_cure(bpf->bp_error, "try again"));
	}
	prof_fail(bpf->bp_error, PROF_E_KERNEL, "%s: the kernel rejected the "
	    "BPF program of this event", event->ev_name);
	return (prof_cure(bpf->bp_error, "try --call-graph none; for a "
	    "bug report, run with DTPROF_DEBUG_BPF=1 and keep the output"));
}

/* Maps that the two programs on a tracepoint share, and nobody else. */
static int
share_with_first(struct prof_bpf *bpf,
    const struct prof_instance *first, struct bpf_object *obj)
{
	static const char *const names[] = { "turns", "calls", "call_ends" };
	int rc = 0;

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]) && rc == 0;
	    n++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj,
		    names[n]);

		if (map != NULL)
			rc = bpf_map__reuse_fd(map, bpf_map__fd(
			    bpf_object__find_map_by_name(first->in_obj,
			    names[n])));
	}
	return (rc == 0 ? 0 : prof_bpf_explain(bpf->bp_error, -rc));
}

static int
load_instance(struct prof_bpf *bpf, struct prof_event *event,
    const char *types, enum dtp_turn_mode turn)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types);
	const struct prof_instrument *im = event->ev_instrument;
	struct prof_instance *const one =
	    &bpf->bp_instance[event->ev_id];
	struct prof_instance *instance = turn == DTP_TURN_SECOND ?
	    prof_bpf_second(bpf, event) : one;
	struct bpf_program *program;
	struct bpf_object *obj;
	struct dtp_config *cfg;
	bool first = event->ev_id == 0 && turn != DTP_TURN_SECOND;
	int rc;

	/* One program moves the values of all counters. */
	if (event->ev_is_value &&
	    !prof_values_is_first(bpf, event))
		return (0);

	instance->in_skel = im->im_program->pg_open(&opts, &obj, &cfg);
	if (instance->in_skel == NULL)
		return (prof_bpf_explain(bpf->bp_error, errno));
	instance->in_destroy = im->im_program->pg_destroy;
	instance->in_obj = obj;
	program_configure(bpf, event, cfg);
	cfg->dc_turn = turn;
	if (share_maps(bpf, obj, first) == -1 || (turn ==
	    DTP_TURN_SECOND && share_with_first(bpf, one, obj) == -1))
		return (-1);
	bpf_object__for_each_program(program, obj)
		bpf_program__set_autoload(program, im->im_loads == NULL ||
		    im->im_loads(event, bpf_program__section_name(program),
		    turn == DTP_TURN_SECOND));
	if (im->im_prepare != NULL && im->im_prepare(event, obj) == -1)
		return (explain_load(bpf, event, errno));
	if ((rc = bpf_object__load(obj)) != 0)
		return (explain_load(bpf, event, -rc));
	bpf_object__for_each_program(program, obj) {
		if (bpf_program__fd(program) < 0)
			continue;
		if (instance->in_nprogs == PROF_MAX_PROGS)
			return (prof_fail(bpf->bp_error, PROF_E_LIMIT,
			    "%s: too many BPF programs (at most %d)",
			    event->ev_name, PROF_MAX_PROGS));
		instance->in_prog[instance->in_nprogs++] =
		    bpf_program__fd(program);
	}
	return (first ? share_maps(bpf, obj, false) : 0);
}

/*
 * What slabs are like is told by the first of them; libbpf would make one to
 * throw away.  Programs without tables never look into one, but the verifier
 * of Linux 6.1 follows the function that would.
 */
static int
make_slab(struct prof_bpf *bpf, struct bpf_map *slabs)
{

	bpf->bp_slab = prof_unwind_slab();
	return (bpf->bp_slab < 0 ? -errno :
	    bpf_map__set_inner_map_fd(slabs, bpf->bp_slab));
}

/*
 * Before the first load: give the maps their sizes.  After it: keep their
 * descriptors.  Before every other load: take those instead of new maps.
 */
static int
share_maps(struct prof_bpf *bpf, struct bpf_object *obj, bool size)
{
	const uint32_t nvalues = (uint32_t)bpf->bp_plan->pn_nvalues;
	const uint32_t entries[MAP_N] = {
		[MAP_STREAMS] = bpf->bp_ncpus,
		[MAP_RINGS] = (uint32_t)bpf->bp_nrings,
		[MAP_COUNTS] = bpf->bp_ncpus * bpf->bp_room,
		[MAP_CONTROL] = 1,
		[MAP_SCRATCH] = bpf->bp_ncpus * DTP_SCRATCH_ALL,
		[MAP_TARGETS] = 1,
		[MAP_UW_CACHE] = bpf->bp_ncpus * DTP_UW_CACHE,
		[MAP_VALUES_FDS] = bpf->bp_ncpus * nvalues,
		[MAP_VALUES_CPUS] = bpf->bp_ncpus,
		[MAP_VALUES_TASKS] = nvalues == 0 ? 0 : DTP_VALUES_TASKS,
		[MAP_GROUPS] = bpf->bp_ngroups,
		[MAP_BUCKETS] = bpf->bp_nbuckets,
		[MAP_CLOCKS] = prof_clocks_wanted(bpf) ?
		    PROF_BPF_CLOCKS : 0
	};
	int n, rc = 0;

	for (n = 0; n < MAP_N && rc == 0; n++) {
		struct bpf_map *map = bpf_object__find_map_by_name(obj,
		    map_names[n]);

		if (map == NULL)
			continue;
		if (size) {
			if (n == MAP_RINGS)
				rc = bpf_map__set_value_size(map,
				    (uint32_t)bpf->bp_ring_stride);
			if (rc == 0 && entries[n] != 0)
				rc = bpf_map__set_max_entries(map, entries[n]);
			if (rc == 0 && n == MAP_UW_SLABS)
				rc = make_slab(bpf, map);
		} else if (bpf->bp_map[n] == -1)
			bpf->bp_map[n] = bpf_map__fd(map);
		else
			rc = bpf_map__reuse_fd(map, bpf->bp_map[n]);
	}
	if (rc != 0)
		return (prof_bpf_explain(bpf->bp_error, -rc));
	return (0);
}

static void *
map_one(const struct prof_bpf *bpf, int which, size_t length, int prot)
{
	return (mmap(NULL, length, prot, MAP_SHARED, bpf->bp_map[which], 0));
}

static size_t
whole_pages(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return ((bytes + page - 1) / page * page);
}

static int
wakeup_ignore(void *arg, void *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return (0);
}

static int
groups_map(struct prof_bpf *bpf)
{
	bpf->bp_groups = map_one(bpf, MAP_GROUPS, whole_pages(
	    bpf->bp_ngroups * sizeof(*bpf->bp_groups)), PROT_READ);
	bpf->bp_buckets = map_one(bpf, MAP_BUCKETS, whole_pages(
	    bpf->bp_nbuckets * sizeof(*bpf->bp_buckets)), PROT_READ);
	if (bpf->bp_groups != MAP_FAILED && bpf->bp_buckets != MAP_FAILED)
		return (0);
	return (prof_fail(bpf->bp_error, PROF_E_NOMEM,
	    "cannot mmap the BPF maps of groups and histogram buckets"));
}

static int
map_memory(struct prof_bpf *bpf)
{
	const int rw = PROT_READ | PROT_WRITE;
	size_t n;

	bpf->bp_rings_bytes = bpf->bp_ring_stride * bpf->bp_nrings;
	bpf->bp_streams = map_one(bpf, MAP_STREAMS,
	    whole_pages(bpf->bp_ncpus * sizeof(*bpf->bp_streams)), rw);
	bpf->bp_counts = map_one(bpf, MAP_COUNTS, whole_pages(
	    (size_t)bpf->bp_ncpus * bpf->bp_room *
	    sizeof(*bpf->bp_counts)), rw);
	bpf->bp_control = map_one(bpf, MAP_CONTROL,
	    whole_pages(sizeof(*bpf->bp_control)), rw);
	bpf->bp_targets = map_one(bpf, MAP_TARGETS,
	    whole_pages(sizeof(*bpf->bp_targets)), rw);
	bpf->bp_rings = map_one(bpf, MAP_RINGS,
	    whole_pages(bpf->bp_rings_bytes), PROT_READ);
	if (bpf->bp_ngroups != 0 && groups_map(bpf) == -1)
		return (-1);
	if (bpf->bp_streams == MAP_FAILED || bpf->bp_rings == MAP_FAILED ||
	    bpf->bp_counts == MAP_FAILED || bpf->bp_control == MAP_FAILED ||
	    bpf->bp_targets == MAP_FAILED)
		return (prof_fail(bpf->bp_error, PROF_E_NOMEM,
		    "cannot map the buffers (%zu bytes)",
		    bpf->bp_rings_bytes));
	for (n = 0; n < bpf->bp_plan->pn_nonline; n++) {
		bpf->bp_streams[bpf->bp_plan->pn_online[n]].ss_enabled =
		    DTP_CPU_PROCESSES;
		bpf->bp_streams[bpf->bp_plan->pn_online[n]].ss_ring = n;
	}
	for (n = 0; n < bpf->bp_plan->pn_ncpus; n++)
		bpf->bp_streams[bpf->bp_plan->pn_cpus[n]].ss_enabled =
		    DTP_CPU_SAMPLES;
	if (!bpf->bp_plan->pn_options->po_include_self)
		bpf->bp_control->co_self = (uint32_t)getpid();
	bpf->bp_control->co_lives_most = prof_bpf_lives_most(bpf);
	bpf->bp_wakeup = ring_buffer__new(bpf->bp_map[MAP_WAKEUP],
	    wakeup_ignore, NULL, NULL);
	if (bpf->bp_wakeup == NULL)
		return (prof_bpf_explain(bpf->bp_error, errno));
	if (prof_wall_begin(bpf) == -1)
		return (-1);
	bpf->bp_fds[0] = ring_buffer__epoll_fd(bpf->bp_wakeup);
	bpf->bp_fds[1] = prof_wall_fd(bpf);
	return (0);
}

uint64_t
prof_bpf_lives_most(const struct prof_bpf *bpf)
{
	const uint64_t most = bpf->bp_ring_bytes / 4 * 3;

	if (bpf->bp_plan->pn_options->po_max_overhead == 0)
		return (bpf->bp_ring_bytes);
	return (most < PROF_PACED_BYTES ? most : PROF_PACED_BYTES);
}

void
prof_bpf_wakeup_clear(struct prof_bpf *bpf)
{
	ring_buffer__consume(bpf->bp_wakeup);
}

int
prof_bpf_values_fd(const struct prof_bpf *bpf)
{
	return (bpf->bp_map[MAP_VALUES_FDS]);
}

int
prof_bpf_clocks_fd(const struct prof_bpf *bpf)
{
	return (bpf->bp_map[MAP_CLOCKS]);
}

/* Once all instances share them: what prof_unwind_new wants. */
void
prof_bpf_unwind_fds(struct prof_bpf *bpf, int fds[PROF_UNWIND_FDS])
{
	int n;

	for (n = 0; n < PROF_UNWIND_FDS - 1; n++)
		fds[n] = bpf->bp_map[MAP_UW_PROCS + n];
	fds[n] = bpf->bp_slab;
	bpf->bp_slab = -1;
}

static void
pages_unmap(const void *memory, size_t length)
{
	if (memory != NULL && memory != MAP_FAILED)
		munmap((void *)memory, whole_pages(length));
}

void
prof_bpf_fini(struct prof_bpf *bpf)
{
	uint32_t e;

	prof_bpf_detach(bpf);
	instance_unload(&bpf->bp_clocks);
	ring_buffer__free(bpf->bp_wakeup);
	prof_wall_free(bpf->bp_wall);
	prof_waited_free(bpf->bp_waited);
	pages_unmap(bpf->bp_rings, bpf->bp_rings_bytes);
	pages_unmap(bpf->bp_streams, bpf->bp_ncpus * sizeof(*bpf->bp_streams));
	pages_unmap(bpf->bp_counts, (size_t)bpf->bp_ncpus * bpf->bp_room *
	    sizeof(*bpf->bp_counts));
	pages_unmap(bpf->bp_control, sizeof(*bpf->bp_control));
	pages_unmap(bpf->bp_targets, sizeof(*bpf->bp_targets));
	pages_unmap(bpf->bp_groups, bpf->bp_ngroups *
	    sizeof(*bpf->bp_groups));
	pages_unmap(bpf->bp_buckets, bpf->bp_nbuckets *
	    sizeof(*bpf->bp_buckets));
	if (bpf->bp_instance != NULL && bpf->bp_slab != -1)
		close(bpf->bp_slab);
	/* The first instance owns the maps' descriptors: last out. */
	for (e = 2 * bpf->bp_room; bpf->bp_instance != NULL && e-- > 0; )
		if (bpf->bp_instance[e].in_skel != NULL)
			bpf->bp_instance[e].in_destroy(
			    bpf->bp_instance[e].in_skel);
	free(bpf->bp_instance);
	memset(bpf, 0, sizeof(*bpf));
}
