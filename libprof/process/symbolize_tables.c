/* SPDX-License-Identifier: ISC */
/*
 * Names for the places that were met, at the end of a recording: one table a
 * module, see recording/table.h.  The kernel's list has a thread of its own;
 * of files those with the most places go first, in several threads, which have
 * them read by parsers (broker/names.c).  When the time is up the rest stays
 * without, which a reader makes good as far as the files are still there.
 *
 * The maps of JITs, which are as long as their writers like, are read one by
 * one, the shortest first, and share a budget of memory, and so of time.
 */
#include <sys/stat.h>

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "broker/names.h"
#include "symbolize_impl.h"

#define MAX_THREADS	4
#define MAX_BODY	(8u << 20)	/* of one table */
#define ASK_ONCE	64		/* places of the kernel */
#define MAPS_MEMORY	(256ull << 20)	/* of all perf maps, one by one */
/*
 * What the parser that a thread asks may take: of its CPU, so that names do
 * not depend on what else runs; and in all, for a file that is slow to come.
 */
#define CPU_NS		120000000u
#define WALL_NS		1000000000u
#define NOW_NS		50000000u	/* while rings fill */

/* A module and its places, which lie together when sorted. */
struct job {
	uint64_t	*jo_place;
	size_t		 jo_n;
	struct prof_buf	 jo_body;
	struct prof_table jo_table;
	uint32_t	 jo_functions;
	uint32_t	 jo_dropped;	/* places whose table was full */
	bool		 jo_done;
	bool		 jo_is_map;	/* of a JIT: places_strip() hides it */
	bool		 jo_is_over;	/* a map beyond the budget */
	off_t		 jo_size;	/* of a map */
};

struct crew {
	struct prof_noted *cr_noted;
	struct prof_broker *cr_broker;
	struct job	*cr_job;
	size_t		 cr_n;
	struct job	 cr_kernel;
	uint64_t	 cr_until_ns;
	atomic_size_t	 cr_next;
	pthread_mutex_t	 cr_maps;	/* while a perf map is read */
	struct job	**cr_map;	/* jobs that are maps, by size */
	size_t		 cr_nmaps;
	size_t		 cr_map_at;	/* the next one */
	uint64_t	 cr_maps_left;	/* bytes of memory */
};

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts = { 0, 0 };

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

/* ---------------------------------------------------- one module */

/* Each function once; places come by address, so it is the last or new. */
static void
pack_symbol(struct job *job, const struct prof_symbol *symbol)
{
	const struct prof_table_function function = {
		.tf_address = symbol->sy_address,
		.tf_size = symbol->sy_size,
		.tf_name = symbol->sy_name,
		.tf_module = symbol->sy_module == NULL ? "" :
		    symbol->sy_module,
	};

	if (job->jo_functions > 0 &&
	    job->jo_table.tb_last == symbol->sy_address)
		return;
	if (job->jo_body.bf_len > MAX_BODY) {
		job->jo_dropped++;
		return;
	}
	prof_table_pack_function(&job->jo_body, &job->jo_table, &function);
	job->jo_functions++;
}

/* Places without whose they are; in order, as they are sorted. */
static void
places_strip(struct job *job, unsigned bits)
{
	size_t n;

	for (n = 0; n < job->jo_n; n++)
		job->jo_place[n] &= (1ULL << bits) - 1;
}

/*
 * Have it read by a parser; the CPU time that it took.  left: of a map, the
 * bytes that it may take, and then those that it did not; NULL: of a file.
 */
static uint64_t
pack_named(struct crew *crew, struct job *job, const char *name, int fd,
    uint64_t written_ns, uint64_t *left)
{
	struct prof_naming naming = {
		.ng_broker = crew->cr_broker,
		.ng_name = name,
		.ng_fd = fd,
		.ng_place = job->jo_place,
		.ng_n = job->jo_n,
		.ng_table = &job->jo_table,
		.ng_left = left == NULL ? 0 : *left,
	};
	const bool is_read = prof_names_ask(&naming, written_ns);

	if (left != NULL) {
		*left = is_read ? naming.ng_left : 0;
		job->jo_is_over = is_read && *left == 0;
	}
	if (is_read || job->jo_table.tb_kind == PROF_TABLE_FILE)
		job->jo_body = naming.ng_body;
	else
		prof_buf_free(&naming.ng_body);
	job->jo_functions = naming.ng_functions;
	job->jo_dropped += (uint32_t)naming.ng_dropped;
	return (naming.ng_cpu_ns);
}

