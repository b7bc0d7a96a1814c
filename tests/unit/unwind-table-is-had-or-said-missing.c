/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: A table that had to go is made again when it is wanted, also
 * when whoever showed its file first has ended: through another process, or
 * by name and build-id.  What cannot be had now is tried again, not all the
 * time; what is too large, one file too many, or gone before it was opened is
 * awaited for good, unlike files that have none.  A file without a build-id
 * that was written since is another one.
 *
 * Easy to get wrong: a table that could not be had is not a file without one.
 * The walk takes the latter's code for code without rules, follows frame
 * pointers through it, and has no doubt.  Nothing of the kernel is asked here.
 */
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <signal.h>

#include "broker/tables.h"

static enum prof_tabled table_or_not(int, struct prof_unwind_table **);

/* What a parser would answer, without one. */
#define prof_table_ask(broker, fd, name, table, runtime)	\
	((void)(broker), (void)(runtime), table_or_not(fd, table))

#include "../../libprof/backend/bpf/publish/memory.c"
#include "../../libprof/backend/bpf/publish/modules.c"
#include "../../libprof/backend/bpf/publish/tables.c"
#include "cli-check.h"

#define LOOKS		10000

static uint32_t words_of_all[DTP_UW_SLAB_WORDS];
static struct prof_unwind_memory memory;
static struct prof_unwind_modules *modules;
static bool no_memory;
static int asked;

#undef prof_table_ask

static enum prof_tabled
table_or_not(int fd, struct prof_unwind_table **table)
{
	struct prof_elf elf;

	asked++;
	if (no_memory)
		return (PROF_TABLED_LATER);
	CHECK(prof_elf_open(&elf, fd) == 0, "no ELF file");
	*table = prof_unwind_table_new(&elf);
	prof_elf_close(&elf);
	return (*table == NULL ? PROF_TABLED_NONE : PROF_TABLED);
}

static void
copy_of_us(const char *to)
{
	int from = open("/proc/self/exe", O_RDONLY);
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	char bytes[65536];
	ssize_t n;

	CHECK(from != -1 && fd != -1, "%s", to);
	while ((n = read(from, bytes, sizeof(bytes))) > 0)
		CHECK(write(fd, bytes, (size_t)n) == n, "%s", to);
	close(from);
	close(fd);
}

/* Somebody through whom a file can be seen, as long as he lives. */
static pid_t
shower(void)
{
	pid_t pid = fork();

	CHECK(pid != -1, "fork");
	if (pid == 0)
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (pid == 0)
		pause();
	return (pid);
}

static void
ends(pid_t pid)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* As it is told of: at an address where nothing is, so the name counts. */
static struct prof_record
mapping_of(char *path, pid_t pid, bool with_id)
{
	struct prof_record mapping = { .pr_type = PROF_R_MMAP,
	    .pr_pid = (uint32_t)pid, .pr_addr = 4096, .pr_len = 4096,
	    .pr_path = path };
	struct stat st;
	int fd = open(path, O_RDONLY);

	CHECK(fd != -1 && fstat(fd, &st) == 0, "%s", path);
	mapping.pr_ino = st.st_ino;
	if (with_id)
		mapping.pr_build_id_len = prof_build_id_of_file(fd,
		    mapping.pr_build_id);
	CHECK(!with_id || mapping.pr_build_id_len != 0, "no build-id");
	close(fd);
	return (mapping);
}

static uint32_t
get(const struct prof_record *mapping)
{
	uint64_t bias;

	return (prof_unwind_modules_get(modules, mapping, &bias));
}

static enum dtp_uw_state
state_of(uint32_t number)
{
	return (memory.um_modules[number].uo_state & DTP_UW_STATE_MASK);
}

/* What is queued is made, and published. */
static void
settle(void)
{
	int looks = 0;

	do {
		usleep(1000);
		prof_unwind_modules_publish(modules);
	} while (!prof_unwind_modules_idle(modules) && ++looks < LOOKS);
	CHECK(looks < LOOKS, "it does not come to rest");
}

