/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * Asks the kernel which function an address belongs to, and where its text
 * lies.  The kernel searches its symbols in about a microsecond;
 * /proc/kallsyms holds the same as text, and reading all of it takes 30 ms.
 *
 * Run once for up to DTP_ASKED addresses by libprof/process/kernel_names.c,
 * which reads and writes asked.  Attached to nothing.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "abi/dtp_asked.h"

static const char where[] = "%pS";
static const char text_start[] = "_stext";
static const char text_end[] = "_etext";
static const char init_end[] = "_einittext";

struct dtp_asked asked;

char dtp_license[] SEC("license") = "Dual BSD/GPL";

SEC("syscall")
int
kernel_text(void *ctx)
{
	if (bpf_kallsyms_lookup_name(text_start, sizeof(text_start), 0,
	    &asked.as_text_start) != 0)
		return (1);
	if (bpf_kallsyms_lookup_name(text_end, sizeof(text_end), 0,
	    &asked.as_text_end) != 0)
		return (1);
	if (bpf_kallsyms_lookup_name(init_end, sizeof(init_end), 0,
	    &asked.as_image_end) != 0)
		asked.as_image_end = asked.as_text_end;
	return (0);
}

SEC("syscall")
int
kernel_names(void *ctx)
{
	for (__u32 i = 0; i < DTP_ASKED && i < asked.as_n; i++) {
		asked.as_name[i][0] = '\0';
		bpf_snprintf(asked.as_name[i], DTP_ASKED_NAME, where,
		    &asked.as_address[i], sizeof(asked.as_address[i]));
	}
	return (0);
}
