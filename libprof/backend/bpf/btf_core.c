/* SPDX-License-Identifier: ISC */
/*
 * The types of the kernel, cut down to what the loading of a program asks of
 * them: the structs of sys/core_types.h, and what lies in them by value.
 *
 * libbpf reads all types of the kernel, 5 MB, for each object that it loads.
 * A small file gives the same offsets.  The types are read here where they
 * lie, in one pass that finds where each begins and which are wanted: libbpf
 * copies and checks all of them, which takes 15 times as long.  A kernel whose
 * types this file does not know is left to libbpf.  For what is attached by
 * its type (tp_btf: the system calls) libbpf reads all of them still.
 *
 * Of variables, where the preempt_count of a CPU is, relative to its run queue:
 * many kernels do not tell the address of either to BPF programs.
 *
 * Called by load.c.
 */
#include <sys/mman.h>
#include <sys/stat.h>

#include <bpf/btf.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "events/names.h"

#define CHAIN	32	/* typedefs and qualifiers in a row */

/* Of sys/core_types.h; a struct that lies in one of these comes with it. */
static const char *const wanted[] = {
	"task_struct", "signal_struct", "linux_binprm", "cred", "mm_struct",
	"maple_range_64", "maple_arange_64", "vm_area_struct", "file",
	"backing_file", "dentry", "inode", "super_block", "pt_regs", "pid",
	"uprobe_task", "pcpu_hot", "cfs_rq", "sched_entity", "task_group",
	"css_set", "cgroup", "kernfs_node", "files_struct", "fdtable",
	"socket", "sock"
};

/* A file of types, and where each of them begins. */
struct types {
	const uint8_t	*ty_file;
	size_t		 ty_size;
	bool		 ty_is_mapped;
	const uint8_t	*ty_first;	/* number 1 */
	const uint8_t	*ty_end;
	const char	*ty_names;
	size_t		 ty_names_size;
	uint32_t	*ty_at;		/* by number, from ty_first */
	uint32_t	 ty_n;		/* with number 0, which is void */
	uint32_t	 ty_cap;
};

/* ------------------------------------------------------------- reading */

/* Kernels since 6.16 map it; of others it is read. */
static bool
types_load(struct types *types, const char *path)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *bytes = NULL;
	struct stat st;
	ssize_t got = 0;
	size_t have = 0;

	if (fd == -1 || fstat(fd, &st) == -1 || st.st_size <= 0)
		goto out;
	types->ty_size = (size_t)st.st_size;
	bytes = mmap(NULL, types->ty_size, PROT_READ, MAP_PRIVATE, fd, 0);
	types->ty_is_mapped = bytes != MAP_FAILED;
	if (types->ty_is_mapped || (bytes = malloc(types->ty_size)) == NULL)
		goto out;
	while (have < types->ty_size && (got = read(fd, bytes + have,
	    types->ty_size - have)) > 0)
		have += (size_t)got;
	types->ty_size = have;
out:
	if (fd != -1)
		close(fd);
	types->ty_file = bytes;
	return (bytes != NULL);
}

static void
types_free(struct types *types)
{
	if (types->ty_is_mapped)
		munmap((void *)(uintptr_t)types->ty_file, types->ty_size);
	else
		free((void *)(uintptr_t)types->ty_file);
	free(types->ty_at);
}

/* Bytes behind the head of a type; -1: a kind that is not known here. */
static ssize_t
rest_of(const struct btf_type *type)
{
	const ssize_t n = btf_vlen(type);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return ((ssize_t)sizeof(__u32));
	case BTF_KIND_ARRAY:
		return ((ssize_t)sizeof(struct btf_array));
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (n * (ssize_t)sizeof(struct btf_member));
	case BTF_KIND_ENUM:
		return (n * (ssize_t)sizeof(struct btf_enum));
	case BTF_KIND_ENUM64:
		return (n * (ssize_t)sizeof(struct btf_enum64));
	case BTF_KIND_FUNC_PROTO:
		return (n * (ssize_t)sizeof(struct btf_param));
	case BTF_KIND_DATASEC:
		return (n * (ssize_t)sizeof(struct btf_var_secinfo));
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return (0);
	default:
		return (-1);
	}
}

