/* SPDX-License-Identifier: ISC */
/*
 * Paths into the arguments of a tracepoint ("next->pid"), compiled to loads
 * that BPF performs (struct dtp_arg).  The prototype comes from the kernel's
 * own types: the typedef btf_trace_NAME has the types, the function
 * __traceiter_NAME the names.  Called by the static provider and the
 * catalog.  Offsets are this kernel's, so nothing here outlives a session.
 */
#include <bpf/btf.h>

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "names.h"

#define TYPE_CHAIN	8	/* typedef, pointer, function, prototype */
#define IDENT_MAX	64

struct prof_proto {
	struct btf		*pt_btf;	/* of the names handle */
	const struct btf_type	*pt_types;
	const struct btf_type	*pt_names;	/* NULL: not known */
	size_t			 pt_first;	/* the kernel's own before it */
	bool			 pt_has_ret;	/* "ret" is what it returns */
	bool			 pt_no_args;	/* and all that is known */
};

/*
 * Where a walk stands.  Either a value is in hand (a word of the context, or
 * what the last load gave), or a place in memory: wk_pending bytes behind
 * the address in hand, not loaded yet.
 */
struct walk {
	const struct btf	*wk_btf;
	struct dtp_arg		*wk_load;
	__u32			 wk_type;	/* of value or place */
	bool			 wk_is_place;
	uint64_t		 wk_pending;
	uint32_t		 wk_bit_off, wk_bit_size;
	char			*wk_why;
	size_t			 wk_whysize;
};

static const struct btf_type *proto_of(const struct btf *btf, __u32 id);
static int	walk_fail(struct walk *walk, const char *fmt, ...)
		    PROF_PRINTF(2, 3);
static int	walk_load(struct walk *walk);
static int	walk_member(struct walk *walk, const char *name);
static int	walk_index(struct walk *walk, const char **path);
static int	walk_end(struct walk *walk);
static int	walk_end_pointer(struct walk *walk, __u32 target,
		    bool is_user);
static int	walk_end_integer(struct walk *walk,
		    const struct btf_type *type);
static const char *path_ident(const char *path, char *ident);
static int	proto_find(const struct prof_proto *proto, const char *name);

struct prof_proto *
prof_proto_open(struct prof_names *names, const char *tracepoint)
{
	const struct prof_tracepoint *tp;
	struct btf *btf = prof_names_btf(names);
	const struct btf_type *types, *named;
	struct prof_proto *proto;

	if (btf == NULL ||
	    (tp = prof_tracepoint_find(names, tracepoint)) == NULL)
		return (NULL);
	types = proto_of(btf, tp->tp_types);
	if (types == NULL || btf_vlen(types) == 0 ||
	    (proto = calloc(1, sizeof(*proto))) == NULL)
		return (NULL);
	proto->pt_btf = btf;
	proto->pt_types = types;
	proto->pt_first = 1;
	named = proto_of(btf, tp->tp_names);
	if (named != NULL && btf_vlen(named) == btf_vlen(types))
		proto->pt_names = named;
	return (proto);
}

/* Arguments in registers, one word each: others shift what follows them. */
static bool
are_words(const struct btf *btf, const struct btf_type *types)
{
	for (__u16 n = 0; n < btf_vlen(types); n++) {
		__u32 id = prof_type_plain(btf, btf_params(types)[n].type,
		    NULL);
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (type == NULL || btf_is_composite(type) ||
		    btf__resolve_size(btf, id) > 8)
			return (false);
	}
	return (true);
}

struct prof_proto *
prof_proto_of_function(struct prof_names *names, const char *function,
    bool has_ret, bool has_args)
{
	struct btf *btf = prof_names_btf(names);
	const struct btf_type *types;
	struct prof_proto *proto;
	__s32 id;

	if (btf == NULL || (id = btf__find_by_name_kind(btf, function,
	    BTF_KIND_FUNC)) <= 0 ||
	    (types = proto_of(btf, (__u32)id)) == NULL ||
	    !are_words(btf, types) ||
	    (proto = calloc(1, sizeof(*proto))) == NULL)
		return (NULL);
	proto->pt_btf = btf;
	proto->pt_types = proto->pt_names = types;
	proto->pt_has_ret = has_ret && types->type != 0;
	proto->pt_no_args = !has_args;
	return (proto);
}

