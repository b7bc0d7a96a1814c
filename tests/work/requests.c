/* SPDX-License-Identifier: ISC */
/*
 * requests COUNT PER_MILLE SEED [THREADS]: serves so many requests, each of
 * which begins with getppid() and ends with getuid(), and whose work varies
 * with a heavy tail.  So many of a thousand also go through slow_path, which
 * burns CPU time for about 20 times as long as a usual request takes.  Prints
 * what it did, by its own clock, as JSON.
 */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define USUAL	60000.0		/* rounds of a loop, about 100 us */
#define SLOW	1200000u
#define THREADS	16

struct server {
	pthread_t	 se_thread;
	uint64_t	 se_random;
	long		 se_count;
	long		 se_slow;
	unsigned	 se_per_mille;
	uint64_t	 se_ns;		/* in requests */
	uint64_t	 se_slow_ns;	/* of it in slow_path */
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

static double
drawn(struct server *server)
{
	server->se_random = server->se_random * 6364136223846793005u +
	    1442695040888963407u;
	return ((double)(server->se_random >> 11) / 9007199254740992.0);
}

/* Log-normal, by two draws. */
static unsigned
rounds_of(struct server *server, double part)
{
	const double normal = sqrt(-2 * log(1 - drawn(server))) *
	    cos(6.283185307179586 * drawn(server));

	return ((unsigned)(part * USUAL * exp(0.5 * normal)));
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec);
}

static void
request_serve(struct server *server)
{
	const int is_slow = drawn(server) * 1000 < server->se_per_mille;
	uint64_t begun = now_ns(), slow;

	(void)getppid();
	parse_request(rounds_of(server, 0.3));
	find_rows(rounds_of(server, 0.5));
	if (is_slow) {
		slow = now_ns();
		slow_path(SLOW);
		server->se_slow++;
		server->se_slow_ns += now_ns() - slow;
	}
	render_page(rounds_of(server, 0.2));
	(void)getuid();
	server->se_ns += now_ns() - begun;
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

	for (int i = 0; i < n && i < THREADS; i++) {
		servers[i].se_count = count / n;
		servers[i].se_per_mille = argc > 2 ?
		    (unsigned)atoi(argv[2]) : 5;
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