/* A walk wants it, and it is looked what is wanted. */
static enum dtp_uw_state
wanted(uint32_t number)
{
	memory.um_modules[number].uo_wanted = 1;
	modules->ms_looked_ns = 0;
	settle();
	return (state_of(number));
}

static void
end(void)
{
	prof_unwind_modules_free(modules);
	free(memory.um_modules);
	free(memory.um_entries);
	free(memory.um_cache);
	free(memory.um_files);
	free_all(memory.um_free);
	free_all(memory.um_resting);
}

/* Memory that no program reads: one slab, which is free. */
static void
begin(void)
{
	struct extent *extent = calloc(1, sizeof(*extent));

	end();
	memory = (struct prof_unwind_memory){ .um_max_slabs = 1,
	    .um_nslabs = 1, .um_cache_bytes = 4096 };
	memory.um_slab[0] = words_of_all;
	memory.um_resting_last = &memory.um_resting;
	memory.um_modules = calloc(DTP_UW_MODULES,
	    sizeof(*memory.um_modules));
	memory.um_entries = calloc(DTP_UW_ENTRIES,
	    sizeof(*memory.um_entries));
	memory.um_cache = calloc(1, memory.um_cache_bytes);
	memory.um_files = calloc(DTP_UW_FILES, sizeof(*memory.um_files));
	modules = prof_unwind_modules_new(&memory, NULL);
	CHECK(memory.um_modules != NULL && memory.um_entries != NULL &&
	    memory.um_cache != NULL && memory.um_files != NULL &&
	    modules != NULL && extent != NULL, "no memory");
	extent->ex_words.wd_n = DTP_UW_SLAB_WORDS;
	set_free(&memory, extent);
}

static uint32_t
table_of(const struct prof_record *mapping)
{
	uint32_t number = get(mapping);

	settle();
	CHECK(number != 0 && state_of(number) == DTP_UW_TABLE,
	    "module %u: state %d", number, state_of(number));
	return (number);
}

static void
by_name(char *path)
{
	struct prof_record mapping;
	pid_t pid = shower();
	uint32_t number;

	begin();
	mapping = mapping_of(path, pid, true);
	number = table_of(&mapping);
	ends(pid);
	table_evict(modules, modules->ms_module[number]);
	CHECK(wanted(number) == DTP_UW_TABLE, "state %d", state_of(number));
	OK("made again by name when nobody shows the file any more");
}

static void
through_another(char *path)
{
	struct prof_record mapping, other;
	pid_t first = shower(), second = shower(), third = shower();
	uint32_t number;

	begin();
	mapping = mapping_of(path, first, false);
	number = table_of(&mapping);
	other = mapping_of(path, second, false);
	CHECK(get(&other) == number, "another module");
	ends(first);
	table_evict(modules, modules->ms_module[number]);
	CHECK(wanted(number) == DTP_UW_TABLE, "state %d", state_of(number));
	OK("made again through a process that still shows the file");

	table_evict(modules, modules->ms_module[number]);
	ends(second);
	CHECK(wanted(number) == DTP_UW_AWAITED, "state %d", state_of(number));
	other = mapping_of(path, third, false);
	CHECK(get(&other) == number, "another module");
	CHECK(wanted(number) == DTP_UW_AWAITED, "tried again at once");
	usleep(1100000);
	CHECK(wanted(number) == DTP_UW_TABLE, "state %d", state_of(number));
	ends(third);
	OK("nobody shows it: awaited, and made when somebody does");
}

/* Who was there first may outlive those that came later. */
static void
through_the_first(char *path)
{
	struct prof_record mapping, other;
	pid_t first = shower(), second = shower();
	uint32_t number;

	begin();
	mapping = mapping_of(path, first, false);
	number = table_of(&mapping);
	other = mapping_of(path, second, false);
	CHECK(get(&other) == number, "another module");
	ends(second);
	table_evict(modules, modules->ms_module[number]);
	CHECK(wanted(number) == DTP_UW_TABLE, "state %d", state_of(number));
	ends(first);
	OK("made again through the first when the last has ended");
}