void
prof_proto_close(struct prof_proto *proto)
{
	free(proto);
}

/* Through typedef, pointer and function to the prototype. */
static const struct btf_type *
proto_of(const struct btf *btf, __u32 id)
{
	const struct btf_type *type;

	for (int n = 0; n < TYPE_CHAIN; n++) {
		type = btf__type_by_id(btf, id);
		if (id == 0 || type == NULL)
			return (NULL);
		if (btf_is_func_proto(type))
			return (type);
		if (!btf_is_typedef(type) && !btf_is_ptr(type) &&
		    !btf_is_func(type))
			return (NULL);
		id = type->type;
	}
	return (NULL);
}

size_t
prof_proto_nargs(const struct prof_proto *proto)
{
	return (proto->pt_no_args ? 0 :
	    btf_vlen(proto->pt_types) - proto->pt_first);
}

/* NULL: the kernel does not tell. */
const char *
prof_proto_arg_name(const struct prof_proto *proto, size_t n)
{
	const char *name;

	if (proto->pt_names == NULL || n >= prof_proto_nargs(proto))
		return (NULL);
	name = btf__name_by_offset(proto->pt_btf,
	    btf_params(proto->pt_names)[n + proto->pt_first].name_off);
	return (name == NULL || name[0] == '\0' ? NULL : name);
}

/* By name; argN always works too. */
static int
proto_find(const struct prof_proto *proto, const char *name)
{
	size_t nargs = prof_proto_nargs(proto);
	const char *known;

	for (size_t n = 0; n < nargs; n++) {
		known = prof_proto_arg_name(proto, n);
		if (known != NULL && strcmp(known, name) == 0)
			return ((int)n);
	}
	if (strncmp(name, "arg", 3) == 0 && isdigit((unsigned char)name[3]) &&
	    strtoul(name + 3, NULL, 10) < nargs)
		return ((int)strtoul(name + 3, NULL, 10));
	return (-1);
}

int
prof_proto_path(const struct prof_proto *proto, const char *path,
    struct prof_arg *arg, char *why, size_t whysize)
{
	char ident[IDENT_MAX] = "", type[128];
	struct walk walk = { .wk_btf = proto->pt_btf,
	    .wk_load = &arg->ag_load, .wk_why = why, .wk_whysize = whysize };
	const char *at;
	int n;

	memset(arg, 0, sizeof(*arg));
	if ((at = path_ident(path, ident)) == NULL)
		return (walk_fail(&walk, "the argument does not start with a "
		    "name"));
	if (proto->pt_has_ret && strcmp(ident, "ret") == 0) {
		n = DTP_WORD_RET;
		walk.wk_type = proto->pt_types->type;
	} else {
		if ((n = proto_find(proto, ident)) == -1)
			return (walk_fail(&walk, "no such argument: '%s'",
			    ident));
		if (n >= DTP_WORD_RET)
			return (walk_fail(&walk, "too many arguments"));
		walk.wk_type = btf_params(proto->pt_types)[(size_t)n +
		    proto->pt_first].type;
	}
	arg->ag_load.ar_index = (__u8)n;
	while (*at != '\0') {
		if (*at == '[') {
			if (walk_index(&walk, &at) == -1)
				return (-1);
			continue;
		}
		at += at[0] == '-' && at[1] == '>' ? 2 : at[0] == '.' ? 1 : 0;
		if ((at = path_ident(at, ident)) == NULL)
			return (walk_fail(&walk,
			    "expected a name after -> or ."));
		if (walk_member(&walk, ident) == -1)
			return (-1);
	}
	prof_type_print(proto->pt_btf, walk.wk_type, type, sizeof(type));
	if (walk_end(&walk) == -1)
		return (-1);
	arg->ag_name = strdup(path);
	arg->ag_type = strdup(type);
	if (arg->ag_name == NULL || arg->ag_type == NULL) {
		prof_arg_fini(arg);
		return (walk_fail(&walk, "out of memory"));
	}
	return (0);
}

