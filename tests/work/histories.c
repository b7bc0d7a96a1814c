/* SPDX-License-Identifier: ISC */
/*
 * What processes do to their mappings, at random, and what they had mapped.
 *
 *	histories DIR SEED STEPS
 *
 * Maps the files DIR/f0 to f3 executable, over each other and over holes,
 * unmaps, makes memory executable, forks, vforks and executes itself; now and
 * then it copies /proc/self/maps to DIR/maps.PID.N, below a line with its
 * number and the time.  It has one thread, so nothing changes meanwhile.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <err.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PAGES		64
#define FILES		4

static const char *dir;
static uint64_t state;
static char *arena;
static long page;

static unsigned
draw(unsigned n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((unsigned)(state >> 33) % n);
}

/* Also of a child that shares our memory: it changes nothing. */
static void
keep_maps(void)
{
	static char text[1 << 16];
	struct timespec now;
	size_t have = 0;
	ssize_t got;
	char path[256];
	int in, out;

	in = open("/proc/self/maps", O_RDONLY);
	while ((got = read(in, text + have, sizeof(text) - have)) > 0)
		have += (size_t)got;
	close(in);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(path, sizeof(path), "%s/maps.%d.%lld%09ld", dir, getpid(),
	    (long long)now.tv_sec, now.tv_nsec);
	out = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	if (in == -1 || out == -1 || dprintf(out, "%d %lld%09ld\n", getpid(),
	    (long long)now.tv_sec, now.tv_nsec) < 0 ||
	    write(out, text, have) != (ssize_t)have)
		_exit(3);
	close(out);
}

static void
map_something(void)
{
	const unsigned first = draw(PAGES), n = 1 + draw((PAGES - first + 3) /
	    4);
	char path[256];
	int fd = -1;

	snprintf(path, sizeof(path), "%s/f%u", dir, draw(FILES));
	if (draw(6) != 0 && (fd = open(path, O_RDONLY)) == -1)
		err(1, "%s", path);
	if (mmap(arena + first * (size_t)page, n * (size_t)page, PROT_READ |
	    PROT_EXEC, MAP_FIXED | MAP_PRIVATE | (fd == -1 ? MAP_ANONYMOUS :
	    0), fd, fd == -1 ? 0 : draw(PAGES - n + 1) * page) == MAP_FAILED)
		err(1, "mmap");
	if (fd != -1)
		close(fd);
}

static void
unmap_something(void)
{
	const unsigned first = draw(PAGES), n = 1 + draw(PAGES - first);

	if (mmap(arena + first * (size_t)page, n * (size_t)page, PROT_NONE,
	    MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
		err(1, "mmap");
}

static void
become_another(unsigned steps)
{
	char seed[32], left[32];

	snprintf(seed, sizeof(seed), "%llu",
	    (unsigned long long)(state ^ (uint64_t)getpid()));
	snprintf(left, sizeof(left), "%u", steps);
	execl("/proc/self/exe", "histories", dir, seed, left, NULL);
	_exit(4);
}

static void	act(unsigned steps);

static void
begin_child(unsigned steps)
{
	const pid_t pid = fork();

	if (pid == -1)
		err(1, "fork");
	if (pid == 0) {
		state ^= (uint64_t)getpid() << 20;
		act(steps / 2);
		_exit(0);
	}
	/* Or it goes on beside us. */
	if (draw(2) == 0)
		waitpid(pid, NULL, 0);
}

static void
begin_vfork(unsigned steps)
{
	const unsigned what = draw(3);
	const pid_t pid = vfork();

	if (pid == -1)
		err(1, "vfork");
	if (pid != 0)
		return;
	keep_maps();
	if (what != 0)
		become_another(steps / 2);
	_exit(0);
}

static void
act(unsigned steps)
{
	keep_maps();
	for (; steps > 0; steps--)
		switch (draw(16)) {
		case 0:
			begin_child(steps);
			break;
		case 1:
			begin_vfork(steps);
			break;
		case 2:
			if (draw(3) == 0)
				become_another(steps - 1);
			break;
		case 3:
		case 4:
			unmap_something();
			break;
		case 5:
		case 6:
		case 7:
		case 8:
			keep_maps();
			break;
		default:
			map_something();
			break;
		}
	while (waitpid(-1, NULL, 0) > 0)
		continue;
}

int
main(int argc, char *argv[])
{
	if (argc != 4)
		errx(2, "usage: histories DIR SEED STEPS");
	dir = argv[1];
	state = strtoull(argv[2], NULL, 10) * 0x9e3779b97f4a7c15ULL + 1;
	page = sysconf(_SC_PAGESIZE);
	arena = mmap(NULL, PAGES * (size_t)page, PROT_NONE, MAP_PRIVATE |
	    MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED)
		err(1, "mmap");
	act((unsigned)strtoul(argv[3], NULL, 10));
	return (0);
}
