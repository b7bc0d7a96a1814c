/* SPDX-License-Identifier: ISC */
/* Code that stacks.c loads, unloads and calls through stubs. */

void	leaf(void);
void	plugin_call(void (*)(void));

__attribute__((noinline)) void
leaf(void)
{
	__asm__ volatile("nop");
}

void
plugin_call(void (*call)(void))
{
	leaf();
	call();
	__asm__ volatile("" ::: "memory");
}
