/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: An interpreter is found in a file, and a code object of Python is
 * read in the memory of a process, within bounds of our own, whatever is there;
 * what is said of either is what a stream and a recording may have.
 *
 * Input: a byte, whose bit 0 says which; an ELF file, or memory of a process
 * that begins with a code object, whose version bits 1 and 2 of the byte are
 * (of 3.11, which has no number in it, none is the right one).
 */
#include <sys/mman.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/view.h"
#include "process/languages/language.h"

#define AT	4096	/* address of the code object */
#define KEY	88	/* its number, from 3.12 on */

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static struct prof_code_object code;

static void
runtime_check(const uint8_t *bytes, size_t size)
{
	struct prof_runtime runtime;
	struct prof_elf elf;

	if (prof_elf_memory(&elf, bytes, size) == -1)
		return;
	prof_runtime_find(&elf, &runtime);
	prof_elf_close(&elf);
	if (runtime.rt_language == 0)
		return;
	if (prof_language_at(runtime.rt_language) == NULL ||
	    runtime.rt_is_known > 1 ||
	    runtime.rt_variant >= 1U << PROF_LANGUAGE_BITS ||
	    runtime.rt_chain.ch_head != prof_runtime_head(&runtime) ||
	    strnlen(runtime.rt_name, sizeof(runtime.rt_name)) ==
	    sizeof(runtime.rt_name))
		abort();
	if (!runtime.rt_is_known)
		(void)strlen(prof_runtime_advice(&runtime));
}

static void
python_check(const uint8_t *bytes, size_t size, unsigned version)
{
	const struct prof_peek memory = { .pk_fd = memfd_create("fuzz",
	    MFD_CLOEXEC) };
	struct prof_code_key key = { .ck_address = AT, .ck_variant = version };

	if (size < KEY + sizeof(key.ck_check))
		goto out;
	memcpy(&key.ck_check, bytes + KEY, sizeof(key.ck_check));
	if (memory.pk_fd == -1 || pwrite(memory.pk_fd, bytes, size, AT) !=
	    (ssize_t)size)
		abort();
	memset(&code, 0, sizeof(code));
	if (prof_language_python.la_describe(&memory, &key, &code) &&
	    (code.co_nsteps > PROF_CODE_STEPS ||
	    strnlen(code.co_name, PROF_CODE_TEXT) == PROF_CODE_TEXT ||
	    strnlen(code.co_file, PROF_CODE_TEXT) == PROF_CODE_TEXT))
		abort();
out:
	close(memory.pk_fd);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	if (length < 1)
		return (0);
	if ((input[0] & 1) == 0)
		runtime_check(input + 1, length - 1);
	else
		python_check(input + 1, length - 1, input[0] >> 1 & 3);
	return (0);
}
