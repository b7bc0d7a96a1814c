/* SPDX-License-Identifier: ISC */
/*
 * Three threads a way, a, b and c, in rounds: b waits for c in a semaphore, a
 * waits for b in a pipe.
 *
 *	linked	c sleeps, then wakes b, which wakes a
 *	timer	the same, but b sleeps before it wakes a
 *	ran	a begins to wait when b was woken, and b computes meanwhile
 *
 * A thread is named after its way and its letter.  Prints for each round the
 * way, when a began to wait and when b woke it, and when b began to wait and
 * when c woke it, by CLOCK_MONOTONIC, and whether b slept before it woke a: on
 * a machine that stands still the time can be over before b leaves its CPU.
 */
#include <sys/resource.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS	12
#define MS	1000000ull

enum { LINKED, TIMER, RAN, NWAYS };
static const char *const ways[NWAYS] = { "linked", "timer", "ran" };

/* Of a round: when who began to wait, and was woken. */
struct round {
	_Atomic uint64_t rn_a_ns;
	_Atomic uint64_t rn_a_woken_ns;
	_Atomic uint64_t rn_b_ns;
	_Atomic uint64_t rn_b_woken_ns;
	atomic_bool	 rn_b_runs;
	bool		 rn_b_slept;
};

static struct trio {
	int		 tr_way;
	sem_t		 tr_b;
	int		 tr_pipe[2];
	struct round	 tr_round[ROUNDS];
} trios[NWAYS];

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

static void
sleep_ns(uint64_t ns)
{
	const struct timespec ts = { 0, (long)ns };

	nanosleep(&ts, NULL);
}

static void
name_set(const struct trio *trio, const char *letter)
{
	char name[16];

	snprintf(name, sizeof(name), "%s-%s", ways[trio->tr_way], letter);
	pthread_setname_np(pthread_self(), name);
}

static void *
a_run(void *arg)
{
	struct trio *trio = arg;
	char byte;

	name_set(trio, "a");
	for (int n = 0; n < ROUNDS; n++) {
		struct round *round = &trio->tr_round[n];

		while (trio->tr_way == RAN && !round->rn_b_runs)
			sleep_ns(MS / 10);
		round->rn_a_ns = now_ns();
		if (read(trio->tr_pipe[0], &byte, 1) != 1)
			abort();
	}
	return (NULL);
}

/* How often this thread gave up its CPU itself. */
static long
times_left(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage) != 0)
		abort();
	return (usage.ru_nvcsw);
}

static void
b_keep_waiting(const struct trio *trio, struct round *round)
{
	if (trio->tr_way == TIMER) {
		const long before = times_left();

		sleep_ns(6 * MS);
		round->rn_b_slept = times_left() != before;
	}
	if (trio->tr_way != RAN)
		return;
	round->rn_b_runs = true;
	while (round->rn_a_ns == 0 || now_ns() < round->rn_a_ns + 6 * MS)
		continue;
}

static void *
b_run(void *arg)
{
	struct trio *trio = arg;

	name_set(trio, "b");
	for (int n = 0; n < ROUNDS; n++) {
		struct round *round = &trio->tr_round[n];

		round->rn_b_ns = now_ns();
		while (sem_wait(&trio->tr_b) != 0)
			continue;
		b_keep_waiting(trio, round);
		round->rn_a_woken_ns = now_ns();
		if (write(trio->tr_pipe[1], "", 1) != 1)
			abort();
	}
	return (NULL);
}

static void *
c_run(void *arg)
{
	struct trio *trio = arg;

	name_set(trio, "c");
	for (int n = 0; n < ROUNDS; n++) {
		struct round *round = &trio->tr_round[n];

		while (round->rn_b_ns == 0 ||
		    (trio->tr_way != RAN && round->rn_a_ns == 0))
			sleep_ns(MS / 10);
		sleep_ns(8 * MS);
		round->rn_b_woken_ns = now_ns();
		sem_post(&trio->tr_b);
	}
	return (NULL);
}

int
main(void)
{
	void *(*const runs[])(void *) = { a_run, b_run, c_run };
	pthread_t threads[NWAYS][3];

	for (int way = 0; way < NWAYS; way++) {
		trios[way].tr_way = way;
		if (sem_init(&trios[way].tr_b, 0, 0) != 0 ||
		    pipe(trios[way].tr_pipe) != 0)
			abort();
		for (int n = 0; n < 3; n++)
			if (pthread_create(&threads[way][n], NULL, runs[n],
			    &trios[way]) != 0)
				abort();
	}
	for (int way = 0; way < NWAYS; way++)
		for (int n = 0; n < 3; n++)
			pthread_join(threads[way][n], NULL);
	for (int way = 0; way < NWAYS; way++)
		for (int n = 0; n < ROUNDS; n++) {
			const struct round *round = &trios[way].tr_round[n];

			printf("%s %ju %ju %ju %ju %d\n", ways[way],
			    (uintmax_t)round->rn_a_ns,
			    (uintmax_t)round->rn_a_woken_ns,
			    (uintmax_t)round->rn_b_ns,
			    (uintmax_t)round->rn_b_woken_ns,
			    round->rn_b_slept);
		}
	return (0);
}
