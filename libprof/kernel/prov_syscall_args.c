/* SPDX-License-Identifier: ISC */
/*
 * Names and types of the arguments of syscalls, from tracefs where it can be
 * read, else arg0 to arg5; and the list of syscalls.  Slot 0 is always the
 * number.  Called by prov_syscall.c and, through the table of providers, by
 * the catalog.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define SYSCALL_ARGS	6

static int	arg_set(struct prof_arg *arg, const char *name,
		    const char *type, unsigned word);
static uint32_t	args_of_format(struct prof_names *names, const char *name,
		    struct prof_arg *args);
static bool	format_field(char *line, char **type, char **name);

/*
 * All slots of an event: number, then return value or arguments.  A name of
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
	if (name != NULL && (nargs = args_of_format(names, name, args)) != 0)
		return (nargs);
	for (nargs = 1; nargs <= SYSCALL_ARGS; nargs++) {
		snprintf(number, sizeof(number), "arg%u", nargs - 1);
		if (arg_set(&args[nargs], number, "long", nargs) == -1)
			break;
	}
	return (nargs);
}

/* How the kernel takes a register of this type. */
static const struct {
	const char	*rt_type;
	uint8_t		 rt_size;
	bool		 rt_signed;
} register_types[] = {
	{ "int", 4, true }, { "pid_t", 4, true }, { "clockid_t", 4, true },
	{ "timer_t", 4, true }, { "key_t", 4, true }, { "mqd_t", 4, true },
	{ "key_serial_t", 4, true }, { "rwf_t", 4, true },
	{ "__s32", 4, true }, { "const clockid_t", 4, true },
	{ "enum landlock_rule_type", 4, false }, { "const int", 4, true },
	{ "unsigned int", 4, false }, { "unsigned", 4, false },
	{ "u32", 4, false }, { "__u32", 4, false }, { "uid_t", 4, false },
	{ "gid_t", 4, false }, { "qid_t", 4, false },
	{ "const __u32", 4, false },
	{ "umode_t", 2, false }, { "u16", 2, false },
	{ "long", 8, true }, { "loff_t", 8, true }, { "off_t", 8, true },
};

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

	memset(arg, 0, sizeof(*arg));
	arg->ag_name = strdup(name);
	arg->ag_type = strdup(type);
	if (arg->ag_name == NULL || arg->ag_type == NULL) {
		prof_arg_fini(arg);
		return (-1);
	}
	load->ar_kind = DTP_A_INT;
	load->ar_index = (__u8)word;
	load->ar_size = 8;
	for (size_t n = 0; n < sizeof(register_types) /
	    sizeof(register_types[0]); n++)
		if (strcmp(register_types[n].rt_type, type) == 0) {
			load->ar_size = register_types[n].rt_size;
			load->ar_signed = register_types[n].rt_signed;
		}
	if (strcmp(type, "const char *") != 0 && strcmp(type, "char *") != 0)
		return (0);
	for (size_t n = 0; n < sizeof(path_names) / sizeof(path_names[0]);
	    n++)
		if (strcmp(path_names[n], name) == 0)
			load->ar_kind = DTP_A_USTR;
	return (0);
}

static uint32_t
args_of_format(struct prof_names *names, const char *name,
    struct prof_arg *args)
{
	char path[256], *text, *rest, *line, *type, *field;
	uint32_t nargs = 1;

	snprintf(path, sizeof(path), "events/syscalls/sys_enter_%s/format",
	    prof_syscall_to_tracefs(name));
	if ((text = rest = prof_names_tracefs_read(names, path)) == NULL)
		return (0);
	while ((line = strsep(&rest, "\n")) != NULL &&
	    nargs <= SYSCALL_ARGS) {
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
	for (unsigned n = 0; rv == 0 && n < 2 * DTP_MAX_SYSCALL; n++) {
		struct prof_probe about = { .pp_probe = probe,
		    .pp_alias = alias, .pp_desc = "" };

		if ((name = prof_syscall_name(n / 2)) == NULL)
			continue;
		snprintf(probe, sizeof(probe), "syscall::%s:%s", name,
		    n % 2 ? "return" : "entry");
		snprintf(alias, sizeof(alias), "syscalls:sys_%s_%s",
		    n % 2 ? "exit" : "enter", prof_syscall_to_tracefs(name));
		if (!prof_listing_wants(names, probe, alias))
			continue;
		memset(args, 0, sizeof(args));
		nargs = prof_syscall_args(names, name, n % 2, args);
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
