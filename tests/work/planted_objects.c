/* SPDX-License-Identifier: ISC */
/*
 * Threads that wait for known locks and files.  Each prints, for each wait, its
 * name and thread ID, when the wait began and ended by the monotonic clock, how
 * much of it the thread ran by its own clock, when the wait was ended, the
 * address of the lock or -, the thread ID of its holder or -, and the file
 * or -.  Argument: a directory for files.  It begins when its input ends.
 *
 * Locks with a holder: mutexes of several kinds, one of them held by another
 * process.  Of musl only some kinds say who holds them.  Without a holder:
 * condition variable, semaphore, barrier, read-write lock, an unlocked mutex,
 * and memory that looks like a mutex, of which something is wrong each time.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS	8000000
#define ROUNDS	8
#define WAITERS	3

enum way {
	WAY_MUTEX, WAY_RECURSIVE, WAY_ERRORCHECK, WAY_ROBUST, WAY_INHERIT,
	WAY_TIMED, WAY_SHARED, WAY_CONDITION, WAY_SEMAPHORE, WAY_BARRIER,
	WAY_RWLOCK, WAY_UNLOCKED, WAY_NO_USERS, WAY_NO_KIND, WAY_BITSET,
	WAY_STRANGER, WAY_PIPE, WAY_FIFO, WAY_SOCKET, WAY_NETWORK,
	WAY_NETWORK6, WAY_FLOCK, WAY_REUSED, WAY_N
};

static const char *const names[WAY_N] = {
	"mutex", "recursive", "errorcheck", "robust", "inherit", "timed",
	"shared", "condition", "semaphore", "barrier", "rwlock", "unlocked",
	"no-users", "no-kind", "bitset", "stranger", "pipe", "fifo", "socket",
	"network", "network6", "flock", "reused"
};

/* In memory that the child has, too: it is the keeper of one. */
static struct {
	pthread_barrier_t meet;		/* of keeper and waiters */
	pthread_mutex_t	mutex;
	pthread_cond_t	condition;
	sem_t		semaphore;
	pthread_barrier_t barrier;
	pthread_rwlock_t rwlock;
	pid_t		keeper;
	int		round;
	uint64_t	released_ns;	/* in this round */
	int		fd;		/* of the waiters */
	int		end;		/* of the keeper */
	char		file[PATH_MAX];
} *of;

static const char *dir;
static pid_t child;

static uint64_t
now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec);
}

static void
nap(void)
{
	const struct timespec ts = { 0, NAP_NS };

	nanosleep(&ts, NULL);
}

static void
check(bool is_true, const char *what)
{
	if (is_true)
		return;
	perror(what);
	exit(1);
}

/* Before the word that threads wait for. */
#ifdef __GLIBC__
#define WORDS_BEFORE	0
#else
#define WORDS_BEFORE	1
#endif

/* A mutex, as memory. */
static uint32_t *
words_of(enum way way)
{
	return ((uint32_t *)(void *)&of[way].mutex + WORDS_BEFORE);
}

static const void *
lock_of(enum way way)
{
	switch (way) {
	case WAY_CONDITION:
	case WAY_BARRIER:
	case WAY_RWLOCK:
		return (NULL);	/* somewhere in it */
	case WAY_SEMAPHORE:
		return (&of[way].semaphore);
	default:
		return (way < WAY_PIPE ? words_of(way) : NULL);
	}
}

static void
futex_wait(enum way way, int how, uint32_t value)
{
	(void)syscall(SYS_futex, words_of(way), how | FUTEX_PRIVATE_FLAG,
	    value, NULL, NULL, 1);
}

