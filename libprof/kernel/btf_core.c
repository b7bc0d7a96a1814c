/* SPDX-License-Identifier: ISC */
/*
 * The types of the kernel, cut down to what the loading of a program asks of
 * them: the structs of sys/core_types.h, and what lies in them by value.
 *
 * libbpf reads all types of the kernel, 5 MB, for each object that it loads,
 * which was most of the time to begin a recording of many events.  A small
 * file gives the same offsets.  For what is attached by its type (tp_btf: the
 * system calls) libbpf reads all of them still.
 *
 * Called by bpf.c.
 */
#include <sys/mman.h>

#include <bpf/btf.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"

/* Of sys/core_types.h; a struct that lies in one of these comes with it. */
static const char *const wanted[] = {
	"task_struct", "signal_struct", "linux_binprm", "cred", "pt_regs"
};

struct cut {
	const struct btf *ct_from;
	struct btf	*ct_to;
	int		*ct_made;	/* by the old id; 0: not yet */
	int		 ct_pointer;	/* what is behind one is never asked */
};

static int	copy(struct cut *cut, __u32 id);

static int
copy_members(struct cut *cut, const struct btf_type *type, const char *name)
{
	const struct btf_member *member = btf_members(type);
	const __u32 n = btf_vlen(type);
	int *made = calloc(n + 1, sizeof(*made)), id = made == NULL ? -1 : 0;

	for (__u32 i = 0; i < n && id >= 0; i++)
		id = made[i] = copy(cut, member[i].type);
	if (id >= 0)
		id = btf_is_union(type) ?
		    btf__add_union(cut->ct_to, name, type->size) :
		    btf__add_struct(cut->ct_to, name, type->size);
	for (__u32 i = 0; i < n && id >= 0; i++)
		if (btf__add_field(cut->ct_to, btf__name_by_offset(
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
	const int index = copy(cut, array->index_type);
	const int element = copy(cut, array->type);

	return (index < 0 || element < 0 ? -1 :
	    btf__add_array(cut->ct_to, index, element, (int)array->nelems));
}

static int
make(struct cut *cut, const struct btf_type *type)
{
	const char *name = btf__name_by_offset(cut->ct_from, type->name_off);

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
copy(struct cut *cut, __u32 id)
{
	id = prof_type_plain(cut->ct_from, id, NULL);
	if (id != 0 && cut->ct_made[id] == 0)
		cut->ct_made[id] = make(cut, btf__type_by_id(cut->ct_from,
		    id));
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
	const __u32 n = btf__type_cnt(cut->ct_from);

	for (__u32 id = 1; id < n; id++) {
		const struct btf_type *type = btf__type_by_id(cut->ct_from, id);

		if (btf_is_struct(type) && is_wanted(btf__name_by_offset(
		    cut->ct_from, type->name_off)) && copy(cut, id) < 0)
			return (-1);
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
prof_btf_core_open(struct prof_btf_core *core, const struct btf *kernel)
{
	struct cut cut = { .ct_from = kernel };

	core->bc_fd = -1;
	core->bc_path = NULL;
	if (kernel == NULL)
		return;
	cut.ct_made = calloc(btf__type_cnt(kernel), sizeof(*cut.ct_made));
	cut.ct_to = btf__new_empty();
	if (cut.ct_made != NULL && cut.ct_to != NULL &&
	    copy_wanted(&cut) == 0)
		core->bc_fd = write_types(cut.ct_to);
	btf__free(cut.ct_to);
	free(cut.ct_made);
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
