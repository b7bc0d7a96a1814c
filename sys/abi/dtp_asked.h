/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What kernel_names.bpf.c is asked, and what it answers: "name+0x1/0x2 [mod]"
 * for each address, or the address itself where no function is.
 */
#ifndef DTP_ASKED_H
#define DTP_ASKED_H

#include <linux/types.h>

#define DTP_ASKED	32	/* addresses at once */
#define DTP_ASKED_NAME	640	/* a symbol's 512, a module's 56 */

struct dtp_asked {
	__u64	as_text_start;
	__u64	as_text_end;
	__u64	as_image_end;	/* of code that only runs at boot, too */
	__u64	as_n;
	__u64	as_address[DTP_ASKED];
	char	as_name[DTP_ASKED][DTP_ASKED_NAME];
};

#endif /* DTP_ASKED_H */
