/* SPDX-License-Identifier: ISC */
/*
 * Descriptions of system calls, see call.h.  The text may come from anybody's
 * file: what does not look like one is none.
 */
#include <stdlib.h>
#include <string.h>

#include "abi/dtp_abi.h"
#include "call.h"

#define CALL_TEXT_MAX	512

int
prof_syscall_of_key(const char *key)
{
	const size_t length = sizeof(PROF_CALL_KEY) - 1;
	unsigned long number;
	char *end;

	if (strncmp(key, PROF_CALL_KEY, length) != 0 ||
	    key[length] < '0' || key[length] > '9')
		return (-1);
	number = strtoul(key + length, &end, 10);
	return (*end == '\0' && number < DTP_MAX_SYSCALL ? (int)number : -1);
}

/* A file descriptor is -1 at times, also where its type is unsigned. */
static bool
is_descriptor(const char *name)
{
	const size_t length = strlen(name);

	return (length >= 2 && strcmp(name + length - 2, "fd") == 0);
}

void
prof_syscall_type(const char *type, const char *name, uint8_t *size,
    bool *is_signed)
{
	static const struct {
		const char	*rt_type;
		uint8_t		 rt_size;
		bool		 rt_signed;
	} types[] = {
		{ "int", 4, true }, { "pid_t", 4, true },
		{ "clockid_t", 4, true }, { "timer_t", 4, true },
		{ "key_t", 4, true }, { "mqd_t", 4, true },
		{ "key_serial_t", 4, true }, { "rwf_t", 4, true },
		{ "__s32", 4, true }, { "const clockid_t", 4, true },
		{ "enum landlock_rule_type", 4, false },
		{ "const int", 4, true }, { "unsigned int", 4, false },
		{ "unsigned", 4, false }, { "u32", 4, false },
		{ "__u32", 4, false }, { "uid_t", 4, false },
		{ "gid_t", 4, false }, { "qid_t", 4, false },
		{ "const __u32", 4, false }, { "umode_t", 2, false },
		{ "u16", 2, false }, { "long", 8, true },
		{ "loff_t", 8, true }, { "off_t", 8, true },
	};

	*size = 8;
	*is_signed = false;
	for (size_t n = 0; n < sizeof(types) / sizeof(types[0]); n++) {
		if (strcmp(types[n].rt_type, type) != 0)
			continue;
		*size = types[n].rt_size;
		*is_signed = types[n].rt_signed ||
		    (types[n].rt_size == 4 && is_descriptor(name));
		return;
	}
}

uint64_t
prof_syscall_cut(const struct prof_syscall *call, uint32_t arg, uint64_t value)
{
	const unsigned shift = 64 - 8U * call->cl_arg_size[arg];

	value <<= shift;
	return (call->cl_arg_is_signed[arg] ?
	    (uint64_t)((int64_t)value >> shift) : value >> shift);
}

/* "int dfd": the name is the last word.  In place. */
static bool
call_argument(struct prof_syscall *call, char *text)
{
	const uint32_t n = call->cl_nargs;
	char *space = strrchr(text, ' ');
	bool is_signed;

	if (space == NULL || space == text || space[1] == '\0' ||
	    n == PROF_CALL_ARGS)
		return (false);
	*space = '\0';
	call->cl_arg_types[n] = text;
	call->cl_arg_names[n] = space + 1;
	prof_syscall_type(text, space + 1, &call->cl_arg_size[n], &is_signed);
	call->cl_arg_is_signed[n] = is_signed;
	call->cl_nargs++;
	return (true);
}

struct prof_syscall *
prof_syscall_parse(const char *text)
{
	const size_t length = strnlen(text, CALL_TEXT_MAX);
	struct prof_syscall *call;
	char *at, *arg, *end;

	if (length == 0 || length == CALL_TEXT_MAX)
		return (NULL);
	if ((call = calloc(1, sizeof(*call) + length + 1)) == NULL)
		return (NULL);
	at = memcpy(call + 1, text, length + 1);
	call->cl_name = at;
	/* A name alone: what its arguments are is not known. */
	call->cl_args_known = (end = strchr(at, '(')) != NULL;
	if (end == NULL)
		return (call);
	*end++ = '\0';
	if (call->cl_name[0] == '\0' || (at = strrchr(end, ')')) == NULL ||
	    at[1] != '\0')
		goto bad;
	*at = '\0';
	for (at = end; at != NULL && *at != '\0'; at = end) {
		arg = at;
		if ((end = strstr(at, ", ")) != NULL) {
			*end = '\0';
			end += 2;
		}
		if (!call_argument(call, arg))
			goto bad;
	}
	return (call);
bad:
	free(call);
	return (NULL);
}