static bool
types_note(struct types *types, const uint8_t *at)
{
	uint32_t *grown;

	if (types->ty_n == types->ty_cap) {
		types->ty_cap = types->ty_cap == 0 ? 1U << 17 :
		    2 * types->ty_cap;
		grown = reallocarray(types->ty_at, types->ty_cap,
		    sizeof(*grown));
		if (grown == NULL)
			return (false);
		types->ty_at = grown;
	}
	types->ty_at[types->ty_n++] = (uint32_t)(at - types->ty_first);
	return (true);
}

/* Where each type begins; false: not such a file. */
static bool
types_index(struct types *types)
{
	const struct btf_type *type;
	const uint8_t *at;
	ssize_t rest;

	if (!types_note(types, types->ty_first))	/* number 0 */
		return (false);
	for (at = types->ty_first; at < types->ty_end; at += rest) {
		type = (const struct btf_type *)at;
		if (types->ty_end - at < (ssize_t)sizeof(*type) ||
		    (rest = rest_of(type)) == -1 || types->ty_end - at <
		    (rest += (ssize_t)sizeof(*type)) ||
		    !types_note(types, at))
			return (false);
	}
	return (true);
}

static bool
types_open(struct types *types, const char *path)
{
	struct btf_header head;
	size_t left;

	memset(types, 0, sizeof(*types));
	if (!types_load(types, path) || types->ty_size < sizeof(head))
		return (false);
	memcpy(&head, types->ty_file, sizeof(head));
	if (head.magic != BTF_MAGIC || head.version != BTF_VERSION ||
	    head.hdr_len > types->ty_size || head.hdr_len % 4 != 0)
		return (false);
	left = types->ty_size - head.hdr_len;
	if (head.type_off > left || head.type_len > left - head.type_off ||
	    head.type_off % 4 != 0 || head.str_len == 0 ||
	    head.str_off > left || head.str_len > left - head.str_off)
		return (false);
	types->ty_first = types->ty_file + head.hdr_len + head.type_off;
	types->ty_end = types->ty_first + head.type_len;
	types->ty_names = (const char *)types->ty_file + head.hdr_len +
	    head.str_off;
	types->ty_names_size = head.str_len;
	return (types->ty_names[head.str_len - 1] == '\0' &&
	    types_index(types));
}

/* NULL: void, or no such number. */
static const struct btf_type *
type_at(const struct types *types, uint32_t id)
{
	if (id == 0 || id >= types->ty_n)
		return (NULL);
	return ((const struct btf_type *)(types->ty_first +
	    types->ty_at[id]));
}

static const char *
name_at(const struct types *types, uint32_t offset)
{
	return (offset < types->ty_names_size ? types->ty_names + offset :
	    "");
}

/* Through typedefs and qualifiers; 0 when there is nothing behind them. */
static uint32_t
type_plain(const struct types *types, uint32_t id)
{
	const struct btf_type *type;

	for (int n = 0; n < CHAIN; n++) {
		if ((type = type_at(types, id)) == NULL)
			return (0);
		if (!btf_is_mod(type) && !btf_is_typedef(type))
			return (id);
		id = type->type;
	}
	return (0);
}

/* ------------------------------------------------------------- cutting */

struct cut {
	const struct types *ct_from;
	struct btf	*ct_to;
	int		*ct_made;	/* by the old id; 0: not yet */
	int		 ct_pointer;	/* to nothing: never followed */
};

static int	type_copy(struct cut *cut, __u32 id);

static int
copy_members(struct cut *cut, const struct btf_type *type, const char *name)
{
	const struct btf_member *member = btf_members(type);
	const __u32 n = btf_vlen(type);
	int *made = calloc(n + 1, sizeof(*made)), id = made == NULL ? -1 : 0;

	for (__u32 i = 0; i < n && id >= 0; i++)
		id = made[i] = type_copy(cut, member[i].type);
	if (id >= 0)
		id = btf_is_union(type) ?
		    btf__add_union(cut->ct_to, name, type->size) :
		    btf__add_struct(cut->ct_to, name, type->size);
	for (__u32 i = 0; i < n && id >= 0; i++)
		if (btf__add_field(cut->ct_to, name_at(
		    cut->ct_from, member[i].name_off), made[i],
		    btf_member_bit_offset(type, i),
		    btf_member_bitfield_size(type, i)) < 0)
			id = -1;
	free(made);
	return (id);
}

static int
copy_array(struct cut *cut, const struct btf_array *array)
{
	const int index = type_copy(cut, array->index_type);
	const int element = type_copy(cut, array->type);

	return (index < 0 || element < 0 ? -1 :
	    btf__add_array(cut->ct_to, index, element, (int)array->nelems));
}

