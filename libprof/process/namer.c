/* SPDX-License-Identifier: ISC */
/*
 * A thread that opens the memory of processes and has parsers name what lies
 * there (broker/scripts.h): memory may be slow to read, or a file system's that
 * never answers.  It starts with the first job.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "confine/privilege.h"
#include "namer.h"

#define MAX_JOBS	64u
#define NS_PER_S	1000000000ULL

/*
 * [m] under nm_mutex
 * [I] immutable after new
 * [r] the caller's thread
 */
struct prof_namer {
	struct prof_broker *nm_broker;	/* [I] */
	prof_language_fn *nm_language;	/* [I] */
	unsigned	 nm_njobs;	/* [r] put, and not got yet */
	bool		 nm_is_started;	/* [r] */
	pthread_t	 nm_thread;	/* [r] */
	pthread_mutex_t	 nm_mutex;
	pthread_cond_t	 nm_more;
	pthread_cond_t	 nm_done;
	struct prof_naming_job *nm_first;	/* [m] to do */
	struct prof_naming_job **nm_last;	/* [m] */
	struct prof_naming_job *nm_named;	/* [m] done */
	bool		 nm_quit;	/* [m] */
};

struct prof_namer *
prof_namer_new(struct prof_broker *broker, prof_language_fn *language)
{
	struct prof_namer *namer = calloc(1, sizeof(*namer));
	pthread_condattr_t clock;

	if (namer == NULL)
		return (NULL);
	namer->nm_broker = broker;
	namer->nm_language = language;
	namer->nm_last = &namer->nm_first;
	pthread_mutex_init(&namer->nm_mutex, NULL);
	pthread_cond_init(&namer->nm_more, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&namer->nm_done, &clock);
	pthread_condattr_destroy(&clock);
	return (namer);
}

static void
jobs_free(struct prof_naming_job *job)
{
	struct prof_naming_job *next;

	for (; job != NULL; job = next) {
		next = job->nj_next;
		prof_buf_free(&job->nj_scripts.sc_body);
		free(job);
	}
}

void
prof_namer_free(struct prof_namer *namer)
{
	if (namer == NULL)
		return;
	if (namer->nm_is_started) {
		pthread_mutex_lock(&namer->nm_mutex);
		namer->nm_quit = true;
		pthread_cond_signal(&namer->nm_more);
		pthread_mutex_unlock(&namer->nm_mutex);
		pthread_join(namer->nm_thread, NULL);
	}
	jobs_free(namer->nm_first);
	jobs_free(namer->nm_named);
	pthread_cond_destroy(&namer->nm_done);
	pthread_cond_destroy(&namer->nm_more);
	pthread_mutex_destroy(&namer->nm_mutex);
	free(namer);
}

static void
job_do(const struct prof_namer *namer, struct prof_naming_job *job)
{
	struct prof_scripts *scripts = &job->nj_scripts;
	struct prof_peek memory;
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%u/mem", scripts->sc_pid);
	scripts->sc_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (scripts->sc_fd == -1)
		return;
	scripts->sc_broker = namer->nm_broker;
	if (namer->nm_broker != NULL)
		prof_scripts_ask(scripts);
	else {
		memory = (struct prof_peek){
		    .pk_pid = scripts->sc_pid, .pk_fd = scripts->sc_fd };
		prof_language_name_all(namer->nm_language, &memory,
		    scripts->sc_key, scripts->sc_n, &scripts->sc_body);
		prof_scripts_count(scripts);
	}
	(void)close(scripts->sc_fd);
}

/* The next one to do, out of the queue; NULL: it is to end. */
static struct prof_naming_job *
job_take(struct prof_namer *namer)
{
	struct prof_naming_job *job;

	while (namer->nm_first == NULL && !namer->nm_quit)
		pthread_cond_wait(&namer->nm_more, &namer->nm_mutex);
	if (namer->nm_quit)
		return (NULL);
	job = namer->nm_first;
	namer->nm_first = job->nj_next;
	if (namer->nm_first == NULL)
		namer->nm_last = &namer->nm_first;
	return (job);
}

static void *
namer_run(void *arg)
{
	struct prof_namer *namer = arg;
	struct prof_naming_job *job;

	prof_privileges_thread("dtprof-namer", PROF_CAPS_OPEN);
	pthread_mutex_lock(&namer->nm_mutex);
	while ((job = job_take(namer)) != NULL) {
		pthread_mutex_unlock(&namer->nm_mutex);
		job_do(namer, job);
		pthread_mutex_lock(&namer->nm_mutex);
		job->nj_next = namer->nm_named;
		namer->nm_named = job;
		pthread_cond_signal(&namer->nm_done);
	}
	pthread_mutex_unlock(&namer->nm_mutex);
	return (NULL);
}

bool
prof_namer_has_room(const struct prof_namer *namer)
{
	return (namer->nm_njobs < MAX_JOBS);
}

int
prof_namer_put(struct prof_namer *namer, struct prof_naming_job *job)
{
	job->nj_next = NULL;
	if (namer->nm_broker == NULL) {
		job_do(namer, job);
		job->nj_next = namer->nm_named;
		namer->nm_named = job;
		namer->nm_njobs++;
		return (0);
	}
	if (!namer->nm_is_started && pthread_create(&namer->nm_thread, NULL,
	    namer_run, namer) != 0)
		return (-1);
	namer->nm_is_started = true;
	namer->nm_njobs++;
	pthread_mutex_lock(&namer->nm_mutex);
	*namer->nm_last = job;
	namer->nm_last = &job->nj_next;
	pthread_cond_signal(&namer->nm_more);
	pthread_mutex_unlock(&namer->nm_mutex);
	return (0);
}

struct prof_naming_job *
prof_namer_get(struct prof_namer *namer, uint64_t until_ns)
{
	const struct timespec until = { (time_t)(until_ns / NS_PER_S),
	    (long)(until_ns % NS_PER_S) };
	struct prof_naming_job *job;

	if (namer->nm_njobs == 0)
		return (NULL);
	pthread_mutex_lock(&namer->nm_mutex);
	while (namer->nm_named == NULL && until_ns != 0 &&
	    pthread_cond_timedwait(&namer->nm_done, &namer->nm_mutex,
	    &until) != ETIMEDOUT)
		continue;
	job = namer->nm_named;
	if (job != NULL) {
		namer->nm_named = job->nj_next;
		namer->nm_njobs--;
	}
	pthread_mutex_unlock(&namer->nm_mutex);
	return (job);
}
