/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: An interpreter whose script frames are never found lacks them in
 * each sample that executes a script, also where it calls nothing; one whose
 * frames are found does not, where a function makes its frame or has left it,
 * in however many samples, but does where it called something.  What does not
 * execute scripts lacks none.
 *
 * Easy to get wrong: a host that calls short functions is often in one whose
 * frame is being made, and is told that its interpreter is not known.
 */
#include <string.h>

#include "backend/bpf/publish/publish_impl.h"
#include "check.h"
#include "recording/frame.h"

#define NUMBER	1
#define RUNS	0x7000u	/* where that which executes scripts begins */
#define HOST	0x1000u
#define LIBRARY	0x9000u

static struct prof_chains chains;
static struct prof_unwind_modules modules;
static struct prof_module module;

/* A sample with those native frames, and perhaps with a script frame. */
static bool
fails(uint64_t leaf, uint64_t caller, bool is_found)
{
	static const uint64_t script = (uint64_t)PROF_FRAME_PYTHON <<
	    PROF_WORD_KIND_SHIFT;
	const uint64_t user[] = { leaf, caller, HOST };
	const struct prof_record sample = { .pr_user = user, .pr_nuser = 3,
	    .pr_script = &script, .pr_nscript = is_found };

	return (prof_chain_fails(&chains, &modules, NUMBER, &sample));
}

static void
begin(void)
{
	memset(&module, 0, sizeof(module));
	module.mo_runtime.rt_runs_bytes = 0x100;
	chains.cs_module[NUMBER] = 7;
	chains.cs_runs[NUMBER] = RUNS;
	modules.ms_module[7] = &module;
}

int
main(void)
{
	unsigned n;

	begin();
	for (n = 0; n < 50; n++)
		CHECK(fails(RUNS + 0x10, HOST, false) &&
		    fails(LIBRARY, RUNS + 0x20, false));
	CHECK(module.mo_samples == 100 && module.mo_missing == 100);
	printf("ok: frames that are never found\n");

	begin();
	CHECK(!fails(LIBRARY, HOST, false) && !fails(RUNS, HOST, false) &&
	    !fails(RUNS + 0x101, HOST, false) && module.mo_samples == 0);
	printf("ok: no script is executed\n");

	for (n = 0; n < 50; n++)
		CHECK(!fails(RUNS + 0x10, HOST, true) &&
		    !fails(RUNS + 0x10, HOST, false));
	CHECK(module.mo_samples == 50 && module.mo_missing == 0);
	CHECK(fails(LIBRARY, RUNS + 0x20, false) &&
	    fails(RUNS + 0x10, RUNS + 0x20, false));
	CHECK(module.mo_samples == 52 && module.mo_missing == 2);
	printf("ok: frames that are made\n");
	return (0);
}