static void
wait_for_lock(enum way way)
{
	const struct timespec never = { .tv_sec = INT_MAX };
	pthread_mutex_t *mutex = &of[way].mutex;
	const int round = of[way].round;

	switch (way) {
	case WAY_TIMED:
		pthread_mutex_timedlock(mutex, &never);
		pthread_mutex_unlock(mutex);
		return;
	case WAY_CONDITION:
		pthread_mutex_lock(mutex);
		while (of[way].round == round)
			pthread_cond_wait(&of[way].condition, mutex);
		pthread_mutex_unlock(mutex);
		return;
	case WAY_SEMAPHORE:
		sem_wait(&of[way].semaphore);
		return;
	case WAY_BARRIER:
		pthread_barrier_wait(&of[way].barrier);
		return;
	case WAY_RWLOCK:
		pthread_rwlock_rdlock(&of[way].rwlock);
		pthread_rwlock_unlock(&of[way].rwlock);
		return;
	case WAY_UNLOCKED:
		futex_wait(way, FUTEX_WAIT, 0);
		return;
	case WAY_NO_USERS:
	case WAY_NO_KIND:
	case WAY_STRANGER:
		futex_wait(way, FUTEX_WAIT, 2);
		return;
	case WAY_BITSET:
		futex_wait(way, FUTEX_WAIT_BITSET, 2);
		return;
	default:
		pthread_mutex_lock(mutex);
		pthread_mutex_unlock(mutex);
	}
}

static void
wait_for_file(enum way way)
{
	char byte;

	if (way != WAY_FLOCK && way != WAY_REUSED) {
		check(read(of[way].fd, &byte, 1) == 1, names[way]);
		return;
	}
	check(flock(of[way].fd, LOCK_EX) == 0, names[way]);
	flock(of[way].fd, LOCK_UN);
}

/* The file that this descriptor was is no longer there. */
static void
file_replace(int fd)
{
	const int null = open("/dev/null", O_RDONLY);

	check(dup2(null, fd) == fd, "dup2");
	close(null);
}

static void
say(enum way way, uint64_t begin_ns, uint64_t end_ns, uint64_t cpu_ns)
{
	const void *lock = lock_of(way);
	char line[PATH_MAX + 256], address[32] = "-", holder[32] = "-";
	int length;

	if (lock != NULL)
		snprintf(address, sizeof(address), "%p", lock);
	if (way <= WAY_SHARED)
		snprintf(holder, sizeof(holder), "%d", of[way].keeper);
	length = snprintf(line, sizeof(line), "%s %d %llu %llu %llu %llu %s "
	    "%s %s\n", names[way], gettid(), (unsigned long long)begin_ns,
	    (unsigned long long)end_ns, (unsigned long long)cpu_ns,
	    (unsigned long long)of[way].released_ns, address, holder,
	    of[way].file[0] == '\0' ? "-" : of[way].file);
	check(write(STDOUT_FILENO, line, (size_t)length) == length, "write");
}

/* --------------------------------------------------------- who waits */

static unsigned
waiters_of(enum way way)
{
	return (way == WAY_REUSED ? 1 : WAITERS);
}

static int
rounds_of(enum way way)
{
	return (way == WAY_REUSED ? 1 : ROUNDS);
}

