/* SPDX-License-Identifier: ISC */
/*
 * seeded_waits SEED DIR: threads and processes that wait in ways, as often and
 * as long as the seed says, each way in a function of its own, or make the same
 * calls with nothing to wait for.  DIR has a file 'slow', over which a slow
 * file system of its own is mounted, in a mount namespace of its own.  Begins
 * when it reads a byte.  Prints as JSON what each way is, who ends its waits,
 * and for how long its threads were off a CPU in its function, by their own
 * clocks and by schedstat.
 *
 * Of each way there are waiters and, unless a timer or the file system ends the
 * wait, one ender:
 *
 *	ender	begin, say ready . . . . . . nap, end  (absent: end at once)
 *	waiter	. . . . . . . . . . say go, wait . . ., say finished
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "slow_file.h"

#define APART	__attribute__((noinline, noclone))
/* What is called is not jumped to. */
#define RETURNS	__asm__ volatile("" ::: "memory")
#define ROUNDS	10
#define HELD_US	300	/* by each in the convoy */
#define WAITERS	4

/* In memory that all processes share. */
struct plant {
	int		 pl_is_planted;
	int		 pl_rounds;
	int		 pl_waiters;
	int		 pl_cpu;
	long		 pl_us[ROUNDS];	/* that the wait lasts */
	atomic_int	 pl_ready;	/* rounds */
	atomic_int	 pl_done;
	atomic_int	 pl_go;		/* of all waiters */
	atomic_int	 pl_finished;
	atomic_int	 pl_met[2];	/* of the first: all waiters */
	atomic_int	 pl_value;
	atomic_ullong	 pl_wall_ns;
	atomic_ullong	 pl_cpu_ns;
	atomic_ullong	 pl_delay_ns;	/* that it was runnable */
	pid_t		 pl_tid[WAITERS];
	pid_t		 pl_ender;
};

struct bracket {
	uint64_t	br_wall_ns;
	uint64_t	br_delay_ns;
	uint64_t	br_cpu_ns;
};

struct way {
	const char	*wy_name;	/* of its threads, too */
	const char	*wy_function;
	const char	*wy_reason;
	const char	*wy_waker;	/* instead of its ender, or beside it */
	void		(*wy_wait)(struct plant *, int round);
	void		(*wy_begin)(struct plant *);
	void		(*wy_end)(struct plant *);
	int		 wy_waiters;	/* at most; at least 2 if more than 1 */
	int		 wy_forks;	/* 'w', 'e': a process, not a thread */
	enum slow_call	 wy_slow;
};

enum { SLEEP, CONVOY, CONDITION, POOL, PIPE, SOCKET, NETWORK, LOOP, FUTEX,
    STOP, READ, FSYNC, FAULT, CPU, NWAYS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t pool_guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t pool_change = PTHREAD_COND_INITIALIZER;
static int ends[2], sockets[2], network, event, epoll;
static int slow, fast;
static const char *slow_pages, *fast_pages;
static struct plant *plants;

static uint64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void
nap(long us)
{
	const struct timespec ts = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&ts, NULL);
}

static void
await(const atomic_int *value, int least)
{
	while (atomic_load(value) < least)
		nap(1000);
}

static void
demand(int is_so, const char *what)
{
	if (!is_so)
		err(1, "%s", what);
}

/* All together, so that no thread begins or ends while others wait. */
static void
meet(atomic_int *met)
{
	int all = 0;

	for (int n = 0; n < NWAYS; n++)
		all += plants[n].pl_waiters;
	atomic_fetch_add(met, 1);
	await(met, all);
}

/* For how long this thread was runnable, by its schedstat. */
static uint64_t
delay_ns(void)
{
	static _Thread_local int file = -1;
	unsigned long long ran = 0, delay = 0;
	char text[128] = "";

	if (file == -1)
		file = open("/proc/thread-self/schedstat",
		    O_RDONLY | O_CLOEXEC);
	demand(pread(file, text, sizeof(text) - 1, 0) > 0 &&
	    sscanf(text, "%llu %llu", &ran, &delay) == 2, "schedstat");
	return (delay);
}

