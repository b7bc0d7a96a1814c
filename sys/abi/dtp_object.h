/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What a thread waits for: three arguments of the event off-cpu that are
 * numbers when the program stores them, and text when the recorder has read
 * them: lock, file and holder (sys/object.bpf.h,
 * libprof/backend/bpf/waited.c).
 *
 *	kind		first		second		third
 *	futex		kind		its address	holder, or 0
 *	file		kind, fd	inode number	mode, or 0
 *	peer		kind, port	IP address	of version 6: its end
 */
#ifndef DTP_OBJECT_H
#define DTP_OBJECT_H

enum dtp_object_kind {
	DTP_O_NONE, DTP_O_FUTEX, DTP_O_FILE, DTP_O_PEER4, DTP_O_PEER6
};

#define DTP_OBJECT_ARGS		3
#define DTP_OBJECT_KIND		0xff
#define DTP_OBJECT_SHIFT	8	/* of fd and port */
/* Beside the thread ID of a holder: it may be of another process. */
#define DTP_HOLDER_SHARED	(1ULL << 32)

/* Of a system call, beside its reason in dc_call. */
#define DTP_CALL_HAS_FD		0x40	/* its first argument */
#define DTP_CALL_HAS_FUTEX	0x80	/* an address, its first argument */

#endif /* DTP_OBJECT_H */