static uint64_t
pack_file(struct crew *crew, struct job *job)
{
	struct prof_noted *noted = crew->cr_noted;
	const uint32_t number = (uint32_t)(job->jo_place[0] >>
	    NOTED_OFFSET_BITS);
	const struct prof_image *image = &noted->nt_images.is_image[number];
	const struct prof_module_files files = { .mf_same_boot = true,
	    .mf_realtime_ns = noted->nt_realtime_ns };
	const struct prof_module module = { .mo_image = image,
	    .mo_held = noted->nt_held[number] };
	struct prof_table *table = &job->jo_table;
	const bool is_vdso = prof_image_is_vdso(image);
	uint64_t cpu_ns;
	int fd;

	places_strip(job, NOTED_OFFSET_BITS);
	table->tb_kind = PROF_TABLE_FILE;
	table->tb_why = PROF_UNNAMED_NOFILE;
	table->tb_path = image->im_path;
	table->tb_dev = image->im_dev;
	table->tb_ino = image->im_ino;
	table->tb_id_len = image->im_id_len;
	memcpy(table->tb_id, image->im_id, sizeof(table->tb_id));
	fd = is_vdso ? -1 : prof_module_open(&module, &files);
	if (fd == -1 && !is_vdso) {
		prof_table_pack(&job->jo_body, table);
		return (0);
	}
	cpu_ns = pack_named(crew, job, image->im_path, fd,
	    module.mo_held != 0 ? image->im_written_ns :
	    prof_image_written_ns(fd), NULL);
	if (fd != -1)
		close(fd);
	return (cpu_ns);
}

static const struct noted_jit *
jit_of(const struct crew *crew, const struct job *job)
{
	return (&crew->cr_noted->nt_jit[(job->jo_place[0] & ~NOTED_JIT) >>
	    NOTED_ADDRESS_BITS]);
}

/* Caller holds cr_maps. */
static uint64_t
pack_jit(struct crew *crew, struct job *job)
{
	const uint64_t most = crew->cr_maps_left < PROF_MAP_MEMORY ?
	    crew->cr_maps_left : PROF_MAP_MEMORY;
	const struct noted_jit *jit = jit_of(crew, job);
	const int fd = prof_noted_jit_map(crew->cr_noted, jit);
	uint64_t cpu_ns, left = most;
	char name[32];

	if (fd == -1)
		return (0);
	places_strip(job, NOTED_ADDRESS_BITS);
	job->jo_table.tb_kind = PROF_TABLE_JIT;
	job->jo_table.tb_why = PROF_UNNAMED_ANON;
	job->jo_table.tb_pid = jit->nj_pid;
	job->jo_table.tb_time_ns = jit->nj_time_ns;
	snprintf(name, sizeof(name), "perf-%u.map", jit->nj_inner_pid);
	cpu_ns = pack_named(crew, job, name, fd, 0, &left);
	crew->cr_maps_left -= most - left;
	close(fd);
	return (cpu_ns);
}

static void
pack_kernel_symbol(struct job *job, struct prof_symbol *symbol)
{
	if (symbol->sy_module == NULL)
		symbol->sy_module = "[kernel]";
	pack_symbol(job, symbol);
}

/* By the kernel's own answers. */
static void
pack_asked(const struct prof_noted *noted, struct job *job)
{
	struct prof_symbol symbol[ASK_ONCE];
	size_t n, i, asked = 1;

	for (n = 0; n < job->jo_n && asked > 0; n += asked) {
		asked = noted->nt_ask(noted->nt_ask_arg, &job->jo_place[n],
		    job->jo_n - n < ASK_ONCE ? job->jo_n - n : ASK_ONCE,
		    symbol);
		for (i = 0; i < asked; i++)
			if (symbol[i].sy_name != NULL)
				pack_kernel_symbol(job, &symbol[i]);
	}
}

/* By all symbols, as text. */
static struct prof_symtab *
read_kallsyms(bool *hidden)
{
	struct prof_symtab *symtab;
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);

	if (fd == -1)
		return (NULL);
	symtab = prof_symtab_of_kallsyms(fd, hidden);
	close(fd);
	return (symtab);
}

static void
pack_kernel(const struct prof_noted *noted, struct job *job)
{
	struct prof_symtab *symtab = NULL;
	struct prof_symbol symbol;
	bool hidden = false;
	size_t n;

	if (noted->nt_ask == NULL)
		symtab = read_kallsyms(&hidden);
	job->jo_table.tb_kind = PROF_TABLE_KERNEL;
	job->jo_table.tb_why = hidden ? PROF_UNNAMED_HIDDEN :
	    PROF_UNNAMED_NOSYM;
	prof_table_pack(&job->jo_body, &job->jo_table);
	if (noted->nt_ask != NULL)
		pack_asked(noted, job);
	for (n = 0; symtab != NULL && n < job->jo_n; n++)
		if (prof_symtab_find(symtab, job->jo_place[n], &symbol))
			pack_kernel_symbol(job, &symbol);
	prof_symtab_free(symtab);
}

