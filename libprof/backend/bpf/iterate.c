/* SPDX-License-Identifier: ISC */
/*
 * Programs that look at each thread: an iterator of the kernel calls them,
 * for as long as it is read.  Called by backend.c and calls.c.
 */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "backend/bpf/bpf_impl.h"
#include "base/error.h"
#include "events/instrument.h"

static int
iterator_run(const struct prof_bpf *bpf, const struct prof_event *event,
    const char *name, union bpf_iter_link_info *of)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(
	    bpf->bp_instance[event->ev_id].in_obj, name);
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = of,
	    .iter_info_len = sizeof(*of));
	char nothing[64];
	int link = -1, fd = -1;
	ssize_t got = -1;

	if (program != NULL)
		link = bpf_link_create(bpf_program__fd(program), 0,
		    BPF_TRACE_ITER, of == NULL ? NULL : &opts);
	if (link >= 0)
		fd = bpf_iter_create(link);
	if (fd >= 0)
		do
			got = read(fd, nothing, sizeof(nothing));
		while (got > 0 || (got == -1 && errno == EINTR));
	if (fd >= 0)
		close(fd);
	if (link >= 0)
		close(link);
	return (got == 0 ? 0 : -1);
}

int
prof_bpf_iterate(const struct prof_bpf *bpf, const struct prof_event *event,
    const char *name, uint32_t pid)
{
	union bpf_iter_link_info of = { .task.pid = pid };

	return (iterator_run(bpf, event, name, pid == 0 ? NULL : &of));
}

int
prof_bpf_iterate_thread(const struct prof_bpf *bpf,
    const struct prof_event *event, const char *name, uint32_t tid)
{
	union bpf_iter_link_info of = { .task.tid = tid };

	return (iterator_run(bpf, event, name, &of));
}

int
prof_bpf_look(const struct prof_bpf *bpf)
{
	const struct prof_options *po = bpf->bp_plan->pn_options;

	for (size_t n = 1; n < bpf->bp_events->el_n; n++) {
		const struct prof_event *event = bpf->bp_events->el_event[n];
		const char *name = event->ev_instrument->im_iterator;

		for (size_t i = 0; name != NULL && i < po->po_nids; i++)
			if (prof_bpf_iterate(bpf, event, name,
			    (uint32_t)po->po_ids[i]) == -1 && errno != ESRCH)
				return (prof_fail(bpf->bp_error,
				    PROF_E_KERNEL, "cannot read the "
				    "threads of process %d: %s",
				    po->po_ids[i], strerror(errno)));
	}
	return (0);
}
