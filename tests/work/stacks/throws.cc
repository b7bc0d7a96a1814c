/* SPDX-License-Identifier: ISC */
/*
 * Exceptions, thrown and caught over and over: samples fall into the search
 * for a handler and into what runs on the way to it.  The answers are in
 * tests/kern/stacks.py.
 *
 *	throws [once]
 *
 * once: the second one between two signals SIGUSR1 to itself, and no more.
 */
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <string>

#define STRANGE	__attribute__((noinline, noclone))

static volatile unsigned long sink;
static int turns = 20000, depth = 10;

extern "C" STRANGE void
spin()
{
	unsigned long x = sink;

	for (int i = 0; i < turns; i++)
		x = x * 6364136223846793005UL + 1442695040888963407UL;
	sink = x;
}

/* Runs while its caller's frame is being left. */
struct guard {
	STRANGE ~guard()
	{
		spin();
		sink = sink + 1;
	}
};

extern "C" STRANGE void
thrower(int depth)
{
	guard on_the_way;

	if (depth == 0)
		throw std::runtime_error("known");
	thrower(depth - 1);
	sink = sink + 1;
}

extern "C" STRANGE void
catcher()
{
	try {
		thrower(depth);
	} catch (const std::exception &e) {
		spin();
		sink = sink + std::string(e.what()).size();
	}
}

int
main(int argc, char **)
{
	if (argc > 1) {
		turns = 1;
		depth = 2;
		catcher();
		std::raise(SIGUSR1);
		catcher();
		std::raise(SIGUSR1);
		return 0;
	}
	for (;;)
		catcher();
}