/* ------------------------------------------------------ the crew */

static void *
crew_work(void *arg)
{
	struct crew *crew = arg;
	uint64_t spent_ns = 0;
	struct job *job;
	size_t n;

	while ((n = atomic_fetch_add(&crew->cr_next, 1)) < crew->cr_n &&
	    spent_ns < CPU_NS &&
	    clock_ns(CLOCK_MONOTONIC) < crew->cr_until_ns) {
		job = &crew->cr_job[n];
		if (!job->jo_is_map) {
			spent_ns += pack_file(crew, job);
			job->jo_done = true;
			continue;
		}
		pthread_mutex_lock(&crew->cr_maps);
		job = crew->cr_map[crew->cr_map_at++];
		job->jo_done = clock_ns(CLOCK_MONOTONIC) < crew->cr_until_ns;
		if (job->jo_done)
			spent_ns += pack_jit(crew, job);
		pthread_mutex_unlock(&crew->cr_maps);
	}
	return (NULL);
}

static void *
work_kernel(void *arg)
{
	struct crew *crew = arg;

	pack_kernel(crew->cr_noted, &crew->cr_kernel);
	return (NULL);
}

static int
key_compare(const void *a, const void *b)
{
	const uint64_t *ka = a, *kb = b;

	return (*ka < *kb ? -1 : *ka > *kb);
}

static int
job_compare(const void *a, const void *b)
{
	const struct job *ja = a, *jb = b;

	return (ja->jo_n > jb->jo_n ? -1 : ja->jo_n < jb->jo_n);
}

/* What of two places is the same when they are of one module. */
static uint64_t
owner_of(uint64_t place)
{
	return (place >> ((place & NOTED_JIT) != 0 ? NOTED_ADDRESS_BITS :
	    NOTED_OFFSET_BITS));
}

static int
size_compare(const void *a, const void *b)
{
	const struct job *ja = *(struct job *const *)a;
	const struct job *jb = *(struct job *const *)b;

	return (ja->jo_size < jb->jo_size ? -1 : ja->jo_size > jb->jo_size);
}

/* The jobs that are maps, by what they are long now; false: no memory. */
static bool
sort_maps(struct crew *crew)
{
	struct stat st;
	size_t n;
	int fd;

	crew->cr_map = calloc(crew->cr_n + 1, sizeof(struct job *));
	if (crew->cr_map == NULL)
		return (false);
	for (n = 0; n < crew->cr_n; n++) {
		struct job *job = &crew->cr_job[n];

		job->jo_is_map = (job->jo_place[0] & NOTED_JIT) != 0;
		if (!job->jo_is_map)
			continue;
		crew->cr_map[crew->cr_nmaps++] = job;
		fd = prof_noted_jit_map(crew->cr_noted, jit_of(crew, job));
		if (fd == -1)
			continue;
		if (fstat(fd, &st) == 0)
			job->jo_size = st.st_size;
		close(fd);
	}
	qsort(crew->cr_map, crew->cr_nmaps, sizeof(struct job *),
	    size_compare);
	return (true);
}

/* Runs of one owner; false: no memory. */
static bool
make_jobs(struct crew *crew)
{
	struct prof_noted *noted = crew->cr_noted;
	struct noted_set *places = &noted->nt_places;
	uint64_t *at = places->ns_key, *end = at, *from;
	size_t owners = 0;

	if (places->ns_n > 0) {
		qsort(at, places->ns_n, sizeof(*at), key_compare);
		end += places->ns_n;
	}
	for (from = at; from < end; from++)
		owners += from == at || owner_of(from[-1]) != owner_of(*from);
	crew->cr_job = calloc(owners + 1, sizeof(*crew->cr_job));
	if (crew->cr_job == NULL)
		return (false);
	for (from = at; from < end; from++) {
		if (from == at || owner_of(from[-1]) != owner_of(*from))
			crew->cr_job[crew->cr_n++].jo_place = from;
		crew->cr_job[crew->cr_n - 1].jo_n++;
	}
	qsort(crew->cr_job, crew->cr_n, sizeof(*crew->cr_job), job_compare);
	return (sort_maps(crew));
}

