/* SPDX-License-Identifier: ISC */
/*
 * Names and types of the arguments of syscalls, from tracefs where it can be
 * read, else arg0 to arg5; and the list of syscalls.  Slot 0 is always the
 * number.  Called by syscall.c and, through the table of providers, by
 * the catalog.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "events/call.h"
#include "events/names.h"

#define SYSCALL_ARGS	PROF_CALL_ARGS

static int	arg_set(struct prof_arg *arg, const char *name,
		    const char *type, unsigned word);
static bool	type_is_text(const char *type, const char *name);
static uint32_t	args_of_format(struct prof_names *names, const char *name,
		    struct prof_arg *args, uint32_t nargs);
static bool	format_field(char *line, char **type, char **name);

/*
 * All slots of a half: number, then return value or arguments.  A name of
 * NULL stands for several syscalls.  0: no memory.
 */
uint32_t
prof_syscall_args(struct prof_names *names, const char *name, int is_return,
    struct prof_arg *args)
{
	char number[8];
	uint32_t nargs;

	if (arg_set(&args[0], "nr", "int", 0) == -1)
		return (0);
	if (is_return)
		return (arg_set(&args[1], "ret", "long", 1) == -1 ? 1 : 2);
	if (name != NULL && (nargs = args_of_format(names, name, args, 1)) !=
	    0)
		return (nargs);
	for (nargs = 1; nargs <= SYSCALL_ARGS; nargs++) {
		snprintf(number, sizeof(number), "arg%u", nargs - 1);
		if (arg_set(&args[nargs], number, "long", nargs) == -1)
			break;
	}
	return (nargs);
}

/*
 * All slots of a call: number, return value, arguments.  They are registers;
 * text comes behind them.
 */
uint32_t
prof_syscall_call_args(struct prof_names *names, const char *name,
    struct prof_arg *args)
{
	char number[8];
	uint32_t nargs, known = 0;

	if (arg_set(&args[0], "nr", "int", 0) == -1)
		return (0);
	if (arg_set(&args[1], "ret", "long", 1) == -1)
		return (1);
	nargs = 2;
	if (name != NULL)
		known = args_of_format(names, name, args, nargs);
	if (known != 0)
		nargs = known;
	for (; known == 0 && nargs < SYSCALL_ARGS + 2; nargs++) {
		snprintf(number, sizeof(number), "arg%u", nargs - 2);
		if (arg_set(&args[nargs], number, "long", nargs) == -1)
			break;
	}
	for (uint32_t n = 2; n < nargs; n++) {
		args[n].ag_is_text =
		    args[n].ag_load.ar_kind == DTP_A_USTR;
		args[n].ag_load.ar_kind = DTP_A_INT;
	}
	return (nargs);
}

/* "read(unsigned int fd, char * buf, size_t count)"; owned by caller. */
char *
prof_syscall_describe(struct prof_names *names, const char *name)
{
	struct prof_arg args[DTP_MAX_ARGS];
	/* The first slot is left free, so that 0 means not known. */
	const uint32_t nargs = args_of_format(names, name, args, 1);
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);

	if (stream != NULL)
		fprintf(stream, "%s%s", name, nargs != 0 ? "(" : "");
	for (uint32_t n = 1; n < nargs; n++) {
		if (stream != NULL)
			fprintf(stream, "%s%s %s", n == 1 ? "" : ", ",
			    args[n].ag_type, args[n].ag_name);
		prof_arg_fini(&args[n]);
	}
	if (stream != NULL && nargs != 0)
		putc(')', stream);
	if (stream == NULL || fclose(stream) != 0) {
		free(text);
		return (NULL);
	}
	return (text);
}

/* DTP_CALL_*: what a program has to know of a call. */
uint8_t
prof_syscall_about(struct prof_names *names, const char *name)
{
	static const char *const forks[] = {
		"clone", "clone3", "fork", "vfork"
	};
	struct prof_arg args[DTP_MAX_ARGS];
	const uint32_t nargs = args_of_format(names, name, args, 1);
	unsigned about = 0, ntexts = 0;

	for (uint32_t n = 1; n < nargs; n++) {
		if (args[n].ag_load.ar_kind == DTP_A_USTR &&
		    ntexts < DTP_CALL_TEXTS)
			about |= n << ntexts++ * DTP_CALL_TEXT_BITS;
		prof_arg_fini(&args[n]);
	}
	for (size_t n = 0; n < sizeof(forks) / sizeof(forks[0]); n++)
		if (strcmp(forks[n], name) == 0)
			about |= DTP_CALL_FORKS;
	if (strncmp(name, "execve", 6) == 0)
		about |= DTP_CALL_EXECS;
	return ((uint8_t)about);
}