/* Where a wait begins, in its function: it may be preempted here, too. */
static struct bracket
bracket_open(void)
{
	struct bracket begun = { .br_wall_ns = now(CLOCK_MONOTONIC) };

	begun.br_cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
	begun.br_delay_ns = delay_ns();
	return (begun);
}

static void
bracket_close(struct plant *plant, struct bracket begun)
{
	const uint64_t delay = delay_ns();
	const uint64_t cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);

	atomic_fetch_add(&plant->pl_wall_ns, now(CLOCK_MONOTONIC) -
	    begun.br_wall_ns);
	atomic_fetch_add(&plant->pl_cpu_ns, cpu_ns - begun.br_cpu_ns);
	atomic_fetch_add(&plant->pl_delay_ns, delay - begun.br_delay_ns);
}

/* -------------------------------------------------------------- ways */

APART static void
wait_in_sleep(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	if (plant->pl_is_planted)
		nap(plant->pl_us[round]);
	bracket_close(plant, begun);
	RETURNS;
}

/* The lock is handed from one waiter to the next. */
APART static void
wait_in_convoy(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	(void)round;
	pthread_mutex_lock(&mutex);
	bracket_close(plant, begun);
	RETURNS;
}

static void
convoy_begin(struct plant *plant)
{
	if (plant->pl_is_planted)
		pthread_mutex_lock(&mutex);
}

static void
convoy_end(struct plant *plant)
{
	if (plant->pl_is_planted)
		pthread_mutex_unlock(&mutex);
}

APART static void
wait_in_condition(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	pthread_mutex_lock(&guard);
	while (atomic_load(&plant->pl_value) <= round)
		pthread_cond_wait(&change, &guard);
	pthread_mutex_unlock(&guard);
	bracket_close(plant, begun);
	RETURNS;
}

static void
condition_end(struct plant *plant)
{
	pthread_mutex_lock(&guard);
	plant->pl_value++;
	pthread_mutex_unlock(&guard);
	pthread_cond_signal(&change);
}

APART static void
wait_in_pool(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	pthread_mutex_lock(&pool_guard);
	while (atomic_load(&plant->pl_value) <= round)
		pthread_cond_wait(&pool_change, &pool_guard);
	pthread_mutex_unlock(&pool_guard);
	bracket_close(plant, begun);
	RETURNS;
}

static void
pool_end(struct plant *plant)
{
	pthread_mutex_lock(&pool_guard);
	plant->pl_value++;
	pthread_mutex_unlock(&pool_guard);
	pthread_cond_broadcast(&pool_change);
}

APART static void
wait_in_pipe(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	char byte;

	(void)round;
	demand(read(ends[0], &byte, 1) == 1, "pipe");
	bracket_close(plant, begun);
	RETURNS;
}

static void
pipe_end(struct plant *plant)
{
	(void)plant;
	demand(write(ends[1], "", 1) == 1, "pipe");
}

APART static void
wait_in_socket(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	char byte;

	(void)round;
	demand(recv(sockets[0], &byte, 1, 0) == 1, "socket");
	bracket_close(plant, begun);
	RETURNS;
}

static void
socket_end(struct plant *plant)
{
	(void)plant;
	demand(send(sockets[1], "", 1, 0) == 1, "socket");
}

APART static void
wait_in_network(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	char byte;

	(void)round;
	demand(recv(network, &byte, 1, 0) == 1, "network");
	bracket_close(plant, begun);
	RETURNS;
}

static void
network_end(struct plant *plant)
{
	(void)plant;
	demand(send(network, "", 1, 0) == 1, "network");
}

APART static void
wait_in_loop(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	struct epoll_event happened;
	uint64_t count;

	(void)round;
	demand(epoll_wait(epoll, &happened, 1, -1) == 1 &&
	    read(event, &count, sizeof(count)) == sizeof(count), "epoll");
	bracket_close(plant, begun);
	RETURNS;
}

static void
loop_end(struct plant *plant)
{
	const uint64_t one = 1;

	(void)plant;
	demand(write(event, &one, sizeof(one)) == sizeof(one), "eventfd");
}

