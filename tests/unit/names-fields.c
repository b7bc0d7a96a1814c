/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: every row of the table of fields agrees with this kernel: its
 * path resolves, and what is loaded has the size and the sign of the format's
 * field; and no field of an event in the table is without a row.
 *
 * Easy to get wrong: a renamed member resolves no more and the field silently
 * disappears; a wider or signed member under the same name reads nonsense.
 */
#include <ctype.h>

#include "names.h"

/* CPU numbers and counts are unsigned in the kernel, int in the format. */
static const char *const small_numbers[] = {
	"target_cpu", "orig_cpu", "nr_rq"
};

struct format_field {
	char		name[64], type[64];
	unsigned	size;
	bool		is_signed;
};

/* "field:TYPE NAME[16];\toffset:8;\tsize:16;\tsigned:0;" */
static bool
read_field(char *line, struct format_field *field)
{
	char *at = strstr(line, "field:"), *end, *name;
	int is_signed;

	if (at == NULL || (end = strchr(at, ';')) == NULL)
		return (false);
	*end = '\0';
	CHECK(sscanf(end + 1, " offset:%*u; size:%u; signed:%d",
	    &field->size, &is_signed) == 2, "%s", end + 1);
	field->is_signed = is_signed;
	name = strrchr(at, ' ') + 1;
	snprintf(field->name, sizeof(field->name), "%.*s",
	    (int)strcspn(name, "["), name);
	snprintf(field->type, sizeof(field->type), "%.*s%s",
	    (int)(name - at - 7), at + 6, strchr(name, '[') ? "[]" : "");
	return (strncmp(field->name, "common_", 7) != 0);
}

static void
check_load(const char *event, const struct format_field *field,
    const struct prof_arg *arg)
{
	const struct dtp_arg *load = &arg->ag_load;

	if (strstr(field->type, "__data_loc") != NULL ||
	    strcmp(field->type, "char[]") == 0) {
		CHECK(load->ar_kind != DTP_A_INT, "%s:%s is a text", event,
		    field->name);
		return;
	}
	CHECK(load->ar_kind == DTP_A_INT, "%s:%s is a number", event,
	    field->name);
	for (size_t n = 0; n < 3; n++)
		if (strcmp(small_numbers[n], field->name) == 0)
			return;
	if (load->ar_bit_size != 0) {
		CHECK(load->ar_bit_size <= field->size * 8 &&
		    !field->is_signed, "%s:%s", event, field->name);
		return;
	}
	/* Either the same, or a narrower unsigned one. */
	CHECK((load->ar_size == field->size &&
	    load->ar_signed == field->is_signed) ||
	    (load->ar_size < field->size && !load->ar_signed),
	    "%s:%s (%s): loaded are %u bytes, signed %u; the format has %u, "
	    "%d", event, field->name, arg->ag_type, load->ar_size,
	    load->ar_signed, field->size, field->is_signed);
}

/* How many rows of this field were held against the kernel. */
static unsigned
check_field(const char *event, const struct prof_proto *proto,
    const struct format_field *field)
{
	const struct prof_field *row;
	struct prof_arg arg;
	char why[160] = "";
	bool has_row = false, reasoned = false;

	for (size_t n = 0; (row = prof_field_at(event, n)) != NULL; n++) {
		if (strcmp(row->fd_field, field->name) != 0)
			continue;
		has_row = true;
		if (row->fd_path == NULL) {
			reasoned = row->fd_why != NULL;
			continue;
		}
		if (prof_proto_path(proto, row->fd_path, &arg, why,
		    sizeof(why)) == -1)
			continue;
		check_load(event, field, &arg);
		prof_arg_fini(&arg);
		return (1);
	}
	CHECK(has_row, "%s:%s has no row", event, field->name);
	CHECK(reasoned, "%s:%s: %s", event, field->name, why);
	return (0);
}

static unsigned
check_event(struct prof_names *names, const struct prof_tracepoint *tp)
{
	struct prof_proto *proto = prof_proto_open(names, tp->tp_name);
	struct format_field field;
	char path[256], *text, *rest, *line;
	unsigned checked = 0;

	CHECK(proto != NULL, "%s has no prototype", tp->tp_name);
	snprintf(path, sizeof(path), "events/%s/%s/format", tp->tp_group,
	    tp->tp_name);
	text = rest = prof_names_tracefs_read(names, path);
	CHECK(text != NULL, "%s", path);
	while ((line = strsep(&rest, "\n")) != NULL)
		if (read_field(line, &field))
			checked += check_field(tp->tp_name, proto, &field);
	free(text);
	prof_proto_close(proto);
	return (checked);
}

int
main(void)
{
	struct prof_names *names = open_names();
	const struct prof_tracepoint *tp;
	unsigned events = 0, fields = 0;
	const char *event;

	if (prof_names_tracefs(names) == -1 || prof_names_btf(names) == NULL)
		skip("needs tracefs and BTF");
	for (size_t n = 0; (event = prof_field_event(n)) != NULL; n++) {
		tp = prof_tracepoint_find(names, event);
		if (tp == NULL || tp->tp_group[0] == '\0')
			continue;
		events++;
		fields += check_event(names, tp);
	}
	CHECK(events >= 20 && fields >= 60, "%u events, %u fields", events,
	    fields);
	prof_names_close(names);
	return (passed());
}
