/* SPDX-License-Identifier: ISC */
/*
 * stacks/stacks.c for the guest: without frame pointers, though the other
 * workloads have some.
 */
#if !defined(__clang__)
#pragma GCC optimize ("O2", "omit-frame-pointer")
#endif
#define WITH_UCONTEXT
#include "stacks/stacks.c"