static int
type_make(struct cut *cut, const struct btf_type *type)
{
	const char *name = name_at(cut->ct_from, type->name_off);

	switch (btf_kind(type)) {
	case BTF_KIND_INT:
		return (btf__add_int(cut->ct_to, name, type->size,
		    btf_int_encoding(type)));
	case BTF_KIND_PTR:
		if (cut->ct_pointer == 0)
			cut->ct_pointer = btf__add_ptr(cut->ct_to, 0);
		return (cut->ct_pointer);
	case BTF_KIND_ARRAY:
		return (copy_array(cut, btf_array(type)));
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return (copy_members(cut, type, name));
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		return (btf__add_enum(cut->ct_to, name, type->size));
	default:
		return (0);
	}
}

/* The new id of a type, 0 where there is nothing; -1: it is not possible. */
static int
type_copy(struct cut *cut, __u32 id)
{
	id = type_plain(cut->ct_from, id);
	if (id != 0 && cut->ct_made[id] == 0)
		cut->ct_made[id] = type_make(cut, type_at(cut->ct_from, id));
	return (cut->ct_made[id] < 0 ? -1 : cut->ct_made[id]);
}

static bool
is_wanted(const char *name)
{
	for (size_t n = 0; n < sizeof(wanted) / sizeof(wanted[0]); n++)
		if (strcmp(name, wanted[n]) == 0)
			return (true);
	return (false);
}

/* All of a name: libbpf looks whether they agree. */
static int
copy_wanted(struct cut *cut)
{
	const struct types *from = cut->ct_from;

	for (uint32_t id = 1; id < from->ty_n; id++) {
		const struct btf_type *type = type_at(from, id);

		if (btf_is_struct(type) && is_wanted(name_at(from,
		    type->name_off)) && type_copy(cut, id) < 0)
			return (-1);
	}
	return (0);
}

/* Where a variable is in a section; -1: not there. */
static int64_t
variable_at(const struct types *types, const struct btf_type *section,
    const char *name)
{
	const struct btf_var_secinfo *info = btf_var_secinfos(section);
	const struct btf_type *type;

	for (__u32 n = 0; n < btf_vlen(section); n++)
		if ((type = type_at(types, info[n].type)) != NULL &&
		    strcmp(name_at(types, type->name_off), name) == 0)
			return (info[n].offset);
	return (-1);
}

/* pcpu_hot: on x86, Linux 6.2 to 6.14. */
static int64_t
preempt_at(const struct types *types)
{
	for (uint32_t id = 1; id < types->ty_n; id++) {
		const struct btf_type *type = type_at(types, id);
		int64_t count, queue;

		if (!btf_is_datasec(type))
			continue;
		queue = variable_at(types, type, "runqueues");
		if ((count = variable_at(types, type, "pcpu_hot")) == -1)
			count = variable_at(types, type, "__preempt_count");
		if (queue != -1 && count != -1)
			return (count - queue);
	}
	return (0);
}

static int
write_types(const struct btf *btf)
{
	__u32 size;
	const void *data = btf__raw_data(btf, &size);
	const int fd = data == NULL ? -1 :
	    memfd_create("dtprof types", MFD_CLOEXEC);

	if (fd != -1 && write(fd, data, size) == (ssize_t)size)
		return (fd);
	if (fd != -1)
		close(fd);
	return (-1);
}

void
prof_btf_core_open(struct prof_btf_core *core, const char *path)
{
	struct types types;
	struct cut cut = { .ct_from = &types };

	core->bc_fd = -1;
	core->bc_path = NULL;
	core->bc_preempt_at = 0;
	if (types_open(&types, path)) {
		core->bc_preempt_at = preempt_at(&types);
		cut.ct_made = calloc(types.ty_n, sizeof(*cut.ct_made));
		cut.ct_to = btf__new_empty();
		if (cut.ct_made != NULL && cut.ct_to != NULL &&
		    copy_wanted(&cut) == 0)
			core->bc_fd = write_types(cut.ct_to);
		btf__free(cut.ct_to);
		free(cut.ct_made);
	}
	types_free(&types);
	if (core->bc_fd == -1)
		return;
	snprintf(core->bc_name, sizeof(core->bc_name), "/proc/self/fd/%d",
	    core->bc_fd);
	if (access(core->bc_name, R_OK) == 0)
		core->bc_path = core->bc_name;
}

void
prof_btf_core_close(struct prof_btf_core *core)
{
	if (core->bc_fd != -1)
		close(core->bc_fd);
}
