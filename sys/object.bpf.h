/* SPDX-License-Identifier: ISC OR (Dual BSD/GPL) */
/*
 * What a thread waits for: the address of a futex, or the file of a
 * descriptor, by the arguments of its system call.  They are read when a wait
 * ends, and only for waits that are recorded.
 *
 * Only the memory of the current thread can be read, so the holder of a lock is
 * read when a wait for a futex begins.  A futex says who holds it if it
 * inherits priorities, if it is a mutex of glibc, or one of musl that is
 * recursive, robust, or checks errors:
 *
 *		glibc				musl
 *	-4					kind
 *	0	2: locked, others wait;		thread ID of the holder,
 *		robust: as in musl		and FUTEX_WAITERS
 *	4	count				number of waiters
 *	8	thread ID of the holder
 *	12	number of its users
 *	16	kind
 *
 * A wait until a time is a wait for all bits of a bitset, of any futex.
 * Whatever does not look like this has no holder.  The recorder checks that the
 * holder is a thread of the process.
 *
 * Included by prov_wait.bpf.c.
 */
#ifndef OBJECT_BPF_H
#define OBJECT_BPF_H

#include "abi/dtp_object.h"

/* Of the kernel's interface. */
#define FUTEX_FLAGS	(128 | 256)	/* private, real-time clock */
#define FUTEX_PRIVATE	128
#define FUTEX_WAIT	0
#define FUTEX_LOCK_PI	6
#define FUTEX_WAIT_BITSET 9
#define FUTEX_LOCK_PI2	13
#define FUTEX_ALL_BITS	0xffffffff
#define FUTEX_WAITERS	0x80000000
#define FUTEX_TID	0x3fffffff

/* Bits of the kind of a mutex. */
#define MUTEX_TYPE	(0x3 | 256 | 512)	/* and lock elision */
#define MUTEX_ROBUST	16
#define MUTEX_SHARED	128
/* As musl has it, where the word is the holder's. */
#define MUSL_TYPE	3
#define MUSL_ROBUST	4

#define FILE_TYPE	0170000
#define FILE_SOCKET	0140000
#define FILE_FIFO	0010000
#define PIPEFS_MAGIC	0x50495045
#define FAMILY_IP4	2
#define FAMILY_IP6	10

/* As in glibc. */
struct mutex {
	__u32	mx_lock;
	__u32	mx_count;
	__u32	mx_owner;
	__u32	mx_users;
	__u32	mx_kind;
};

/* Scratch memory: the stack of a BPF program is short. */
struct object {
	__u64		ob_arg[DTP_CALL_ARGS];	/* of the call */
	__u64		ob_ip;
	struct mutex	ob_mutex;
	__u32		ob_before;	/* the word before it; 0: none */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct object);
} objects SEC(".maps");

/* The reason of its call, and DTP_CALL_HAS_*. */
DTP_INLINE __u32
object_call(const struct task_struct *task)
{
	return (reason_row(task, reason_call(task)));
}

DTP_INLINE struct object *
object_read(const struct task_struct *task)
{
	__u32 zero = 0;
	struct object *object = bpf_map_lookup_elem(&objects, &zero);

	if (object != NULL)
		dtp_call_read(object->ob_arg, &object->ob_ip,
		    (const void *)bpf_task_pt_regs(
		    (struct task_struct *)task));
	return (object);
}

/* Of a mutex of glibc whose word has this value; or 0. */
DTP_INLINE __u64
glibc_holder(const struct mutex *mutex, __u32 value, int is_private)
{
	__u32 kind = mutex->mx_kind;

	if (mutex->mx_users == 0 ||
	    (kind & ~(MUTEX_TYPE | MUTEX_ROBUST | MUTEX_SHARED)) != 0)
		return (0);
	if (kind & MUTEX_ROBUST) {
		if ((value & FUTEX_WAITERS) == 0 ||
		    (value & FUTEX_TID) != mutex->mx_owner)
			return (0);
	} else if (value != 2) {
		return (0);
	}
	return ((__u64)mutex->mx_owner | ((kind & MUTEX_SHARED) != 0 &&
	    !is_private ? DTP_HOLDER_SHARED : 0));
}

/* The same of musl. */
DTP_INLINE __u64
musl_holder(const struct object *object, __u32 value)
{
	__u32 kind = object->ob_before;

	if ((kind & ~(MUSL_TYPE | MUSL_ROBUST | MUTEX_SHARED)) != 0 ||
	    (kind & (MUSL_TYPE | MUSL_ROBUST)) == 0 ||
	    (value & FUTEX_WAITERS) == 0 || object->ob_mutex.mx_count == 0 ||
	    object->ob_mutex.mx_count > DTP_TASK_IDS)
		return (0);
	return ((value & FUTEX_TID) | ((kind & MUTEX_SHARED) != 0 ?
	    DTP_HOLDER_SHARED : 0));
}

