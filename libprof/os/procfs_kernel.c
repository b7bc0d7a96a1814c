/* SPDX-License-Identifier: ISC */
/*
 * The kernel's own text and modules as mappings of pid 0xffffffff, with the
 * build-ids under which their symbols can be found later.
 *
 * Called by the session once, before the first sample.  Addresses that the
 * kernel hides from this user (kernel.kptr_restrict) read as 0: then nothing
 * is handed over.  Modules that come later arrive through the side band.
 */
#include <sys/mman.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/record.h"
#include "confine/reading.h"
#include "cpus.h"
#include "elf/build_id.h"
#include "procfs.h"

#define KERNEL_PID	0xffffffffU
#define NOTES_MAX	16384

static FILE	*kernel_file(const char *);
static bool	text_range(struct prof_text *);
static void	notes_build_id(const char *, struct prof_record *);
static int	emit_module(const char *, uint64_t, prof_record_fn *, void *);

/* Whoever reads it for us. */
static FILE *
kernel_file(const char *path)
{
	const int fd = prof_reading_kernel(path);
	FILE *file = fd == -1 ? NULL : fdopen(fd, "r");

	if (file == NULL && fd != -1)
		(void)close(fd);
	return (file);
}

/* From _stext to _etext; false: not shown to us. */
static bool
text_range(struct prof_text *text)
{
	uint64_t *start = &text->tx_start, *end = &text->tx_end;
	char *line = NULL;
	size_t size = 0;
	FILE *symbols;

	*start = *end = 0;
	symbols = kernel_file("/proc/kallsyms");
	if (symbols == NULL)
		return (false);
	while ((*start == 0 || *end == 0) &&
	    getline(&line, &size, symbols) > 0) {
		const char *name = strrchr(line, ' ');

		if (name == NULL || name[1] != '_')
			continue;
		if (strcmp(name, " _stext\n") == 0)
			*start = strtoull(line, NULL, 16);
		else if (strcmp(name, " _etext\n") == 0)
			*end = strtoull(line, NULL, 16);
		else
			continue;
		/* Hidden addresses: no need to read 200,000 zeros. */
		if (*start == 0 && *end == 0)
			break;
	}
	free(line);
	fclose(symbols);
	return (*start != 0 && *end > *start);
}

/* One that is not 0, before the text begins: reading all takes 40 ms. */
static bool
addresses_shown(void)
{
	char *line = NULL;
	size_t size = 0;
	bool shown = false;
	FILE *symbols = kernel_file("/proc/kallsyms");

	while (symbols != NULL && !shown &&
	    getline(&line, &size, symbols) > 0) {
		shown = strtoull(line, NULL, 16) != 0;
		if (strstr(line, " _stext\n") != NULL)
			break;
	}
	free(line);
	if (symbols != NULL)
		fclose(symbols);
	return (shown);
}

/*
 * The kernel shows them where kernel.kptr_restrict is 0 and who asks may
 * sample the kernel, or where it is at most 1 and CAP_SYSLOG is there.
 */
static void
explain_hidden(struct prof_err *why)
{
	const long restricted = prof_proc_number(
	    "/proc/sys/kernel/kptr_restrict", -1);

	prof_fail(why, PROF_E_PERMISSION, "the kernel hides its symbol "
	    "addresses (kernel.%s is %ld)", restricted > 0 ?
	    "kptr_restrict" : "perf_event_paranoid", restricted > 0 ?
	    restricted : prof_proc_number(
	    "/proc/sys/kernel/perf_event_paranoid", -1));
	if (restricted >= 2)
		prof_cure(why, "use sysctl kernel.kptr_restrict=1 for root, or "
		    "0 for all users");
	else if (restricted == 1)
		prof_cure(why, "sysctl kernel.kptr_restrict=0, or run as "
		    "root or with CAP_SYSLOG");
	else
		prof_cure(why, "sysctl kernel.perf_event_paranoid=1, or run "
		    "as root or with CAP_SYSLOG");
}

bool
prof_kernel_names_shown(struct prof_err *why)
{
	char first[64];

	if (addresses_shown())
		return (true);
	if (prof_proc_read("/proc/kallsyms", first, sizeof(first)) <= 0) {
		prof_fail(why, PROF_E_KERNEL, "/proc/kallsyms (kernel symbols) "
		    "is missing or empty");
		prof_cure(why, "use a kernel with CONFIG_KALLSYMS, and a /proc "
		    "that does not mask kallsyms");
	} else
		explain_hidden(why);
	return (false);
}

static void
notes_build_id(const char *path, struct prof_record *record)
{
	char notes[NOTES_MAX];
	ssize_t len = prof_proc_read(path, notes, sizeof(notes));

	if (len > 0)
		record->pr_build_id_len = prof_build_id_of_notes(notes,
		    (size_t)len, 4, record->pr_build_id);
}

/* One line of /proc/modules: name size uses users state address. */
static int
emit_module(const char *line, uint64_t time_ns, prof_record_fn *fn, void *arg)
{
	char name[64], path[160], shown[72];
	unsigned long long size, addr;
	struct prof_record record;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size,
	    &addr) != 3 || addr == 0 || strchr(name, '/') != NULL)
		return (0);
	memset(&record, 0, sizeof(record));
	record.pr_type = PROF_R_MMAP;
	record.pr_time_ns = time_ns;
	record.pr_pid = record.pr_tid = KERNEL_PID;
	record.pr_addr = addr;
	record.pr_len = size;
	record.pr_prot = PROT_READ | PROT_EXEC;
	record.pr_comm = "";
	snprintf(shown, sizeof(shown), "[%s]", name);
	record.pr_path = shown;
	snprintf(path, sizeof(path),
	    "/sys/module/%s/notes/.note.gnu.build-id", name);
	notes_build_id(path, &record);
	return (fn(arg, &record));
}

int
prof_procfs_snapshot_kernel(const struct prof_text *text, uint64_t time_ns,
    prof_record_fn *fn, void *arg)
{
	struct prof_text found;
	struct prof_record record;
	char *line = NULL;
	size_t size = 0;
	FILE *modules;
	int rv = 0;

	memset(&record, 0, sizeof(record));
	if (text == NULL && text_range(&found))
		text = &found;
	if (text != NULL) {
		record.pr_type = PROF_R_MMAP;
		record.pr_time_ns = time_ns;
		record.pr_pid = record.pr_tid = KERNEL_PID;
		record.pr_addr = text->tx_start;
		record.pr_len = text->tx_end - text->tx_start;
		record.pr_prot = PROT_READ | PROT_EXEC;
		record.pr_comm = "";
		record.pr_path = "[kernel.kallsyms]";
		notes_build_id("/sys/kernel/notes", &record);
		rv = fn(arg, &record);
	}
	modules = kernel_file("/proc/modules");
	if (modules == NULL)
		return (rv);
	while (rv == 0 && getline(&line, &size, modules) > 0)
		rv = emit_module(line, time_ns, fn, arg);
	free(line);
	fclose(modules);
	return (rv);
}
