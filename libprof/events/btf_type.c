/* SPDX-License-Identifier: ISC */
/*
 * Small questions about one type of the kernel: what is behind its typedefs
 * and qualifiers, is it char, and how C writes it.  Called by btf.c while it
 * walks a path; keeps nothing.
 */
#include <bpf/btf.h>

#include <stdio.h>
#include <string.h>

#include "names.h"

#define TYPE_CHAIN	32	/* typedefs and qualifiers in a row */

/* Through typedefs and qualifiers; 0 when there is nothing behind them. */
uint32_t
prof_type_plain(const struct btf *btf, __u32 id, bool *is_user)
{
	const struct btf_type *type;

	for (int n = 0; n < TYPE_CHAIN; n++) {
		type = btf__type_by_id(btf, id);
		if (type == NULL)
			return (0);
		switch (btf_kind(type)) {
		case BTF_KIND_TYPE_TAG:
			if (is_user != NULL && strcmp(btf__name_by_offset(btf,
			    type->name_off), "user") == 0)
				*is_user = true;
			/* FALLTHROUGH */
		case BTF_KIND_TYPEDEF:
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
		case BTF_KIND_RESTRICT:
			id = type->type;
			break;
		default:
			return (id);
		}
	}
	return (0);
}

/* A name too long for its place is cut: nothing is decided by it. */
static void __attribute__((format(printf, 3, 4)))
type_put(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(out, size, fmt, ap);
	va_end(ap);
}

/* As C writes it, near enough to be read: "const struct task_struct *". */
void
prof_type_print(const struct btf *btf, __u32 id, char *out, size_t size)
{
	const struct btf_type *type = btf__type_by_id(btf, id);
	const char *name, *kind = "";
	char inner[128];

	if (id == 0 || type == NULL) {
		type_put(out, size, "void");
		return;
	}
	name = btf__name_by_offset(btf, type->name_off);
	switch (btf_kind(type)) {
	case BTF_KIND_PTR:
		prof_type_print(btf, type->type, inner, sizeof(inner));
		type_put(out, size, "%s%s*", inner,
		    inner[strlen(inner) - 1] == '*' ? "" : " ");
		return;
	case BTF_KIND_CONST:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_TYPE_TAG:
		prof_type_print(btf, type->type, inner, sizeof(inner));
		type_put(out, size, "%s%s",
		    btf_is_const(type) ? "const " : "", inner);
		return;
	case BTF_KIND_ARRAY:
		prof_type_print(btf, btf_array(type)->type, inner,
		    sizeof(inner));
		type_put(out, size, "%s[%u]", inner,
		    btf_array(type)->nelems);
		return;
	case BTF_KIND_FUNC_PROTO:
		type_put(out, size, "function");
		return;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FWD:
		kind = btf_is_union(type) ? "union " : "struct ";
		break;
	case BTF_KIND_ENUM:
	case BTF_KIND_ENUM64:
		kind = "enum ";
		break;
	}
	type_put(out, size, "%s%s", kind,
	    name == NULL || name[0] == '\0' ? "(anonymous)" : name);
}

bool
prof_type_is_char(const struct btf *btf, __u32 id)
{
	const struct btf_type *type;

	type = btf__type_by_id(btf, prof_type_plain(btf, id, NULL));
	return (type != NULL && btf_is_int(type) && type->size == 1 &&
	    strcmp(btf__name_by_offset(btf, type->name_off), "char") == 0);
}