/* Copies one name; where it ends, or NULL when there is none. */
static const char *
path_ident(const char *path, char *ident)
{
	size_t length = 0;

	if (!isalpha((unsigned char)path[0]) && path[0] != '_')
		return (NULL);
	while (isalnum((unsigned char)path[length]) || path[length] == '_')
		length++;
	if (length >= IDENT_MAX || (path[length] != '\0' &&
	    path[length] != '.' && path[length] != '[' &&
	    (path[length] != '-' || path[length + 1] != '>')))
		return (NULL);
	memcpy(ident, path, length);
	ident[length] = '\0';
	return (path + length);
}

static int
walk_fail(struct walk *walk, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(walk->wk_why, walk->wk_whysize, fmt, ap);
	va_end(ap);
	return (-1);
}

/* Take the pointer at the place into the hand. */
static int
walk_load(struct walk *walk)
{
	struct dtp_arg *load = walk->wk_load;

	if (load->ar_nderef == DTP_MAX_DEREF)
		return (walk_fail(walk, "the path follows more than %d "
		    "pointers",
		    DTP_MAX_DEREF));
	if (walk->wk_pending > UINT32_MAX)
		return (walk_fail(walk, "the offset is too large"));
	load->ar_off[load->ar_nderef++] = (__u32)walk->wk_pending;
	walk->wk_pending = 0;
	walk->wk_is_place = false;
	return (0);
}

/*
 * A member, also one inside of anonymous structures.  Adds its offset to
 * bits; a bit-field has a width.
 */
static const struct btf_member *
member_find(const struct walk *walk, const struct btf_type *type,
    const char *name, uint32_t *bits, uint32_t *width)
{
	const struct btf *btf = walk->wk_btf;
	const struct btf_member *member = btf_members(type), *inner;
	const struct btf_type *plain;
	uint32_t at;

	for (__u16 n = 0; n < btf_vlen(type); n++, member++) {
		const char *known = btf__name_by_offset(btf,
		    member->name_off);

		at = *bits + btf_member_bit_offset(type, n);
		if (known != NULL && strcmp(known, name) == 0) {
			*bits = at;
			*width = btf_member_bitfield_size(type, n);
			return (member);
		}
		if (known != NULL && known[0] != '\0')
			continue;
		plain = btf__type_by_id(btf,
		    prof_type_plain(btf, member->type, NULL));
		if (plain == NULL || !btf_is_composite(plain))
			continue;
		/* The kernel's types are well-founded, so this ends. */
		inner = member_find(walk, plain, name, &at, width);
		if (inner != NULL) {
			*bits = at;
			return (inner);
		}
	}
	return (NULL);
}

static int
walk_member(struct walk *walk, const char *name)
{
	const struct btf *btf = walk->wk_btf;
	const struct btf_member *member;
	const struct btf_type *type;
	uint32_t bits = 0;
	char print[128];

	type = btf__type_by_id(btf, prof_type_plain(btf, walk->wk_type, NULL));
	if (type != NULL && btf_is_ptr(type)) {
		if (walk->wk_is_place && walk_load(walk) == -1)
			return (-1);
		walk->wk_type = type->type;
		walk->wk_is_place = true;
		type = btf__type_by_id(btf,
		    prof_type_plain(btf, walk->wk_type, NULL));
	}
	prof_type_print(btf, walk->wk_type, print, sizeof(print));
	if (type == NULL || !btf_is_composite(type) || walk->wk_bit_size != 0)
		return (walk_fail(walk, "%s has no members, so it has no "
		    "member '%s'",
		    print, name));
	if (!walk->wk_is_place)
		return (walk_fail(walk, "%s is passed by value, so its members "
		    "are not readable", print));
	member = member_find(walk, type, name, &bits, &walk->wk_bit_size);
	if (member == NULL)
		return (walk_fail(walk, "%s has no member '%s'", print,
		    name));
	walk->wk_bit_off = bits % 8;
	walk->wk_pending += bits / 8;
	walk->wk_type = member->type;
	return (0);
}

