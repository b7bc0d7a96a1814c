/* SPDX-License-Identifier: ISC */
/*
 * Functions of the kernel, asked of the kernel itself by a BPF program
 * (sys/kernel_names.bpf.c).  It is loaded by the first question, and answers
 * where /proc/kallsyms would show addresses: a kernel that hides them from us
 * refuses to say where its text lies.
 *
 * Called by arm.c for the kernel's mapping, and at the end of a recording for
 * the functions that were sampled (process/symbolize_tables.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "abi/dtp_asked.h"
#include "kernel_names.h"

#include "kernel_names.skel.h"

struct prof_kernel_names {
	struct kernel_names_bpf *kn_skel;
};

static bool
program_run(const struct bpf_program *program)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts);

	return (bpf_prog_test_run_opts(bpf_program__fd(program), &opts) ==
	    0 && opts.retval == 0);
}

struct prof_kernel_names *
prof_kernel_names_open(void)
{
	struct prof_kernel_names *names = calloc(1, sizeof(*names));

	if (names == NULL)
		return (NULL);
	names->kn_skel = kernel_names_bpf__open_and_load();
	if (names->kn_skel != NULL &&
	    program_run(names->kn_skel->progs.kernel_text))
		return (names);
	prof_kernel_names_close(names);
	return (NULL);
}

void
prof_kernel_names_close(struct prof_kernel_names *names)
{
	if (names == NULL)
		return;
	kernel_names_bpf__destroy(names->kn_skel);
	free(names);
}

void
prof_kernel_names_text(const struct prof_kernel_names *names,
    struct prof_text *text)
{
	text->tx_start = names->kn_skel->bss->asked.as_text_start;
	text->tx_end = names->kn_skel->bss->asked.as_text_end;
}

/*
 * A BPF program's code has a symbol and belongs to no module.  So have the
 * kernel's own functions named bpf_, but these lie in its image.
 */
static bool
is_bpf(const struct dtp_asked *asked, const char *name, uint64_t address)
{
	return ((address < asked->as_text_start ||
	    address >= asked->as_image_end) && strncmp(name, "bpf_", 4) == 0);
}

/*
 * "name+0x1d/0x40 [ext4]"; false: no function is there.  The text is cut up
 * where it lies.
 */
static bool
symbol_parse(char *text, uint64_t address, struct prof_symbol *symbol)
{
	char *plus = strrchr(text, '+'), *end, *bracket;
	unsigned long long offset, size;

	if (plus == NULL || plus == text ||
	    memchr(text, '\0', DTP_ASKED_NAME) == NULL)
		return (false);
	offset = strtoull(plus + 1, &end, 16);
	if (*end != '/' || offset > address)
		return (false);
	size = strtoull(end + 1, &end, 16);
	symbol->sy_module = NULL;
	if (end[0] == ' ' && end[1] == '[' &&
	    (bracket = strchr(end, ']')) != NULL) {
		symbol->sy_module = end + 2;
		*bracket = '\0';
	} else if (*end != '\0')
		return (false);
	*plus = '\0';
	symbol->sy_address = address - offset;
	symbol->sy_size = size;
	symbol->sy_name = text;
	return (size > offset);
}

size_t
prof_kernel_names_ask(void *arg, const uint64_t *place, size_t n,
    struct prof_symbol *symbol)
{
	struct prof_kernel_names *names = arg;
	struct dtp_asked *asked = &names->kn_skel->bss->asked;
	size_t i;

	if (n > DTP_ASKED)
		n = DTP_ASKED;
	asked->as_n = n;
	memcpy(asked->as_address, place, n * sizeof(*place));
	if (!program_run(names->kn_skel->progs.kernel_names))
		return (0);
	for (i = 0; i < n; i++)
		if (!symbol_parse(asked->as_name[i], place[i], &symbol[i]))
			symbol[i].sy_name = NULL;
		else if (symbol[i].sy_module == NULL &&
		    is_bpf(asked, symbol[i].sy_name, place[i]))
			symbol[i].sy_module = "bpf";
	return (n);
}