/* Of a word that another process changes. */
APART static void
wait_in_futex(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	while (atomic_load(&plant->pl_value) <= round)
		syscall(SYS_futex, &plant->pl_value, FUTEX_WAIT, round, NULL,
		    NULL, 0);
	bracket_close(plant, begun);
	RETURNS;
}

static void
futex_end(struct plant *plant)
{
	plant->pl_value++;
	syscall(SYS_futex, &plant->pl_value, FUTEX_WAKE, 1, NULL, NULL, 0);
}

APART static void
wait_in_stop(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	(void)round;
	if (plant->pl_is_planted)
		raise(SIGSTOP);
	bracket_close(plant, begun);
	RETURNS;
}

static void
stop_end(struct plant *plant)
{
	if (!plant->pl_is_planted)
		return;
	demand(waitpid(plant->pl_tid[0], NULL, WUNTRACED) ==
	    plant->pl_tid[0] && kill(plant->pl_tid[0], SIGCONT) == 0, "stop");
}

APART static void
wait_in_read(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	char byte;

	demand(pread(plant->pl_is_planted ? slow : fast, &byte, 1,
	    SLOW_READ_AT + round * SLOW_APART) == 1, "read");
	bracket_close(plant, begun);
	RETURNS;
}

APART static void
wait_in_fsync(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();

	(void)round;
	demand(fsync(plant->pl_is_planted ? slow : fast) == 0, "fsync");
	bracket_close(plant, begun);
	RETURNS;
}

APART static void
wait_in_fault(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	const volatile char *pages = plant->pl_is_planted ? slow_pages :
	    fast_pages;

	(void)pages[SLOW_FAULT_AT + round * SLOW_APART];
	bracket_close(plant, begun);
	RETURNS;
}

