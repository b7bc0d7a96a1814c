/* SPDX-License-Identifier: ISC */
/*
 * Is the running kernel the one that a perf.data is of?  Then its symbols are
 * names for the kernel's addresses, and its vDSO is the one that was mapped.
 * Its build-id says so, where there is one.  Without it the running kernel
 * counts when it has run since before the recording began and lies where that
 * one lay, a place that is drawn at each boot, and release and host are the
 * same where they are known.  Nothing proves that, and so it is said.
 *
 * Called by perfdata.c and perf_files.c.
 */
#include <sys/utsname.h>

#include <string.h>
#include <time.h>

#include "elf/build_id.h"
#include "image/images.h"
#include "os/procfs.h"
#include "perfdata.h"

static int
is_kernel_at(void *arg, const struct prof_record *record)
{
	const struct perf_data *data = arg;

	/* The first is the kernel itself; it ends the search. */
	return (record->pr_addr == data->pd_kernel ? 1 : -1);
}

static bool
has_id(const struct perf_data *data)
{
	static const uint8_t none[sizeof(data->pd_kernel_id)];

	return (memcmp(data->pd_kernel_id, none, sizeof(none)) != 0);
}

static bool
is_verified(const struct perf_data *data)
{
	uint8_t notes[4096], here[20] = { 0 };
	const ssize_t len = prof_proc_read("/sys/kernel/notes",
	    (char *)notes, sizeof(notes));

	return (len > 0 && prof_build_id_of_notes(notes, (size_t)len, 4,
	    here) != 0 && memcmp(here, data->pd_kernel_id,
	    sizeof(here)) == 0);
}

/* When this machine was started, CLOCK_REALTIME. */
static uint64_t
boot_ns(void)
{
	struct timespec now = { 0, 0 }, up = { 0, 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	clock_gettime(CLOCK_BOOTTIME, &up);
	return (((uint64_t)now.tv_sec - (uint64_t)up.tv_sec) * 1000000000 +
	    (uint64_t)now.tv_nsec - (uint64_t)up.tv_nsec);
}

static bool
is_likely(const struct perf_data *data)
{
	struct utsname here;

	return (!data->pd_foreign && perf_begin_ns(data) > boot_ns() &&
	    uname(&here) == 0 && (data->pd_release[0] == '\0' ||
	    strcmp(data->pd_release, here.release) == 0) &&
	    (data->pd_host[0] == '\0' ||
	    strcmp(data->pd_host, here.nodename) == 0));
}

enum perf_kernel
perf_kernel_here(struct perf_data *data)
{
	if (data->pd_here != PERF_KERNEL_UNKNOWN || data->pd_kernel == 0)
		return (data->pd_here);
	data->pd_here = PERF_KERNEL_OTHER;
	/* Where the kernel lies is asked last: all its symbols are read. */
	if ((has_id(data) ? is_verified(data) : is_likely(data)) &&
	    prof_procfs_snapshot_kernel(NULL, 0, is_kernel_at, data) == 1)
		data->pd_here = has_id(data) ? PERF_KERNEL_VERIFIED :
		    PERF_KERNEL_LIKELY;
	return (data->pd_here);
}

void
perf_kernel_vdso(struct perf_data *data, struct prof_record *mapping)
{
	const enum perf_kernel here = perf_kernel_here(data);
	uint8_t id[20];
	uint32_t len;

	if (here != PERF_KERNEL_VERIFIED && here != PERF_KERNEL_LIKELY)
		return;
	len = prof_image_own_vdso_id(id);
	mapping->pr_build_id_len = len;
	memcpy(mapping->pr_build_id, id, len);
}

/* Addresses of the kernel mean something within one boot. */
static int
say_boot(struct perf_data *data)
{
	char boot[64];

	if (prof_proc_read("/proc/sys/kernel/random/boot_id", boot,
	    sizeof(boot)) <= 0)
		return (0);
	boot[strcspn(boot, "\n")] = '\0';
	return (prof_import_info(data->pd_import, "machine.boot", boot));
}

int
perf_kernel_say(struct perf_data *data)
{
	switch (perf_kernel_here(data)) {
	case PERF_KERNEL_VERIFIED:
		return (say_boot(data));
	case PERF_KERNEL_LIKELY:
		return (say_boot(data) == -1 ? -1 : prof_import_say(
		    data->pd_import, "perf.data has no kernel build-id: "
		    "symbols come from the running kernel, which is at the "
		    "recorded address, but whose identity is not verified"));
	case PERF_KERNEL_OTHER:
		return (has_id(data) ? 0 : prof_import_say(data->pd_import,
		    "perf.data has no kernel build-id, and the running kernel "
		    "differs: kernel addresses are unresolved"));
	case PERF_KERNEL_UNKNOWN:
		break;
	}
	return (0);
}