/* In its place, so it has the same inode and no build-id that differs. */
static void
written_since(char *path)
{
	const struct timespec later[2] = { { 0, UTIME_NOW }, { 1, 0 } };
	struct prof_record mapping = mapping_of(path, getpid(), false);
	uint32_t number;

	begin();
	number = table_of(&mapping);
	CHECK(get(&mapping) == number, "another module of the same file");
	CHECK(utimensat(AT_FDCWD, path, later, 0) == 0, "%s", path);
	CHECK(table_of(&mapping) != number, "the table of what it was");
	CHECK(table_of(&mapping) != number, "the table of what it was");
	CHECK(modules->ms_nfiles == 2, "a third one");
	table_evict(modules, modules->ms_module[number]);
	CHECK(wanted(number) == DTP_UW_AWAITED, "state %d", state_of(number));
	OK("a file that was written since has a table of its own");
}

static void
too_large(char *path)
{
	struct prof_record mapping = mapping_of(path, getpid(), true);
	uint32_t number;

	begin();
	memory.um_max_slabs = 0;
	number = get(&mapping);
	settle();
	CHECK(state_of(number) == DTP_UW_AWAITED, "%d", state_of(number));
	modules->ms_module[number]->mo_again_ns = 0;
	asked = 0;
	CHECK(wanted(number) == DTP_UW_AWAITED && asked == 0, "tried again");
	OK("a table that never has room is awaited, and not made again");
}

static void
without_memory(char *path)
{
	struct prof_record mapping = mapping_of(path, getpid(), true);
	uint32_t number, n;

	begin();
	no_memory = true;
	asked = 0;
	number = get(&mapping);
	settle();
	CHECK(state_of(number) == DTP_UW_AWAITED, "%d", state_of(number));
	CHECK(wanted(number) == DTP_UW_AWAITED && asked == 1, "at once");
	for (n = 0; n < 100; n++) {
		modules->ms_module[number]->mo_again_ns = 0;
		CHECK(wanted(number) == DTP_UW_AWAITED, "not awaited");
	}
	CHECK(asked > 1 && asked <= 8, "%d times", asked);
	begin();
	number = get(&mapping);
	settle();
	no_memory = false;
	modules->ms_module[number]->mo_again_ns = 0;
	CHECK(wanted(number) == DTP_UW_TABLE, "%d", state_of(number));
	OK("without memory it is awaited, and tried some times");
}

static void
which_are_lost(char *path)
{
	char gone[] = "/nowhere/gone", anon[] = "//anon", null[] = "/dev/null";
	char text[] = "/proc/self/cmdline";
	struct prof_record mapping = mapping_of(path, getpid(), true);
	uint32_t number;

	begin();
	mapping.pr_path = gone;
	number = get(&mapping);
	CHECK(number != 0 && state_of(number) == DTP_UW_AWAITED,
	    "gone: %u", number);
	mapping.pr_build_id_len = 0;
	mapping.pr_path = anon;
	CHECK(get(&mapping) == 0, "its own memory");
	mapping.pr_path = null;
	CHECK(get(&mapping) == 0, "a device");
	mapping = mapping_of(text, getpid(), false);
	number = get(&mapping);
	CHECK(number != 0 && state_of(number) == DTP_UW_NO_TABLE,
	    "no program: %u", number);
	mapping = mapping_of(path, getpid(), true);
	modules->ms_n = DTP_UW_MODULES - 1;
	number = get(&mapping);
	modules->ms_n = 1;
	CHECK(number != 0 && state_of(number) == DTP_UW_AWAITED,
	    "one too many: %u", number);
	OK("files too many, and gone before they were opened, are awaited");
}

int
main(void)
{
	char name[] = "/tmp/dtprof-test.XXXXXX", path[64];

	CHECK(mkdtemp(name) != NULL, "mkdtemp");
	snprintf(path, sizeof(path), "%s/file", name);
	copy_of_us(path);
	by_name(path);
	through_another(path);
	through_the_first(path);
	written_since(path);
	too_large(path);
	without_memory(path);
	which_are_lost(path);
	end();
	unlink(path);
	rmdir(name);
	return (0);
}