/* Texts that the kernel takes as names of things. */
static const char *const path_names[] = {
	"filename", "pathname", "path", "name", "oldname", "newname",
	"dev_name", "dir_name", "fs_name", "_fs_name", "specialfile",
	"special", "library", "new_root", "put_old", "uname", "from_pathname",
	"to_pathname", "u_name", "_description", "_type",
};

static int
arg_set(struct prof_arg *arg, const char *name, const char *type,
    unsigned word)
{
	struct dtp_arg *load = &arg->ag_load;
	bool is_signed;

	memset(arg, 0, sizeof(*arg));
	arg->ag_name = strdup(name);
	arg->ag_type = strdup(type);
	if (arg->ag_name == NULL || arg->ag_type == NULL) {
		prof_arg_fini(arg);
		return (-1);
	}
	load->ar_kind = type_is_text(type, name) ? DTP_A_USTR : DTP_A_INT;
	load->ar_index = (__u8)word;
	prof_syscall_type(type, name, &load->ar_size, &is_signed);
	load->ar_signed = is_signed;
	return (0);
}

static bool
type_is_text(const char *type, const char *name)
{
	if (strcmp(type, "const char *") != 0 && strcmp(type, "char *") != 0)
		return (false);
	for (size_t n = 0; n < sizeof(path_names) / sizeof(path_names[0]);
	    n++)
		if (strcmp(path_names[n], name) == 0)
			return (true);
	return (false);
}

static char *
format_read(struct prof_names *names, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "events/syscalls/sys_enter_%s/format",
	    prof_syscall_to_tracefs(name));
	return (prof_names_tracefs_read(names, path));
}

/* Behind those that are there; 0: it is not known. */
static uint32_t
args_of_format(struct prof_names *names, const char *name,
    struct prof_arg *args, uint32_t nargs)
{
	const uint32_t most = nargs + SYSCALL_ARGS;
	char *text, *rest, *line, *type, *field;

	if ((text = rest = format_read(names, name)) == NULL)
		return (0);
	while ((line = strsep(&rest, "\n")) != NULL && nargs < most) {
		if (!format_field(line, &type, &field) ||
		    strncmp(field, "common_", 7) == 0 ||
		    strcmp(field, "__syscall_nr") == 0)
			continue;
		if (arg_set(&args[nargs], field, type, nargs) == -1)
			break;
		nargs++;
	}
	free(text);
	return (nargs);
}

/* "\tfield:const char * filename;\toffset:..." in place. */
static bool
format_field(char *line, char **type, char **name)
{
	char *at = strstr(line, "field:"), *end;

	if (at == NULL || (end = strchr(at, ';')) == NULL)
		return (false);
	*end = '\0';
	*type = at + 6;
	if ((*name = strrchr(at, ' ')) == NULL)
		return (false);
	*(*name)++ = '\0';
	/* Newer kernels add the text that a pointer points at. */
	return (strchr(*name, '[') == NULL &&
	    strncmp(*type, "__data_loc", 10) != 0);
}

int
prof_syscall_list(struct prof_names *names, prof_list_fn *fn, void *arg,
    const char **why)
{
	struct prof_arg args[DTP_MAX_ARGS];
	char probe[160], alias[160];
	const char *name;
	uint32_t nargs;
	int rv = 0;

	(void)why;
	for (unsigned n = 0; rv == 0 && n < 3 * DTP_MAX_SYSCALL; n++) {
		static const char *const halves[] = {
			"", ":entry", ":return"
		};
		struct prof_probe about = { .pp_probe = probe,
		    .pp_alias = alias, .pp_desc = "" };
		const unsigned half = n % 3;

		if ((name = prof_syscall_name(n / 3)) == NULL)
			continue;
		snprintf(probe, sizeof(probe), "syscall:%s%s", name,
		    halves[half]);
		alias[0] = '\0';
		if (half != 0)
			snprintf(alias, sizeof(alias), "syscalls:sys_%s_%s",
			    half == 2 ? "exit" : "enter",
			    prof_syscall_to_tracefs(name));
		if (!prof_listing_wants(names, probe, alias))
			continue;
		memset(args, 0, sizeof(args));
		nargs = half == 0 ?
		    prof_syscall_call_args(names, name, args) :
		    prof_syscall_args(names, name, half == 2, args);
		about.pp_nargs = nargs;
		for (uint32_t a = 0; a < nargs; a++) {
			about.pp_arg_names[a] = args[a].ag_name;
			about.pp_arg_types[a] = args[a].ag_type;
		}
		rv = fn(arg, &about);
		for (uint32_t a = 0; a < nargs; a++)
			prof_arg_fini(&args[a]);
	}
	return (rv);
}
