/* SPDX-License-Identifier: ISC */
/*
 * What unwind tables cost.
 *
 *	tables [-q] [-r rounds] [-j threads] FILE ...
 *
 * Makes the table of each file and prints the least time of all rounds, its
 * rows, and its size beside that of the text (-q: only the sum); then how
 * long all took together, by so many threads, in the best round.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/unwind_table.h"

struct file {
	const char	*path;
	double		 best_ms;
	size_t		 rows;
	size_t		 bytes;
	size_t		 text;
};

static struct file *files;
static int nfiles;
static atomic_int next;

static double
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (ts.tv_sec * 1e3 + ts.tv_nsec / 1e6);
}

static void
measure(struct file *file)
{
	struct prof_unwind_table *table = NULL;
	double begun = now_ms(), ms;
	struct prof_elf elf;
	int fd = open(file->path, O_RDONLY | O_NONBLOCK);

	if (fd == -1)
		return;
	if (prof_elf_open(&elf, fd) == 0) {
		table = prof_unwind_table_new(&elf);
		prof_elf_close(&elf);
	}
	close(fd);
	ms = now_ms() - begun;
	if (table == NULL)
		return;
	if (file->best_ms == 0 || ms < file->best_ms)
		file->best_ms = ms;
	file->rows = table->ut_nrows;
	file->bytes = (table->ut_nrows + table->ut_nindex) * 4;
	file->text = table->ut_text;
	prof_unwind_table_free(table);
}

static void *
work(void *arg)
{
	int n;

	while ((n = atomic_fetch_add(&next, 1)) < nfiles)
		measure(&files[n]);
	return (arg);
}

static double
once(int nthreads)
{
	pthread_t thread[64];
	double begun = now_ms();
	int n;

	next = 0;
	for (n = 0; n < nthreads; n++)
		if (pthread_create(&thread[n], NULL, work, NULL) != 0)
			exit(1);
	for (n = 0; n < nthreads; n++)
		pthread_join(thread[n], NULL);
	return (now_ms() - begun);
}

int
main(int argc, char *argv[])
{
	int option, quiet = 0, rounds = 5, nthreads = 1, n, made = 0;
	size_t rows = 0, bytes = 0, text = 0;
	double best = 0, ms, sum = 0;

	while ((option = getopt(argc, argv, "qr:j:")) != -1)
		if (option == 'q')
			quiet = 1;
		else if (option == 'r')
			rounds = atoi(optarg);
		else if (option == 'j')
			nthreads = atoi(optarg);
		else
			return (2);
	nfiles = argc - optind;
	files = calloc((size_t)nfiles + 1, sizeof(*files));
	if (files == NULL || nthreads < 1 || nthreads > 64)
		return (2);
	for (n = 0; n < nfiles; n++)
		files[n].path = argv[optind + n];
	while (rounds-- > 0)
		if ((ms = once(nthreads)) < best || best == 0)
			best = ms;
	for (n = 0; n < nfiles; n++) {
		const struct file *file = &files[n];

		if (file->text == 0)
			continue;
		if (!quiet)
			printf("%8.2f ms %8zu rows %5.1f %% of %zu  %s\n",
			    file->best_ms, file->rows, 100.0 *
			    (double)file->bytes / (double)file->text,
			    file->text, file->path);
		made++;
		rows += file->rows;
		bytes += file->bytes;
		text += file->text;
		sum += file->best_ms;
	}
	printf("%8.2f ms by %d threads: %d tables, %zu rows, %zu bytes, "
	    "%.2f %% of the text, %.2f ms each by itself\n", best, nthreads,
	    made, rows, bytes, text == 0 ? 0 : 100.0 * (double)bytes /
	    (double)text, sum);
	return (0);
}