static void *
wait_in(void *arg)
{
	const enum way way = (enum way)(intptr_t)arg;
	uint64_t begin_ns, cpu_ns, end_ns;

	pthread_setname_np(pthread_self(), names[way]);
	for (int n = 0; n < rounds_of(way); n++) {
		pthread_barrier_wait(&of[way].meet);
		cpu_ns = now(CLOCK_THREAD_CPUTIME_ID);
		begin_ns = now(CLOCK_MONOTONIC);
		if (way < WAY_PIPE)
			wait_for_lock(way);
		else
			wait_for_file(way);
		end_ns = now(CLOCK_MONOTONIC);
		cpu_ns = now(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
		if (way == WAY_REUSED)
			file_replace(of[way].fd);
		pthread_barrier_wait(&of[way].meet);
		say(way, begin_ns, end_ns, cpu_ns);
		pthread_barrier_wait(&of[way].meet);
	}
	return (NULL);
}

/* --------------------------------------------------------- who keeps */

/* Memory that looks like a mutex of somebody, but for one thing. */
static void
words_set(enum way way)
{
	uint32_t *words = words_of(way);

	words[2] = (uint32_t)(way == WAY_STRANGER ? child : gettid());
	words[3] = way != WAY_NO_USERS;
	words[4] = way == WAY_NO_KIND ? 64 : 0;
	words[0] = 2;
}

static void
keeper_take(enum way way)
{
	if (way <= WAY_SHARED)
		pthread_mutex_lock(&of[way].mutex);
	else if (way == WAY_RWLOCK)
		pthread_rwlock_wrlock(&of[way].rwlock);
	else if (way == WAY_UNLOCKED)
		words_of(way)[0] = 0;
	else if (way > WAY_UNLOCKED && way < WAY_PIPE)
		words_set(way);
	else if (way == WAY_FLOCK || way == WAY_REUSED)
		check(flock(of[way].end, LOCK_EX) == 0, "flock");
}

static void
keeper_release(enum way way)
{
	of[way].released_ns = now(CLOCK_MONOTONIC);
	if (way <= WAY_SHARED) {
		pthread_mutex_unlock(&of[way].mutex);
	} else if (way == WAY_CONDITION) {
		pthread_mutex_lock(&of[way].mutex);
		of[way].round++;
		pthread_cond_broadcast(&of[way].condition);
		pthread_mutex_unlock(&of[way].mutex);
	} else if (way == WAY_SEMAPHORE) {
		for (unsigned n = 0; n < waiters_of(way); n++)
			sem_post(&of[way].semaphore);
	} else if (way == WAY_BARRIER) {
		pthread_barrier_wait(&of[way].barrier);
	} else if (way == WAY_RWLOCK) {
		pthread_rwlock_unlock(&of[way].rwlock);
	} else if (way < WAY_PIPE) {
		words_of(way)[0] = 7;
		(void)syscall(SYS_futex, words_of(way), FUTEX_WAKE_PRIVATE,
		    INT_MAX, NULL, NULL, 0);
	} else if (way == WAY_FLOCK || way == WAY_REUSED) {
		flock(of[way].end, LOCK_UN);
	} else {
		for (unsigned n = 0; n < waiters_of(way); n++)
			check(write(of[way].end, "", 1) == 1, names[way]);
	}
}

static void *
keep(void *arg)
{
	const enum way way = (enum way)(intptr_t)arg;

	pthread_setname_np(pthread_self(), "keeper");
	of[way].keeper = gettid();
	for (int n = 0; n < rounds_of(way); n++) {
		keeper_take(way);
		pthread_barrier_wait(&of[way].meet);
		nap();
		keeper_release(way);
		pthread_barrier_wait(&of[way].meet);
		pthread_barrier_wait(&of[way].meet);
	}
	return (NULL);
}

/* ------------------------------------------------------------- set up */

static void
mutex_make(enum way way)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	if (way == WAY_RECURSIVE || way == WAY_TIMED)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	if (way == WAY_ERRORCHECK)
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
	if (way == WAY_ROBUST)
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	if (way == WAY_INHERIT)
		pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	if (way == WAY_SHARED)
		pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	check(pthread_mutex_init(&of[way].mutex, &attr) == 0, "mutex");
}

static void
locks_make(enum way way)
{
	const unsigned nmeet = waiters_of(way) + 1;
	pthread_barrierattr_t attr;

	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	check(pthread_barrier_init(&of[way].meet, &attr, nmeet) == 0 &&
	    pthread_barrier_init(&of[way].barrier, NULL, nmeet) == 0 &&
	    pthread_cond_init(&of[way].condition, NULL) == 0 &&
	    pthread_rwlock_init(&of[way].rwlock, NULL) == 0 &&
	    sem_init(&of[way].semaphore, 0, 0) == 0, "locks");
	mutex_make(way);
}

