/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: the offsets that paths compile to are those that bpftool reads
 * from the same types, for plain members, nested ones, arrays and bit-fields.
 *
 * Easy to get wrong: members inside of anonymous unions add the union's own
 * offset, and a bit-field's offset is not a number of bytes.
 */
#include "names.h"

/* What bpftool prints of all types, from the beginning. */
static FILE *
bpftool_dump(void)
{
	static FILE *dump;
	char block[65536];
	size_t n;
	FILE *out;

	if (dump == NULL) {
		dump = tmpfile();
		out = popen("bpftool btf dump file /sys/kernel/btf/vmlinux",
		    "r");
		CHECK(dump != NULL && out != NULL, "popen");
		while ((n = fread(block, 1, sizeof(block), out)) > 0)
			CHECK(fwrite(block, 1, n, dump) == n, "fwrite");
		pclose(out);
	}
	rewind(dump);
	return (dump);
}

/* bits_offset of a member, as bpftool prints it; -1: not found. */
static long
bpftool_bits(const char *structure, const char *member)
{
	char line[512], wanted[128], *at;
	bool inside = false;
	long bits = -1;
	FILE *out = bpftool_dump();

	snprintf(wanted, sizeof(wanted), "STRUCT '%s' ", structure);
	while (bits == -1 && fgets(line, sizeof(line), out) != NULL) {
		if (line[0] == '[')
			inside = strstr(line, wanted) != NULL;
		if (!inside || line[0] != '\t')
			continue;
		at = strchr(line, '\'') + 1;
		if (strncmp(at, member, strlen(member)) == 0 &&
		    at[strlen(member)] == '\'')
			bits = atol(strstr(at, "bits_offset=") + 12);
	}
	return (bits);
}

static void
load_of(struct prof_names *names, const char *tracepoint, const char *path,
    struct dtp_arg *load)
{
	struct prof_proto *proto = prof_proto_open(names, tracepoint);
	struct prof_arg arg;
	char why[160];

	CHECK(proto != NULL, "%s", tracepoint);
	CHECK(prof_proto_path(proto, path, &arg, why, sizeof(why)) == 0,
	    "%s: %s", path, why);
	*load = arg.ag_load;
	prof_arg_fini(&arg);
	prof_proto_close(proto);
}

static void
check_plain(struct prof_names *names)
{
	static const char *const members[] = {
		"pid", "tgid", "prio", "comm", "exit_code", "start_time"
	};
	struct dtp_arg load;
	char path[64];
	long bits;

	for (size_t n = 0; n < sizeof(members) / sizeof(members[0]); n++) {
		snprintf(path, sizeof(path), "next->%s", members[n]);
		load_of(names, "sched_switch", path, &load);
		bits = bpftool_bits("task_struct", members[n]);
		CHECK(bits != -1 && load.ar_nderef == 1 &&
		    load.ar_off[0] == (uint32_t)bits / 8, "%s: %u, not %ld",
		    path, load.ar_off[0], bits / 8);
	}
}

static void
check_nested(struct prof_names *names)
{
	long se, vruntime, mm, inner;
	struct dtp_arg load;

	load_of(names, "sched_switch", "prev.se.vruntime", &load);
	se = bpftool_bits("task_struct", "se");
	vruntime = bpftool_bits("sched_entity", "vruntime");
	CHECK(load.ar_nderef == 1 && load.ar_off[0] ==
	    (uint32_t)(se + vruntime) / 8, "prev.se.vruntime: %u",
	    load.ar_off[0]);
	/* Through a pointer, then into the anonymous part of mm_struct. */
	load_of(names, "sched_switch", "prev->mm->start_code", &load);
	mm = bpftool_bits("task_struct", "mm");
	CHECK(load.ar_nderef == 2 && load.ar_off[0] == (uint32_t)mm / 8 &&
	    load.ar_size == 8 && !load.ar_signed, "prev->mm");
	inner = bpftool_bits("mm_struct", "start_code");
	if (inner != -1)
		CHECK(load.ar_off[1] == (uint32_t)inner / 8, "mm: %u",
		    load.ar_off[1]);
	/* In sk_buff, dev is in a union that follows prev in a structure. */
	load_of(names, "net_dev_queue", "skb->prev", &load);
	inner = load.ar_off[0];
	load_of(names, "net_dev_queue", "skb->dev", &load);
	CHECK(load.ar_off[0] == (uint32_t)inner + 8, "skb->dev: %u",
	    load.ar_off[0]);
	load_of(names, "sched_switch", "prev.comm[3]", &load);
	CHECK(load.ar_kind == DTP_A_INT && load.ar_size == 1 &&
	    load.ar_off[0] == (uint32_t)bpftool_bits("task_struct",
	    "comm") / 8 + 3, "comm[3]: %u", load.ar_off[0]);
}

static void
check_bits(struct prof_names *names)
{
	struct dtp_arg load;
	long bits = bpftool_bits("task_struct", "sched_contributes_to_load");

	if (bits == -1)
		return;
	load_of(names, "sched_switch", "prev->sched_contributes_to_load",
	    &load);
	CHECK(load.ar_bit_size == 1 && load.ar_off[0] * 8 + load.ar_bit_off
	    == (uint32_t)bits, "bits %u + %u, not %ld", load.ar_off[0] * 8,
	    load.ar_bit_off, bits);
	CHECK(load.ar_bit_off + load.ar_bit_size <= load.ar_size * 8 &&
	    load.ar_off[0] % load.ar_size == 0, "the unit that is loaded");
}

/* Paths that cannot be, each with its reason. */
static void
check_reasons(struct prof_names *names)
{
	static const struct {
		const char *path, *why;
	} cases[] = {
		{ "nobody", "no such argument: 'nobody'" },
		{ "next->", "expected a name after -> or ." },
		{ "next.3", "expected a name after -> or ." },
		{ "next->colour", "struct task_struct has no member "
		    "'colour'" },
		{ "next->pid->x", "pid_t has no members, so it has no member "
		    "'x'" },
		{ "next->se", "struct sched_entity is neither a number nor a "
		    "string" },
		{ "next.comm[99]", "the array has 16 elements" },
		{ "next.pid[1]", "[1] is possible only after an array or "
		    "pointer" },
		{ "next[x]", "[] needs a number, such as [0]" },
		{ "", "the argument does not start with a name" },
		{ "next->parent->parent->parent->parent->parent->pid",
		    "the path follows more than 4 pointers" },
	};
	struct prof_proto *proto = prof_proto_open(names, "sched_switch");
	struct prof_arg arg;
	char why[160];

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		CHECK(prof_proto_path(proto, cases[n].path, &arg, why,
		    sizeof(why)) == -1, "%s was taken", cases[n].path);
		CHECK(strcmp(why, cases[n].why) == 0, "%s: %s",
		    cases[n].path, why);
	}
	prof_proto_close(proto);
}

int
main(void)
{
	struct prof_names *names = open_names();

	if (prof_names_btf(names) == NULL)
		skip("this kernel has no BTF");
	check_reasons(names);
	if (bpftool_bits("task_struct", "pid") == -1)
		skip("bpftool cannot be run");
	check_plain(names);
	check_nested(names);
	check_bits(names);
	prof_names_close(names);
	return (passed());
}