static void
crew_run(struct crew *crew)
{
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct noted_set *places = &crew->cr_noted->nt_kernel;
	pthread_t thread[MAX_THREADS], kernel;
	bool beside = false;
	unsigned n = 0;

	if (places->ns_n > 0) {
		qsort(places->ns_key, places->ns_n, sizeof(*places->ns_key),
		    key_compare);
		crew->cr_kernel.jo_place = places->ns_key;
		crew->cr_kernel.jo_n = places->ns_n;
		beside = pthread_create(&kernel, NULL, work_kernel,
		    crew) == 0;
	}
	while (n + 1 < MAX_THREADS && n + 1 < crew->cr_n && (long)n + 1 <
	    cpus && pthread_create(&thread[n], NULL, crew_work, crew) == 0)
		n++;
	(void)crew_work(crew);
	while (n > 0)
		(void)pthread_join(thread[--n], NULL);
	if (beside)
		(void)pthread_join(kernel, NULL);
}

/* Hand over what a job has made, and forget it. */
static int
put_job(struct job *job, struct prof_noted_stats *stats,
    prof_noted_put_fn *put, void *arg)
{
	int rv = 0;

	stats->ns_functions += job->jo_functions;
	stats->ns_dropped += job->jo_dropped;
	stats->ns_maps_over += job->jo_is_over;
	if (put != NULL && job->jo_body.bf_len > 0 &&
	    !job->jo_body.bf_failed) {
		stats->ns_modules++;
		rv = put(arg, job->jo_body.bf_data, job->jo_body.bf_len);
	}
	prof_buf_free(&job->jo_body);
	return (rv);
}

void
prof_noted_ask_kernel(struct prof_noted *noted, prof_noted_ask_fn *ask,
    void *arg)
{
	noted->nt_ask = ask;
	noted->nt_ask_arg = arg;
}

/* Only what there was no time for has still to be named; false: no memory. */
static bool
places_keep(struct crew *crew)
{
	struct prof_noted *noted = crew->cr_noted;
	struct noted_set late = { 0 };
	bool ok = true;

	for (size_t n = 0; n < crew->cr_n; n++) {
		const struct job *job = &crew->cr_job[n];

		for (size_t i = 0; !job->jo_done && i < job->jo_n; i++)
			ok &= prof_noted_set_add(&late, job->jo_place[i]);
	}
	prof_noted_set_free(&noted->nt_places);
	prof_noted_set_free(&noted->nt_kernel);
	noted->nt_places = late;
	return (ok);
}

static int
tables_make(struct crew *crew, prof_noted_put_fn *put, void *arg,
    struct prof_noted_stats *stats)
{
	struct prof_noted *noted = crew->cr_noted;
	int rv;
	size_t n;

	memset(stats, 0, sizeof(*stats));
	stats->ns_places = noted->nt_places.ns_n + noted->nt_kernel.ns_n;
	stats->ns_dropped = noted->nt_dropped;
	stats->ns_over = prof_processes_over(noted->nt_processes);
	stats->ns_dumps_over = noted->nt_dumps_over;
	if (!make_jobs(crew)) {
		free(crew->cr_job);
		return (-1);
	}
	crew_run(crew);
	rv = put_job(&crew->cr_kernel, stats, put, arg);
	for (n = 0; n < crew->cr_n; n++) {
		stats->ns_late += !crew->cr_job[n].jo_done;
		rv |= put_job(&crew->cr_job[n], stats, rv == 0 ? put : NULL,
		    arg);
	}
	if (!places_keep(crew))
		rv = -1;
	free(crew->cr_map);
	free(crew->cr_job);
	return (rv);
}

static struct crew
crew_of(struct prof_noted *noted, struct prof_broker *broker, uint64_t wall_ns)
{
	return ((struct crew){ .cr_noted = noted, .cr_broker = broker,
	    .cr_maps = PTHREAD_MUTEX_INITIALIZER,
	    .cr_maps_left = MAPS_MEMORY,
	    .cr_until_ns = clock_ns(CLOCK_MONOTONIC) + wall_ns });
}

int
prof_noted_tables(struct prof_noted *noted, struct prof_broker *broker,
    prof_noted_put_fn *put, void *arg, struct prof_noted_stats *stats)
{
	struct crew crew = crew_of(noted, broker, WALL_NS);

	return (tables_make(&crew, put, arg, stats));
}

int
prof_noted_now(struct prof_noted *noted, struct prof_broker *broker,
    prof_noted_put_fn *put, void *arg)
{
	struct crew crew = crew_of(noted, broker, NOW_NS);
	struct prof_noted_stats stats;

	return (tables_make(&crew, put, arg, &stats));
}
