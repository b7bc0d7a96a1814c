/* SPDX-License-Identifier: ISC */
/*
 * Coroutines: each has a stack of its own and gives way when it likes to.
 *
 * They are switched by jumps, as swapcontext calls the kernel each time and
 * an enumeration switches millions of times.  The sanitizers know nothing of
 * jumps between stacks: under them swapcontext it is.
 */
#ifndef COROUTINE_H
#define COROUTINE_H

#include <setjmp.h>
#include <stdbool.h>
#include <ucontext.h>

#ifdef SANITIZED
#define CO_BY_JUMP	0
#else
#define CO_BY_JUMP	1
#endif

struct coroutine {
	ucontext_t	co_context;
	jmp_buf		co_here;
	bool		co_entered;
};

/* Whoever resumes. */
static struct coroutine co_caller;

/* The next resume calls fn(arg), whatever it was doing. */
static inline void
co_begin(struct coroutine *co, void *stack, size_t bytes, void (*fn)(int),
    int arg)
{
	getcontext(&co->co_context);
	co->co_context.uc_stack.ss_sp = stack;
	co->co_context.uc_stack.ss_size = bytes;
	co->co_context.uc_link = NULL;
	makecontext(&co->co_context, (void (*)(void))fn, 1, arg);
	co->co_entered = false;
}

/* Until it gives way. */
static inline void
co_resume(struct coroutine *co)
{
	if (!CO_BY_JUMP) {
		swapcontext(&co_caller.co_context, &co->co_context);
		return;
	}
	if (_setjmp(co_caller.co_here) != 0)
		return;
	if (co->co_entered)
		_longjmp(co->co_here, 1);
	co->co_entered = true;
	setcontext(&co->co_context);
}

static inline void
co_give_way(struct coroutine *co)
{
	if (!CO_BY_JUMP)
		swapcontext(&co->co_context, &co_caller.co_context);
	else if (_setjmp(co->co_here) == 0)
		_longjmp(co_caller.co_here, 1);
}

#endif /* COROUTINE_H */
