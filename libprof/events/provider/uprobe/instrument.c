/* SPDX-License-Identifier: ISC */
/*
 * What makes functions of programs fire: a perf event of the uprobe PMU for
 * each place, whose program runs in all processes that have the file mapped,
 * now or later.  Called by back ends.
 */
#include <sys/mman.h>

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "base/error.h"
#include "events/instrument.h"
#include "events/names.h"
#include "os/permission.h"
#include "os/procfs.h"

#include "prov_uprobe.skel.h"

#define UPROBE_TYPE	"/sys/bus/event_source/devices/uprobe/type"
#define NO_SUPPORT	524	/* the kernel's ENOTSUPP */

PROF_PROGRAM(prov_uprobe);

/* The PMU's number; -1: this kernel has none. */
static int
uprobe_type(void)
{
	char text[32];

	return (prof_proc_read(UPROBE_TYPE, text, sizeof(text)) > 0 ?
	    atoi(text) : -1);
}

static int
hook_explain(const struct prof_event *event, const struct prof_hook *hook,
    int error_number, struct prof_err *error)
{
	if (error_number == NO_SUPPORT || error_number == EOPNOTSUPP ||
	    error_number == EINVAL || error_number == ENOEXEC) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: the kernel "
		    "refuses a probe on the instruction at offset %#llx of the "
		    "file: %s", event->ev_name,
		    (unsigned long long)hook->hk_offset,
		    error_number == NO_SUPPORT ? "not supported" :
		    strerror(error_number));
		return (prof_cure(error, "use another function, or a pattern "
		    "that does not match this function"));
	}
	if (error_number == EMFILE || error_number == ENOMEM)
		return (prof_bpf_explain(error, error_number));
	return (prof_perf_explain(error, event, error_number, -1, 0));
}

/* In one process, or (-1) in all.  -1: errno. */
static int
hook_open(const struct prof_hook *hook, int type, int pid)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char path[32];

	/* By descriptor, so that it is the file whose symbols were read. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", hook->hk_fd);
	attr.type = (uint32_t)type;
	/* From bit 32 on it is the place of a semaphore. */
	attr.config = hook->hk_semaphore << 32;
	attr.config1 = (uint64_t)(uintptr_t)path;
	attr.config2 = hook->hk_offset;
	return (prof_perf_open(&attr, pid, pid == -1 ? sched_getcpu() : -1,
	    -1, PERF_FLAG_FD_CLOEXEC));
}

/* at: where its arguments stand among the operands. */
static int
hook_attach(struct prof_attacher *attacher, size_t at, int type, int pid)
{
	const struct prof_hook *hook = &attacher->at_event->ev_hooks[at];
	LIBBPF_OPTS(bpf_link_create_opts, opts,
	    .perf_event.bpf_cookie = at);
	const int prog = bpf_program__fd(bpf_object__next_program(
	    attacher->at_obj, NULL));
	int fd, link, error_number;

	fd = hook_open(hook, type, pid);
	/* It has ended. */
	if (fd == -1 && pid != -1 && errno == ESRCH)
		return (0);
	if (fd == -1)
		return (hook_explain(attacher->at_event, hook, errno,
		    attacher->at_error));
	link = bpf_link_create(prog, fd, BPF_PERF_EVENT, &opts);
	error_number = link < 0 ? -link : 0;
	/* The link keeps the event. */
	close(fd);
	if (link < 0)
		return (prof_bpf_explain(attacher->at_error, error_number));
	return (attacher->at_keep(attacher, link));
}

/*
 * In all processes, or those that are given.  The kernel looks at an
 * instruction only where it is mapped, and does not say so if it turns out
 * later that it cannot be probed: so it is mapped here, and tried.
 */
static int
hook_attach_all(struct prof_attacher *attacher, size_t at, int type)
{
	const struct prof_hook *hook = &attacher->at_event->ev_hooks[at];
	const uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
	    hook->hk_fd, (off_t)(hook->hk_offset & ~(size - 1)));
	int rv = 0, fd;

	if (attacher->at_npids == 0)
		rv = hook_attach(attacher, at, type, -1);
	else if ((fd = hook_open(hook, type, getpid())) == -1)
		rv = hook_explain(attacher->at_event, hook, errno,
		    attacher->at_error);
	else
		close(fd);
	for (size_t p = 0; p < attacher->at_npids && rv == 0; p++)
		rv = hook_attach(attacher, at, type, attacher->at_pids[p]);
	if (page != MAP_FAILED)
		munmap(page, size);
	return (rv);
}

static int
uprobe_prepare(const struct prof_event *event, struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, "operands");
	const int rc = bpf_map__set_max_entries(map,
	    (uint32_t)event->ev_nhooks);

	errno = -rc;
	return (rc == 0 ? 0 : -1);
}

/* Before it fires for the first time. */
static int
operands_write(const struct prof_event *event, struct prof_attacher *attacher)
{
	const int map = bpf_map__fd(bpf_object__find_map_by_name(
	    attacher->at_obj, "operands"));

	for (uint32_t n = 0; n < event->ev_nhooks; n++)
		if (bpf_map_update_elem(map, &n, &event->ev_hooks[n].hk_args,
		    BPF_ANY) != 0)
			return (prof_bpf_explain(attacher->at_error, errno));
	return (0);
}

static int
uprobe_attach(const struct prof_event *event, struct prof_attacher *attacher)
{
	const int type = uprobe_type();
	int rv = 0;

	if (type == -1) {
		prof_fail(attacher->at_error, PROF_E_EVENT_UNSUPPORTED,
		    "%s: this kernel has no uprobes", event->ev_name);
		return (prof_cure(attacher->at_error, "use a kernel built "
		    "with CONFIG_UPROBE_EVENTS"));
	}
	if (operands_write(event, attacher) == -1)
		return (-1);
	for (size_t n = 0; n < event->ev_nhooks && rv == 0; n++)
		rv = hook_attach_all(attacher, n, type);
	return (rv);
}

const struct prof_instrument prof_instrument_uprobe = {
	.im_trap_ns = 500,
	.im_program = &prof_program_prov_uprobe,
	.im_prepare = uprobe_prepare,
	.im_attach = uprobe_attach,
};
