/* SPDX-License-Identifier: ISC */
/*
 * Functions that count how often they are entered, in all ways in which that
 * can happen: nested, recursive, in threads, signal handlers, children after
 * fork and exec, left by longjmp and by exceptions, in a library that comes
 * and goes.
 *
 *	probed N PLUGIN		N rounds; the counts as JSON at the end
 *	probed N PLUGIN wait	the same, after a line on standard input
 *
 * Each function counts first thing, in memory that children share, so that the
 * counts are exact whatever becomes of the callers.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <unistd.h>

struct counts {
	std::atomic<long> leaf, nested, recursive, handler, jumper, thrower,
	    over_int, over_double, plug;
};

static struct counts *counts;

#define APART	__attribute__((noinline, noclone))

extern "C" {
APART void leaf(void) { counts->leaf++; }
APART void nested(void) { counts->nested++; leaf(); asm volatile(""); }
APART void
recursive(int depth)
{
	counts->recursive++;
	if (depth > 0)
		recursive(depth - 1);
	asm volatile("");
}
APART void handler(int) { counts->handler++; leaf(); asm volatile(""); }
APART void
jumper(jmp_buf where)
{
	counts->jumper++;
	longjmp(where, 1);
}
APART void
thrower(void)
{
	counts->thrower++;
	throw std::runtime_error("planted");
}
}

namespace ns {
template<class T> struct Box {
	APART T over(T value);
};
template<> APART int
Box<int>::over(int value)
{
	counts->over_int++;
	return (value);
}
template<> APART double
Box<double>::over(double value)
{
	counts->over_double++;
	return (value);
}
}

static void
round(const char *plugin)
{
	ns::Box<double> d;
	ns::Box<int> i;
	jmp_buf where;
	void *library;

	nested();
	recursive(9);
	raise(SIGUSR1);
	if (setjmp(where) == 0)
		jumper(where);
	try {
		thrower();
	} catch (const std::exception &) {
		leaf();
	}
	i.over(1);
	d.over(2);
	library = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		exit(3);
	auto plug = (int (*)(int))dlsym(library, "plug");
	counts->plug += plug(1);
	counts->plug--;
	dlclose(library);
}

static void
rounds(long n, const char *plugin)
{
	while (n-- > 0)
		round(plugin);
}

/* The counts in a file that exec keeps: descriptor 8. */
static void
counts_map(bool first)
{
	if (first && (dup2(memfd_create("counts", 0), 8) == -1 ||
	    ftruncate(8, sizeof(struct counts)) == -1))
		exit(4);
	counts = (struct counts *)mmap(NULL, sizeof(*counts),
	    PROT_READ | PROT_WRITE, MAP_SHARED, 8, 0);
}

static void
child_run(long n, char *argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		rounds(n, argv[2]);
		execl("/proc/self/exe", argv[0], argv[1], argv[2], "again",
		    (char *)NULL);
		_exit(5);
	}
	waitpid(pid, NULL, 0);
}

int
main(int argc, char *argv[])
{
	const long n = argc > 2 ? atol(argv[1]) : 0;
	const char *how = argc > 3 ? argv[3] : "";
	bool again = strcmp(how, "again") == 0;
	std::vector<std::thread> threads;
	char line[16];

	counts_map(!again);
	signal(SIGUSR1, handler);
	if (strcmp(how, "wait") == 0 && fgets(line, sizeof(line), stdin) ==
	    NULL)
		return (2);
	rounds(n, argv[2]);
	if (again)
		return (0);
	for (int t = 0; t < 4; t++)
		threads.emplace_back(rounds, n, argv[2]);
	for (auto &thread : threads)
		thread.join();
	child_run(n, argv);
	printf("{\"leaf\":%ld,\"nested\":%ld,\"recursive\":%ld,"
	    "\"handler\":%ld,\"jumper\":%ld,\"thrower\":%ld,"
	    "\"over_int\":%ld,\"over_double\":%ld,\"plug\":%ld}\n",
	    counts->leaf.load(), counts->nested.load(),
	    counts->recursive.load(), counts->handler.load(),
	    counts->jumper.load(), counts->thrower.load(),
	    counts->over_int.load(), counts->over_double.load(),
	    counts->plug.load());
	return (0);
}