/* Pipes and sockets are called as /proc calls them. */
static void
pair_make(enum way way, int waiter, int keeper)
{
	struct stat st;

	of[way].fd = waiter;
	of[way].end = keeper;
	check(fstat(waiter, &st) == 0, "fstat");
	snprintf(of[way].file, sizeof(of[way].file), "%s:[%llu]",
	    S_ISFIFO(st.st_mode) ? "pipe" : "socket",
	    (unsigned long long)st.st_ino);
}

static void
path_make(enum way way)
{
	snprintf(of[way].file, sizeof(of[way].file), "%s/%s", dir,
	    names[way]);
	if (way == WAY_FIFO)
		check(mkfifo(of[way].file, 0600) == 0, "mkfifo");
	of[way].fd = open(of[way].file, O_RDWR | O_CREAT, 0600);
	of[way].end = open(of[way].file, O_RDWR);
	check(of[way].fd != -1 && of[way].end != -1, of[way].file);
}

/* The waiters read from a connection; of[].file: its other end. */
static void
network_make(enum way way)
{
	const bool is_ip6 = way == WAY_NETWORK6;
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
	    .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_in four = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr *address = is_ip6 ? (void *)&six : (void *)&four;
	socklen_t size = is_ip6 ? sizeof(six) : sizeof(four);
	int listener = socket(address->sa_family, SOCK_STREAM, 0);

	of[way].fd = socket(address->sa_family, SOCK_STREAM, 0);
	check(bind(listener, address, size) == 0 && listen(listener, 1) == 0 &&
	    getsockname(listener, address, &size) == 0 &&
	    connect(of[way].fd, address, size) == 0 &&
	    (of[way].end = accept(listener, NULL, NULL)) != -1, names[way]);
	snprintf(of[way].file, sizeof(of[way].file), is_ip6 ? "[::1]:%d" :
	    "127.0.0.1:%d", ntohs(is_ip6 ? six.sin6_port : four.sin_port));
}

static void
files_make(void)
{
	int ends[2];

	check(pipe(ends) == 0, "pipe");
	pair_make(WAY_PIPE, ends[0], ends[1]);
	check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
	pair_make(WAY_SOCKET, ends[0], ends[1]);
	path_make(WAY_FIFO);
	path_make(WAY_FLOCK);
	path_make(WAY_REUSED);
	network_make(WAY_NETWORK);
	network_make(WAY_NETWORK6);
}

int
main(int argc, char **argv)
{
	pthread_t thread[WAY_N][WAITERS + 1];
	int status;
	char go;

	/* Until the test records. */
	(void)!read(STDIN_FILENO, &go, 1);
	dir = argc > 1 ? argv[1] : ".";
	of = mmap(NULL, WAY_N * sizeof(*of), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	check(of != MAP_FAILED, "mmap");
	files_make();
	for (int way = 0; way < WAY_N; way++)
		locks_make((enum way)way);
	child = fork();
	if (child == 0) {
		keep((void *)(intptr_t)WAY_SHARED);
		return (0);
	}
	for (intptr_t way = 0; way < WAY_N; way++) {
		for (unsigned n = 0; n < waiters_of((enum way)way); n++)
			check(pthread_create(&thread[way][n], NULL, wait_in,
			    (void *)way) == 0, "thread");
		check(way == WAY_SHARED || pthread_create(
		    &thread[way][WAITERS], NULL, keep, (void *)way) == 0,
		    "thread");
	}
	for (int way = 0; way < WAY_N; way++) {
		for (unsigned n = 0; n < waiters_of((enum way)way); n++)
			pthread_join(thread[way][n], NULL);
		if (way != WAY_SHARED)
			pthread_join(thread[way][WAITERS], NULL);
	}
	/* Until the recorder has looked at the files. */
	sleep(1);
	return (waitpid(child, &status, 0) == child && status == 0 ? 0 : 1);
}