/* The other one that is on this CPU does the same. */
APART static void
wait_for_cpu(struct plant *plant, int round)
{
	const struct bracket begun = bracket_open();
	const uint64_t until_ns = now(CLOCK_THREAD_CPUTIME_ID) +
	    (uint64_t)plant->pl_us[round] * 1000;

	while (now(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		continue;
	bracket_close(plant, begun);
	RETURNS;
}

#define WAITS(name)	.wy_name = #name,				\
	.wy_function = "wait_in_" #name, .wy_wait = wait_in_##name
#define ENDS(name)	.wy_end = name##_end

static const struct way ways[NWAYS] = {
	[SLEEP] = { WAITS(sleep), .wy_reason = "sleep",
	    .wy_waker = "hardirq" },
	[CONVOY] = { WAITS(convoy), ENDS(convoy), .wy_begin = convoy_begin,
	    .wy_reason = "futex", .wy_waker = "convoy", .wy_waiters = 4 },
	[CONDITION] = { WAITS(condition), ENDS(condition),
	    .wy_reason = "futex" },
	[POOL] = { WAITS(pool), ENDS(pool), .wy_reason = "futex",
	    .wy_waker = "pool", .wy_waiters = 4 },
	[PIPE] = { WAITS(pipe), ENDS(pipe), .wy_reason = "read" },
	[SOCKET] = { WAITS(socket), ENDS(socket), .wy_reason = "socket" },
	[NETWORK] = { WAITS(network), ENDS(network), .wy_reason = "socket",
	    .wy_waker = "softirq" },
	[LOOP] = { WAITS(loop), ENDS(loop), .wy_reason = "epoll" },
	[FUTEX] = { WAITS(futex), ENDS(futex), .wy_reason = "futex",
	    .wy_forks = 'e' },
	[STOP] = { WAITS(stop), ENDS(stop), .wy_reason = "stopped",
	    .wy_forks = 'w' },
	[READ] = { WAITS(read), .wy_slow = SLOW_READ, .wy_reason = "read",
	    .wy_waker = "slow file" },
	[FSYNC] = { WAITS(fsync), .wy_slow = SLOW_FSYNC, .wy_reason = "fsync",
	    .wy_waker = "slow file" },
	[FAULT] = { WAITS(fault), .wy_slow = SLOW_FAULT,
	    .wy_reason = "page fault", .wy_waker = "slow file" },
	[CPU] = { .wy_name = "cpu", .wy_function = "wait_for_cpu",
	    .wy_wait = wait_for_cpu, .wy_reason = "preempted",
	    .wy_waiters = 3 },
};

/* ------------------------------------------------- waiters and enders */

static void
waiter_round(int n, struct plant *plant, int round)
{
	const struct way *way = &ways[n];

	if (way->wy_end != NULL)
		await(plant->pl_is_planted ? &plant->pl_ready :
		    &plant->pl_done, round + 1);
	if (way->wy_slow != SLOW_NONE)
		slow_file_delay(way->wy_slow, plant->pl_us[round]);
	atomic_fetch_add(&plant->pl_go, 1);
	way->wy_wait(plant, round);
	if (n == CONVOY) {
		nap(HELD_US);
		pthread_mutex_unlock(&mutex);
	}
	atomic_fetch_add(&plant->pl_finished, 1);
}

/* arg: the number of a way, and of a waiter of it. */
static void *
waiter_run(void *arg)
{
	const int n = (int)(intptr_t)arg / WAITERS;
	struct plant *plant = &plants[n];
	cpu_set_t cpus;

	prctl(PR_SET_NAME, ways[n].wy_name);
	plant->pl_tid[(intptr_t)arg % WAITERS] = gettid();
	CPU_ZERO(&cpus);
	CPU_SET((size_t)plant->pl_cpu, &cpus);
	if (n == CPU)
		sched_setaffinity(0, sizeof(cpus), &cpus);
	(void)bracket_open();
	meet(&plants->pl_met[0]);
	for (int round = 0; round < plant->pl_rounds; round++)
		waiter_round(n, plant, round);
	meet(&plants->pl_met[1]);
	return (NULL);
}

static void *
ender_run(void *arg)
{
	const int n = (int)(intptr_t)arg;
	const struct way *way = &ways[n];
	struct plant *plant = &plants[n];
	char name[16];

	snprintf(name, sizeof(name), "%s.end", way->wy_name);
	prctl(PR_SET_NAME, name);
	plant->pl_ender = gettid();
	for (int round = 0; round < plant->pl_rounds; round++) {
		await(&plant->pl_finished, round * plant->pl_waiters);
		if (way->wy_begin != NULL)
			way->wy_begin(plant);
		atomic_fetch_add(&plant->pl_ready, 1);
		if (plant->pl_is_planted) {
			await(&plant->pl_go, (round + 1) * plant->pl_waiters);
			nap(plant->pl_us[round]);
		}
		way->wy_end(plant);
		atomic_fetch_add(&plant->pl_done, 1);
	}
	return (NULL);
}

/* A thread, or a process if the way says so: before there are threads. */
static void
begin_process(void *(*run)(void *), int arg)
{
	const pid_t pid = fork();

	demand(pid != -1, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run((void *)(intptr_t)arg);
		_exit(0);
	}
}

static void
begin_thread(void *(*run)(void *), int arg, pthread_t *thread)
{
	demand(pthread_create(thread, NULL, run, (void *)(intptr_t)arg) == 0,
	    "thread");
}

static void
ways_run(void)
{
	pthread_t threads[NWAYS * (WAITERS + 1)];
	int begun = 0;

	for (int n = 0; n < NWAYS; n++) {
		if (ways[n].wy_forks == 'w')
			begin_process(waiter_run, n * WAITERS);
		else if (ways[n].wy_forks == 'e')
			begin_process(ender_run, n);
	}
	for (int n = 0; n < NWAYS; n++) {
		for (int i = 0; i < plants[n].pl_waiters &&
		    ways[n].wy_forks != 'w'; i++)
			begin_thread(waiter_run, n * WAITERS + i,
			    &threads[begun++]);
		if (ways[n].wy_end != NULL && ways[n].wy_forks != 'e')
			begin_thread(ender_run, n, &threads[begun++]);
	}
	while (begun > 0)
		pthread_join(threads[--begun], NULL);
}

/* ------------------------------------------------------------- the seed */

static int
drawn(int least, int most)
{
	static uint64_t state;

	if (most < 0) {
		state = (uint64_t)least * 0x9e3779b97f4a7c15u + 1;
		return (0);
	}
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (least + (int)((state >> 33) % (uint64_t)(most - least + 1)));
}

static void
plants_draw(int seed)
{
	struct plant *plant;

	drawn(seed, -1);
	for (int n = 0; n < NWAYS; n++) {
		plant = &plants[n];
		plant->pl_is_planted = drawn(0, 1);
		plant->pl_rounds = drawn(3, ROUNDS);
		plant->pl_waiters = ways[n].wy_waiters == 0 ? 1 :
		    drawn(2, ways[n].wy_waiters);
		plant->pl_cpu = drawn(0, (int)sysconf(_SC_NPROCESSORS_ONLN) -
		    1);
		for (int i = 0; i < ROUNDS; i++)
			plant->pl_us[i] = drawn(2000, 15000);
		/* Who has no other one to wait for is alone. */
		if ((n == CPU || n == CONVOY) && !plant->pl_is_planted)
			plant->pl_waiters = 1;
	}
}

static void
things_open(const char *dir)
{
	struct sockaddr_in self = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct epoll_event wanted = { .events = EPOLLIN };
	socklen_t size = sizeof(self);
	char path[4096];

	snprintf(path, sizeof(path), "%s/slow", dir);
	slow = slow_file_mount(path);
	fast = memfd_create("fast", MFD_CLOEXEC);
	demand(slow != -1 && fast != -1 && ftruncate(fast, SLOW_SIZE) == 0 &&
	    posix_fadvise(slow, 0, 0, POSIX_FADV_RANDOM) == 0, "files");
	slow_pages = mmap(NULL, SLOW_SIZE, PROT_READ, MAP_SHARED, slow, 0);
	fast_pages = mmap(NULL, SLOW_SIZE, PROT_READ, MAP_SHARED | MAP_POPULATE,
	    fast, 0);
	demand(slow_pages != MAP_FAILED && fast_pages != MAP_FAILED &&
	    madvise((void *)(uintptr_t)slow_pages, SLOW_SIZE,
	    MADV_RANDOM) == 0, "pages");
	demand(pipe(ends) == 0 &&
	    socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0, "pipe");
	/* It sends to itself, through the network. */
	network = socket(AF_INET, SOCK_DGRAM, 0);
	demand(bind(network, (struct sockaddr *)&self, size) == 0 &&
	    getsockname(network, (struct sockaddr *)&self, &size) == 0 &&
	    connect(network, (struct sockaddr *)&self, size) == 0, "network");
	event = eventfd(0, 0);
	epoll = epoll_create1(0);
	demand(epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) == 0, "epoll");
}

static void
plants_say(void)
{
	const struct plant *plant;

	for (int n = 0; n < NWAYS; n++) {
		plant = &plants[n];
		printf("{\"name\": \"%s\", \"function\": \"%s\", "
		    "\"planted\": %s, \"reason\": \"%s\", \"rounds\": %d, "
		    "\"off_ns\": %llu, \"delay_ns\": %llu, \"ender\": %d, "
		    "\"wakers\": [",
		    ways[n].wy_name, ways[n].wy_function,
		    plant->pl_is_planted ? "true" : "false", ways[n].wy_reason,
		    plant->pl_rounds * plant->pl_waiters,
		    (unsigned long long)(plant->pl_wall_ns -
		    plant->pl_cpu_ns),
		    (unsigned long long)plant->pl_delay_ns,
		    n == NETWORK ? 0 : (int)plant->pl_ender);
		if (ways[n].wy_end != NULL && n != NETWORK)
			printf("\"%s.end\"", ways[n].wy_name);
		if (ways[n].wy_waker != NULL)
			printf("%s\"%s\"", ways[n].wy_end != NULL &&
			    n != NETWORK ? ", " : "", ways[n].wy_waker);
		puts("]}");
	}
}

int
main(int argc, char **argv)
{
	sigset_t signals;

	if (argc != 3)
		return (2);
	plants = mmap(NULL, NWAYS * sizeof(*plants), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	demand(plants != MAP_FAILED, "memory");
	plants_draw(atoi(argv[1]));
	things_open(argv[2]);
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	/* Until it is recorded. */
	(void)getchar();
	ways_run();
	plants_say();
	return (0);
}