/* "[3]": into an array, or behind a pointer. */
static int
walk_index(struct walk *walk, const char **path)
{
	const struct btf_type *type;
	unsigned long index;
	__s64 size;
	char *end;

	index = strtoul(*path + 1, &end, 10);
	if (!isdigit((unsigned char)(*path)[1]) || *end != ']' ||
	    index > UINT16_MAX)
		return (walk_fail(walk, "[] needs a number, such as [0]"));
	*path = end + 1;
	type = btf__type_by_id(walk->wk_btf,
	    prof_type_plain(walk->wk_btf, walk->wk_type, NULL));
	if (type != NULL && btf_is_ptr(type)) {
		if (walk->wk_is_place && walk_load(walk) == -1)
			return (-1);
		walk->wk_is_place = true;
		walk->wk_type = type->type;
	} else if (type != NULL && btf_is_array(type) && walk->wk_is_place) {
		/* The last member of a structure may have any length. */
		if (btf_array(type)->nelems > 1 &&
		    index >= btf_array(type)->nelems)
			return (walk_fail(walk, "the array has %u elements",
			    btf_array(type)->nelems));
		walk->wk_type = btf_array(type)->type;
	} else
		return (walk_fail(walk, "[%lu] is possible only after an array "
		    "or pointer", index));
	size = btf__resolve_size(walk->wk_btf, walk->wk_type);
	if (size <= 0)
		return (walk_fail(walk, "the size of the array's elements is "
		    "unknown"));
	walk->wk_pending += index * (uint64_t)size;
	return (0);
}

/* The walk has arrived: how is what lies here recorded? */
static int
walk_end(struct walk *walk)
{
	const struct btf *btf = walk->wk_btf;
	const struct btf_type *type;
	bool is_user = false;
	char print[128];

	type = btf__type_by_id(btf, prof_type_plain(btf, walk->wk_type, NULL));
	if (type != NULL && btf_is_ptr(type)) {
		__u32 target = prof_type_plain(btf, type->type, &is_user);

		return (walk_end_pointer(walk, target, is_user));
	}
	if (type != NULL && btf_is_array(type) && walk->wk_is_place &&
	    prof_type_is_char(btf, btf_array(type)->type)) {
		walk->wk_load->ar_kind = DTP_A_CHARS;
		return (walk_load(walk));
	}
	if (type != NULL && (btf_is_int(type) || btf_is_any_enum(type)) &&
	    (type->size == 1 || type->size == 2 || type->size == 4 ||
	    type->size == 8))
		return (walk_end_integer(walk, type));
	prof_type_print(btf, walk->wk_type, print, sizeof(print));
	return (walk_fail(walk, "%s is neither a number nor a string", print));
}

static int
walk_end_pointer(struct walk *walk, __u32 target, bool is_user)
{
	struct dtp_arg *load = walk->wk_load;

	load->ar_kind = DTP_A_INT;
	if (prof_type_is_char(walk->wk_btf, target))
		load->ar_kind = is_user ? DTP_A_USTR : DTP_A_STR;
	load->ar_size = 8;
	return (walk->wk_is_place ? walk_load(walk) : 0);
}

static int
walk_end_integer(struct walk *walk, const struct btf_type *type)
{
	struct dtp_arg *load = walk->wk_load;
	uint64_t start;

	load->ar_kind = DTP_A_INT;
	load->ar_size = (__u8)type->size;
	load->ar_signed = btf_is_int(type) ?
	    (btf_int_encoding(type) & BTF_INT_SIGNED) != 0 :
	    btf_kflag(type);
	if (!walk->wk_is_place)
		return (0);
	if (walk->wk_bit_size != 0) {
		/* Load the aligned unit that holds the first bit. */
		start = walk->wk_pending / type->size * type->size;
		load->ar_bit_off = (__u8)((walk->wk_pending - start) * 8 +
		    walk->wk_bit_off);
		load->ar_bit_size = (__u8)walk->wk_bit_size;
		if (load->ar_bit_off + load->ar_bit_size > type->size * 8)
			return (walk_fail(walk, "the bit field spans two "
			    "words"));
		walk->wk_pending = start;
	}
	return (walk_load(walk));
}
