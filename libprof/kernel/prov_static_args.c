/* SPDX-License-Identifier: ISC */
/*
 * Which arguments a tracepoint records when nobody names any, and the list
 * of tracepoints with them.  Called by prov_static.c and, through the table
 * of providers, by the catalog.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"

static uint32_t	args_of_table(const struct prof_proto *proto,
		    const char *event, struct prof_arg *args);
static uint32_t	args_of_proto(const struct prof_proto *proto,
		    struct prof_arg *args);
static void	missing_fields(const char *event, char *desc, size_t size);

/* Fills up to DTP_MAX_ARGS arguments; how many. */
uint32_t
prof_static_args(const struct prof_proto *proto, const char *event,
    struct prof_arg *args)
{
	uint32_t nargs = args_of_table(proto, event, args);

	return (nargs != 0 ? nargs : args_of_proto(proto, args));
}

/* A field whose path this kernel does not have is left out. */
static uint32_t
args_of_table(const struct prof_proto *proto, const char *event,
    struct prof_arg *args)
{
	const struct prof_field *field;
	char why[160], *name;
	uint32_t nargs = 0;

	for (size_t n = 0; nargs < DTP_MAX_ARGS &&
	    (field = prof_field_at(event, n)) != NULL; n++) {
		if (field->fd_path == NULL || prof_proto_path(proto,
		    field->fd_path, &args[nargs], why, sizeof(why)) == -1)
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
missing_fields(const char *event, char *desc, size_t size)
{
	const struct prof_field *field;
	size_t used = 0;

	desc[0] = '\0';
	for (size_t n = 0; (field = prof_field_at(event, n)) != NULL; n++) {
		if (field->fd_path != NULL || used >= size)
			continue;
		used += (size_t)snprintf(desc + used, size - used,
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
	struct prof_proto *proto;
	char probe[512], alias[512], desc[512];
	size_t ntps;
	int rv = 0;

	tps = prof_tracepoints(names, &ntps);
	if (ntps == 0)
		*why = "this kernel shows no tracepoints: neither tracefs nor "
		    "/sys/kernel/btf/vmlinux can be read";
	for (size_t n = 0; rv == 0 && n < ntps; n++) {
		struct prof_probe about = { .pp_probe = probe,
		    .pp_alias = alias, .pp_desc = desc };

		snprintf(probe, sizeof(probe), "static:%s::%s",
		    tps[n].tp_group, tps[n].tp_name);
		snprintf(alias, sizeof(alias), "%s%s%s", tps[n].tp_group,
		    tps[n].tp_group[0] == '\0' ? "" : ":",
		    tps[n].tp_group[0] == '\0' ? "" : tps[n].tp_name);
		if (!prof_listing_wants(names, probe, alias))
			continue;
		missing_fields(tps[n].tp_name, desc, sizeof(desc));
		memset(args, 0, sizeof(args));
		proto = prof_proto_open(names, tps[n].tp_name);
		if (proto != NULL)
			about.pp_nargs = prof_static_args(proto,
			    tps[n].tp_name, args);
		for (uint32_t a = 0; a < about.pp_nargs; a++) {
			about.pp_arg_names[a] = args[a].ag_name;
			about.pp_arg_types[a] = args[a].ag_type;
		}
		rv = fn(arg, &about);
		for (uint32_t a = 0; a < about.pp_nargs; a++)
			prof_arg_fini(&args[a]);
		prof_proto_close(proto);
	}
	return (rv);
}