/* Of a mutex that the current thread waits for, in this way; or 0. */
DTP_INLINE __u64
mutex_holder(struct object *object, __u32 how, int is_private)
{
	__u32 word = object->ob_mutex.mx_lock, value = object->ob_arg[2];
	__u64 holder;

	if (how == FUTEX_LOCK_PI || how == FUTEX_LOCK_PI2)
		return ((word & FUTEX_TID) | (is_private ? 0 :
		    DTP_HOLDER_SHARED));
	if (word != value || (how != FUTEX_WAIT &&
	    (__u32)object->ob_arg[5] != FUTEX_ALL_BITS))
		return (0);
	holder = glibc_holder(&object->ob_mutex, value, is_private);
	return (holder != 0 ? holder : musl_holder(object, value));
}

/*
 * Who holds the lock that the current thread waits for; 0: not known.  Thread
 * IDs in memory are of the thread's PID namespace.  Apart, like object_args,
 * because the stack of the programs is short.
 */
static DTP_APART __u64
object_holder(const struct task_struct *task)
{
	struct object *object;
	int is_private;
	__u64 holder;
	__u32 how;

	if ((object_call(task) & DTP_CALL_HAS_FUTEX) == 0 ||
	    (object = object_read(task)) == NULL)
		return (0);
	how = object->ob_arg[1] & ~FUTEX_FLAGS;
	is_private = (object->ob_arg[1] & FUTEX_PRIVATE) != 0;
	if (how != FUTEX_WAIT && how != FUTEX_WAIT_BITSET &&
	    how != FUTEX_LOCK_PI && how != FUTEX_LOCK_PI2)
		return (0);
	if (bpf_probe_read_user(&object->ob_mutex, sizeof(object->ob_mutex),
	    (const void *)object->ob_arg[0]) != 0)
		return (0);
	if (bpf_probe_read_user(&object->ob_before, sizeof(object->ob_before),
	    (const void *)(object->ob_arg[0] - sizeof(__u32))) != 0)
		object->ob_before = 0;
	holder = mutex_holder(object, how, is_private);
	return (dtp_tid_inside(task) == (__u32)task->pid &&
	    (__u32)holder != (__u32)task->pid ? holder : 0);
}

/* The address of the other end; 0: it has none that is known. */
DTP_INLINE int
socket_peer(const struct file *file, __u64 *value)
{
	const struct socket *socket = NULL;
	const struct sock *sock = NULL;
	__u16 family = 0, port = 0;
	__u32 address = 0;

	DTP_READ(&socket, &file->private_data);
	DTP_READ(&sock, &socket->sk);
	if (sock == NULL)
		return (0);
	DTP_READ(&family, &sock->__sk_common.skc_family);
	DTP_READ(&port, &sock->__sk_common.skc_dport);
	if (port == 0 || (family != FAMILY_IP4 && family != FAMILY_IP6))
		return (0);
	if (family == FAMILY_IP4) {
		DTP_READ(&address, &sock->__sk_common.skc_daddr);
		value[1] = address;
	} else {
		bpf_probe_read_kernel(&value[1], 2 * sizeof(__u64),
		    &sock->__sk_common.skc_v6_daddr);
	}
	value[0] = (family == FAMILY_IP4 ? DTP_O_PEER4 : DTP_O_PEER6) |
	    (__u64)__builtin_bswap16(port) << DTP_OBJECT_SHIFT;
	return (1);
}

/* The file that has this descriptor. */
DTP_INLINE void
object_file(const struct task_struct *task, __u32 fd, __u64 *value)
{
	const struct fdtable *table = NULL;
	struct file *const *files = NULL;
	const struct inode *inode = NULL;
	const struct file *file = NULL;
	const struct super_block *super = NULL;
	unsigned long number = 0, magic = 0;
	__u32 nfiles = 0;
	__u16 mode = 0;

	DTP_READ(&table, &task->files->fdt);
	DTP_READ(&nfiles, &table->max_fds);
	DTP_READ(&files, &table->fd);
	if (fd >= nfiles)
		return;
	DTP_READ(&file, files + fd);
	DTP_READ(&inode, &file->f_inode);
	if (inode == NULL)
		return;
	DTP_READ(&mode, &inode->i_mode);
	if ((mode & FILE_TYPE) == FILE_SOCKET && socket_peer(file, value))
		return;
	DTP_READ(&number, &inode->i_ino);
	DTP_READ(&super, &inode->i_sb);
	DTP_READ(&magic, &super->s_magic);
	/* A pipe that has a path is like any file. */
	if ((mode & FILE_TYPE) == FILE_FIFO && magic != PIPEFS_MAGIC)
		mode = 0;
	value[0] = DTP_O_FILE | (__u64)fd << DTP_OBJECT_SHIFT;
	value[1] = number;
	value[2] = mode;
}

/* The three arguments, of a blocked thread that waits for this reason. */
static DTP_APART int
object_args(const struct task_struct *task, __u32 reason, __u64 holder,
    __u64 *value)
{
	const struct object *object;
	__u32 call;

	value[0] = DTP_O_NONE;
	value[1] = value[2] = 0;
	if (reason < DTP_W_CALL || (call = object_call(task)) <
	    DTP_CALL_HAS_FD || (object = object_read(task)) == NULL)
		return (0);
	if (call & DTP_CALL_HAS_FD) {
		object_file(task, object->ob_arg[0], value);
		return (0);
	}
	value[0] = DTP_O_FUTEX;
	value[1] = object->ob_arg[0];
	value[2] = holder;
	return (0);
}

#endif /* OBJECT_BPF_H */
