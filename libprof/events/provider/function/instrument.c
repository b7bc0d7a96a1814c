/* SPDX-License-Identifier: ISC */
/*
 * What makes functions of the kernel fire: a perf event of the kprobe PMU, or
 * a program on the function's trampoline.  Called by back ends.
 */
#include <sys/utsname.h>

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

#include "prov_function.skel.h"

#define KPROBE_TYPE	"/sys/bus/event_source/devices/kprobe/type"
#define NO_SUPPORT	524	/* the kernel's ENOTSUPP */

PROF_PROGRAM(prov_function);

static bool
is_kprobe(const struct prof_provider *provider)
{
	return (provider == &prof_provider_kprobe ||
	    provider == &prof_provider_kretprobe);
}

const char *
prof_function_why_not(const struct prof_provider *provider)
{
	if (access(KPROBE_TYPE, F_OK) == 0)
		return (NULL);
	return (is_kprobe(provider) ?
	    "this kernel has no kprobes (CONFIG_KPROBE_EVENTS)" : NULL);
}

/* Of the programs the one that goes there. */
static bool
function_loads(const struct prof_event *event, const char *section,
    bool twice)
{
	(void)twice;
	return (strcmp(section, is_kprobe(event->ev_provider) ? "kprobe" :
	    event->ev_provider->pv_name) == 0);
}

static struct bpf_program *
program_of(const struct prof_event *event, const struct bpf_object *obj)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, obj)
		if (function_loads(event, bpf_program__section_name(program),
		    false))
			return (program);
	return (NULL);
}

/* A trampoline's program is checked against the function's types. */
static int
function_prepare(const struct prof_event *event, struct bpf_object *obj)
{
	const int rc = is_kprobe(event->ev_provider) ? 0 :
	    bpf_program__set_attach_target(program_of(event, obj), 0,
	    event->ev_tracepoint);

	errno = -rc;
	return (rc == 0 ? 0 : -1);
}

static int
function_refuse(const struct prof_event *event, int error_number,
    struct prof_err *error)
{
	prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: the kernel accepts no "
	    "%s on function '%s': %s", event->ev_name,
	    event->ev_provider->pv_name, event->ev_tracepoint,
	    error_number == NO_SUPPORT ? "not supported" :
	    strerror(error_number));
	return (prof_cure(error, is_kprobe(event->ev_provider) ?
	    "use a function that calls this function, or a tracepoint" :
	    "use kprobe:FUNCTION, or a function that calls this function"));
}

/* What the loader says of a function without a trampoline. */
static int
function_explain(const struct prof_event *event, int error_number,
    struct prof_err *error)
{
	if (is_kprobe(event->ev_provider))
		return (0);
	/* Not for lack of rights: programs of other events were loaded. */
	if (error_number == EPERM) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: this kernel "
		    "has no trampolines (CONFIG_FUNCTION_TRACER)",
		    event->ev_name);
		return (prof_cure(error, "use a tracepoint: dtprof list "
		    "'static:*'"));
	}
	return (error_number == ENOENT || error_number == EINVAL ||
	    error_number == ESRCH ? function_refuse(event, error_number,
	    error) : 0);
}

static int
kprobe_open(const struct prof_event *event)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	char text[32];

	if (prof_proc_read(KPROBE_TYPE, text, sizeof(text)) <= 0) {
		errno = ENOENT;
		return (-1);
	}
	attr.type = (uint32_t)atoi(text);
	attr.config = event->ev_is_return;
	attr.config1 = (uint64_t)(uintptr_t)event->ev_tracepoint;
	return (prof_perf_open(&attr, -1, sched_getcpu(), -1,
	    PERF_FLAG_FD_CLOEXEC));
}

static int
function_attach(const struct prof_event *event,
    struct prof_attacher *attacher)
{
	const int prog = bpf_program__fd(program_of(event, attacher->at_obj));
	int fd = -1, link;

	if (is_kprobe(event->ev_provider)) {
		fd = kprobe_open(event);
		if (fd == -1 && (errno == EACCES || errno == EPERM))
			return (prof_perf_explain(attacher->at_error, event,
			    errno, -1, 0));
		if (fd == -1)
			return (function_refuse(event, errno,
			    attacher->at_error));
		link = bpf_link_create(prog, fd, BPF_PERF_EVENT, NULL);
		/* The link keeps the event. */
		close(fd);
	} else
		link = bpf_raw_tracepoint_open(NULL, prog);
	if (link < 0)
		return (function_refuse(event, -link, attacher->at_error));
	return (attacher->at_keep(attacher, link));
}

const struct prof_instrument prof_instrument_function = {
	.im_is_anywhere = true,
	.im_program = &prof_program_prov_function,
	.im_loads = function_loads,
	.im_prepare = function_prepare,
	.im_attach = function_attach,
	.im_explain = function_explain,
};
