/* SPDX-License-Identifier: ISC */
/*
 * Which arguments a tracepoint records when nobody names any, and the list
 * of tracepoints with them.  Called by static.c and, through the table
 * of providers, by the catalog.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/names.h"

static uint32_t	args_of_table(const struct prof_proto *proto,
		    const char *event, const char *format,
		    struct prof_arg *args);
static uint32_t	args_of_proto(const struct prof_proto *proto,
		    struct prof_arg *args);
static bool	format_has(const char *format, const char *field);
static void	missing_fields(const char *event, const char *format,
		    char *text, size_t size);

uint32_t
prof_static_args(struct prof_names *names, const struct prof_tracepoint *tp,
    struct prof_arg *args, char *missing, size_t size)
{
	struct prof_proto *proto = prof_proto_open(names, tp->tp_name);
	char path[512], *format = NULL;
	uint32_t nargs = 0;

	if (prof_field_at(tp->tp_name, 0) != NULL) {
		snprintf(path, sizeof(path), "events/%s/%s/format",
		    tp->tp_group, tp->tp_name);
		format = prof_names_tracefs_read(names, path);
	}
	if (proto != NULL)
		nargs = args_of_table(proto, tp->tp_name, format, args);
	if (proto != NULL && nargs == 0)
		nargs = args_of_proto(proto, args);
	if (missing != NULL)
		missing_fields(tp->tp_name, format, missing, size);
	free(format);
	prof_proto_close(proto);
	return (nargs);
}

static uint32_t
args_of_table(const struct prof_proto *proto, const char *event,
    const char *format, struct prof_arg *args)
{
	const struct prof_field *field;
	char why[160], *name;
	uint32_t nargs = 0;

	for (size_t n = 0; nargs < DTP_MAX_ARGS &&
	    (field = prof_field_at(event, n)) != NULL; n++) {
		if (field->fd_path == NULL || (field->fd_why == NULL &&
		    !format_has(format, field->fd_field)))
			continue;
		if (nargs != 0 && strcmp(args[nargs - 1].ag_name,
		    field->fd_field) == 0)
			continue;
		if (prof_proto_path(proto, field->fd_path, &args[nargs], why,
		    sizeof(why)) == -1)
			continue;
		if ((name = strdup(field->fd_field)) == NULL) {
			prof_arg_fini(&args[nargs]);
			break;
		}
		free(args[nargs].ag_name);
		args[nargs++].ag_name = name;
	}
	return (nargs);
}

/* Without a format every field is believed to be there. */
static bool
format_has(const char *format, const char *field)
{
	size_t length = strlen(field);
	const char *at = format;

	if (format == NULL)
		return (true);
	while ((at = strstr(at, field)) != NULL) {
		if (at != format && at[-1] == ' ' &&
		    (at[length] == ';' || at[length] == '['))
			return (true);
		at += length;
	}
	return (false);
}

/* Structures passed by value and floats are left out. */
static uint32_t
args_of_proto(const struct prof_proto *proto, struct prof_arg *args)
{
	uint32_t nargs = 0;
	char why[160], number[32];

	for (size_t n = 0; n < prof_proto_nargs(proto) &&
	    nargs < DTP_MAX_ARGS; n++) {
		const char *name = prof_proto_arg_name(proto, n);

		if (name == NULL) {
			snprintf(number, sizeof(number), "arg%zu", n);
			name = number;
		}
		if (prof_proto_path(proto, name, &args[nargs], why,
		    sizeof(why)) == 0)
			nargs++;
	}
	return (nargs);
}

/* For the description: what the format has and we cannot give. */
static void
missing_fields(const char *event, const char *format, char *text, size_t size)
{
	const struct prof_field *field;
	size_t used = 0;

	text[0] = '\0';
	for (size_t n = 0; (field = prof_field_at(event, n)) != NULL; n++) {
		if (field->fd_path != NULL || used >= size ||
		    !format_has(format, field->fd_field))
			continue;
		used += (size_t)snprintf(text + used, size - used,
		    "%s%s (%s)", used == 0 ? "not available: " : ", ",
		    field->fd_field, field->fd_why);
	}
}

int
prof_static_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	struct prof_arg args[DTP_MAX_ARGS];
	const struct prof_tracepoint *tps;
	char probe[512], alias[512], desc[512];
	size_t ntps;
	int rv = 0;

	tps = prof_tracepoints(names, &ntps);
	if (ntps == 0)
		*why = "no tracepoints: neither tracefs nor "
		    "/sys/kernel/btf/vmlinux can be read";
	for (size_t n = 0; rv == 0 && n < ntps; n++) {
		struct prof_probe about = { .pp_probe = probe,
		    .pp_alias = alias, .pp_desc = desc };

		snprintf(probe, sizeof(probe), "static:%s::%s",
		    tps[n].tp_group, tps[n].tp_name);
		alias[0] = '\0';
		if (tps[n].tp_group[0] != '\0')
			snprintf(alias, sizeof(alias), "%s:%s",
			    tps[n].tp_group, tps[n].tp_name);
		if (!prof_listing_wants(names, probe, alias))
			continue;
		memset(args, 0, sizeof(args));
		about.pp_nargs = prof_static_args(names, &tps[n], args, desc,
		    sizeof(desc));
		for (uint32_t a = 0; a < about.pp_nargs; a++) {
			about.pp_arg_names[a] = args[a].ag_name;
			about.pp_arg_types[a] = args[a].ag_type;
		}
		rv = fn(arg, &about);
		for (uint32_t a = 0; a < about.pp_nargs; a++)
			prof_arg_fini(&args[a]);
	}
	return (rv);
}
