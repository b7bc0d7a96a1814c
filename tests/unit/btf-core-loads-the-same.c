/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: Loaded by the few types that were cut out of the kernel's, every
 * program is, instruction by instruction, what libbpf makes of it by all of
 * them; and without types it is refused, so that the cut was asked at all.
 *
 * Easy to get wrong: a struct that the list lacks, a member at another place,
 * a bit-field, an anonymous struct in between.
 */
#include <sys/types.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "events/names.h"
#include "os/permission.h"
#include "prov_call.skel.h"
#include "prov_pmc.skel.h"
#include "prov_proc.skel.h"
#include "prov_profile.skel.h"
#include "prov_static.skel.h"
#include "prov_syscall.skel.h"
#include "values.skel.h"

static const struct {
	const char	*name;
	const void	*(*bytes)(size_t *size);
} objects[] = {
	{ "prov_call", prov_call_bpf__elf_bytes },
	{ "prov_pmc", prov_pmc_bpf__elf_bytes },
	{ "prov_proc", prov_proc_bpf__elf_bytes },
	{ "prov_profile", prov_profile_bpf__elf_bytes },
	{ "prov_static", prov_static_bpf__elf_bytes },
	{ "prov_syscall", prov_syscall_bpf__elf_bytes },
	{ "values", values_bpf__elf_bytes },
};

/* As small as they may be: it is not going to run. */
static void
give_sizes(struct bpf_object *obj)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, obj) {
		/* Storage of tasks has no size of its own. */
		if (bpf_map__type(map) == BPF_MAP_TYPE_TASK_STORAGE)
			continue;
		if (bpf_map__max_entries(map) == 0)
			bpf_map__set_max_entries(map, bpf_map__type(map) ==
			    BPF_MAP_TYPE_RINGBUF ? 4096 : 1);
		if (bpf_map__value_size(map) == 0 &&
		    bpf_map__type(map) != BPF_MAP_TYPE_RINGBUF)
			bpf_map__set_value_size(map, 1 << 16);
	}
}

static struct bpf_object *
load(size_t n, const char *types, int *why)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .btf_custom_path = types,
	    .object_name = objects[n].name);
	size_t size;
	const void *bytes = objects[n].bytes(&size);
	struct bpf_object *obj = bpf_object__open_mem(bytes, size, &opts);

	if (obj == NULL) {
		*why = errno;
		return (NULL);
	}
	give_sizes(obj);
	*why = -bpf_object__load(obj);
	if (*why == 0)
		return (obj);
	bpf_object__close(obj);
	return (NULL);
}

/* But for the descriptors of maps. */
static bool
is_same(const struct bpf_insn *a, const struct bpf_insn *b)
{
	const bool is_map = a->code == (BPF_LD | BPF_IMM | BPF_DW) &&
	    a->src_reg != 0;

	return (a->code == b->code && a->dst_reg == b->dst_reg &&
	    a->src_reg == b->src_reg && a->off == b->off &&
	    (is_map || a->imm == b->imm));
}

static size_t
compare(struct bpf_object *all, struct bpf_object *few)
{
	struct bpf_program *one, *other = NULL;
	size_t total = 0;

	bpf_object__for_each_program(one, all) {
		const struct bpf_insn *a, *b;
		size_t n;

		other = bpf_object__next_program(few, other);
		n = bpf_program__insn_cnt(one);
		a = bpf_program__insns(one);
		b = bpf_program__insns(other);
		if (a == NULL || b == NULL ||
		    n != bpf_program__insn_cnt(other)) {
			printf("FAIL: %s: %zu instructions\n",
			    bpf_program__name(one), n);
			exit(1);
		}
		for (size_t i = 0; i < n; i++)
			if (!is_same(&a[i], &b[i])) {
				printf("FAIL: %s, instruction %zu\n",
				    bpf_program__name(one), i);
				exit(1);
			}
		total += n;
	}
	return (total);
}

static void
check_refused(size_t n, const char *types)
{
	struct bpf_object *obj;
	int why;

	if ((obj = load(n, types, &why)) == NULL)
		return;
	bpf_object__close(obj);
	printf("FAIL: %s is loaded without its types\n", objects[n].name);
	exit(1);
}

/* A file without types. */
static void
write_empty(char *path)
{
	struct btf *empty = btf__new_empty();
	const int fd = mkstemp(path);
	__u32 size;
	const void *bytes = btf__raw_data(empty, &size);

	if (fd == -1 || bytes == NULL ||
	    write(fd, bytes, size) != (ssize_t)size) {
		printf("FAIL: no file can be written\n");
		exit(1);
	}
	close(fd);
	btf__free(empty);
}

int
main(void)
{
	char nothing[] = "/tmp/dtprof-btf-XXXXXX";
	struct prof_btf_core core, none;
	size_t total = 0;
	int why;

	libbpf_set_print(NULL);
	if (access(PROF_BTF, R_OK) != 0) {
		printf("SKIP: the kernel shows no types\n");
		exit(77);
	}
	write_empty(nothing);
	prof_btf_core_open(&core, PROF_BTF);
	prof_btf_core_open(&none, nothing);
	unlink(nothing);
	if (core.bc_path == NULL || none.bc_path == NULL) {
		printf("FAIL: there is no file\n");
		return (1);
	}
	for (size_t n = 0; n < sizeof(objects) / sizeof(objects[0]); n++) {
		struct bpf_object *all = load(n, NULL, &why), *few;

		if (all == NULL && (why == EPERM || why == ENOSYS)) {
			printf("SKIP: BPF is refused here\n");
			exit(77);
		}
		few = load(n, core.bc_path, &why);
		if (all == NULL || few == NULL) {
			printf("FAIL: %s: %d\n", objects[n].name, why);
			return (1);
		}
		total += compare(all, few);
		check_refused(n, none.bc_path);
		bpf_object__close(all);
		bpf_object__close(few);
	}
	prof_btf_core_close(&core);
	prof_btf_core_close(&none);
	printf("ok: %zu instructions are the same\n", total);
	return (0);
}
