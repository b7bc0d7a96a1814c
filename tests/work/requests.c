/* SPDX-License-Identifier: ISC */
/*
 * requests COUNT PER_MILLE SEED [THREADS [apart|together [SCALE [lock]]]]:
 * serves so many requests, each of which begins with getppid() and ends with
 * getuid(), and whose work varies with a heavy tail: each part by itself, or
 * all of them together, so that all requests have the same shares.  So many of
 * a thousand also go through slow_path, which burns CPU time for about 20
 * times as long as a usual request takes; or, with lock, wait for a lock that
 * another thread holds for 5 of 6 ms.  SCALE times as much work is done in all.
 * Prints what it did, by its own clocks, as JSON.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define USUAL	60000.0		/* rounds of a loop, about 100 us */
#define SLOW	1200000.0
#define THREADS	16

struct server {
	pthread_t	 se_thread;
	uint64_t	 se_random;
	long		 se_count;
	long		 se_slow;
	unsigned	 se_per_mille;
	uint64_t	 se_ns;		/* in requests */
	uint64_t	 se_slow_ns;	/* in slow_path or wait_for_lock */
	int		 se_is_together;
	int		 se_waits;
	double		 se_scale;
};

static volatile uint64_t sink;

#define WORK(name)							\
	static __attribute__((noinline, noclone)) void			\
	name(unsigned rounds)						\
	{								\
		uint64_t sum = sink;					\
									\
		for (unsigned n = 0; n < rounds; n++) {			\
			sum = sum * 6364136223846793005u + 1442695u;	\
			__asm__ volatile("" : "+r"(sum));		\
		}							\
		sink = sum;						\
	}

WORK(parse_request)
WORK(find_rows)
WORK(render_page)
WORK(slow_path)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void
nap(long ms)
{
	const struct timespec ts = { 0, ms * 1000000 };

	nanosleep(&ts, NULL);
}

static void *
lock_hold(void *arg)
{
	for (;;) {
		pthread_mutex_lock(&lock);
		nap(5);
		pthread_mutex_unlock(&lock);
		nap(1);
	}
	return (arg);
}

static __attribute__((noinline, noclone)) void
wait_for_lock(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_unlock(&lock);
	__asm__ volatile("");
}

static double
drawn(struct server *server)
{
	server->se_random = server->se_random * 6364136223846793005u +
	    1442695040888963407u;
	return ((double)(server->se_random >> 11) / 9007199254740992.0);
}

/* Log-normal, by two draws. */
static double
factor_of(struct server *server, double spread)
{
	const double normal = sqrt(-2 * log(1 - drawn(server))) *
	    cos(6.283185307179586 * drawn(server));

	return (exp(spread * normal));
}

static unsigned
rounds_of(struct server *server, double part, double together)
{
	return ((unsigned)(part * USUAL * server->se_scale *
	    (server->se_is_together ? together : factor_of(server, 0.5))));
}

static uint64_t
now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

static void
request_serve(struct server *server)
{
	const int is_slow = drawn(server) * 1000 < server->se_per_mille;
	const double together = server->se_is_together ?
	    factor_of(server, 1) : 0;
	uint64_t begun = now_ns(CLOCK_MONOTONIC), slow;

	(void)getppid();
	parse_request(rounds_of(server, 0.3, together));
	find_rows(rounds_of(server, 0.5, together));
	if (is_slow && server->se_waits) {
		slow = now_ns(CLOCK_MONOTONIC);
		wait_for_lock();
		server->se_slow++;
		server->se_slow_ns += now_ns(CLOCK_MONOTONIC) - slow;
	} else if (is_slow) {
		slow = now_ns(CLOCK_THREAD_CPUTIME_ID);
		slow_path((unsigned)(SLOW * server->se_scale));
		server->se_slow++;
		server->se_slow_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - slow;
	}
	render_page(rounds_of(server, 0.2, together));
	(void)getuid();
	server->se_ns += now_ns(CLOCK_MONOTONIC) - begun;
}

static void *
server_run(void *arg)
{
	struct server *server = arg;

	for (long n = 0; n < server->se_count; n++)
		request_serve(server);
	return (NULL);
}

int
main(int argc, char **argv)
{
	static struct server servers[THREADS];
	struct server sum = { .se_count = 0 };
	const long count = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	const int n = argc > 4 ? atoi(argv[4]) : 1;
	pthread_t holder;

	if (argc > 7 && pthread_create(&holder, NULL, lock_hold, NULL) != 0)
		return (1);
	/* Stacks of the first milliseconds may lack callers. */
	if (argc > 7)
		usleep(500000);
	for (int i = 0; i < n && i < THREADS; i++) {
		servers[i].se_count = count / n;
		servers[i].se_per_mille = argc > 2 ?
		    (unsigned)atoi(argv[2]) : 5;
		servers[i].se_is_together = argc > 5 &&
		    strcmp(argv[5], "together") == 0;
		servers[i].se_waits = argc > 7;
		servers[i].se_scale = argc > 6 ? atof(argv[6]) : 1;
		servers[i].se_random = (argc > 3 ?
		    strtoull(argv[3], NULL, 10) : 1) * 1000003u + (unsigned)i;
		if (pthread_create(&servers[i].se_thread, NULL, server_run,
		    &servers[i]) != 0)
			return (1);
	}
	for (int i = 0; i < n && i < THREADS; i++) {
		pthread_join(servers[i].se_thread, NULL);
		sum.se_count += servers[i].se_count;
		sum.se_slow += servers[i].se_slow;
		sum.se_ns += servers[i].se_ns;
		sum.se_slow_ns += servers[i].se_slow_ns;
	}
	printf("{\"count\": %ld, \"slow\": %ld, \"ns\": %llu, "
	    "\"slow_ns\": %llu}\n", sum.se_count, sum.se_slow,
	    (unsigned long long)sum.se_ns,
	    (unsigned long long)sum.se_slow_ns);
	return (0);
}
