/* SPDX-License-Identifier: ISC */
/*
 * Arguments of probes in programs: argN by number, str(argN) for the text that
 * it points to, and ret, what a function returns.  A static probe tells its
 * own; of a function they are the registers in which the machine's ABI passes
 * the first six words, all 64 bits.  What debug information says of a function
 * has names and types.
 *
 * Called by uprobe.c for each place of an event: which arguments there are is
 * the event's, where they are the place's.
 */
#include <asm/ptrace.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "uprobe_impl.h"

/* As struct pt_regs has them. */
#if defined(__x86_64__)
static const uint16_t abi_registers[] = { 112, 104, 96, 88, 72, 64 };
#define ABI_RET		80
#define REGISTERS	sizeof(struct pt_regs)
#else
static const uint16_t abi_registers[] = { 0, 8, 16, 24, 32, 40 };
#define ABI_RET		0
#define REGISTERS	sizeof(struct user_pt_regs)
#endif

#define ABI_ARGS	(sizeof(abi_registers) / sizeof(abi_registers[0]))

/* As C writes an integer of that size. */
static const char *
type_of(const struct dtp_operand *operand)
{
	switch (operand->op_size) {
	case 1:
		return (operand->op_signed ? "signed char" : "unsigned char");
	case 2:
		return (operand->op_signed ? "short" : "unsigned short");
	case 4:
		return (operand->op_signed ? "int" : "unsigned int");
	default:
		return (operand->op_signed ? "long" : "unsigned long");
	}
}

void
prof_site_abi(struct prof_site *site)
{
	site->si_nargs = ABI_ARGS;
	site->si_flags |= PROF_SITE_ABI;
	for (size_t n = 0; n < ABI_ARGS; n++)
		site->si_arg[n] = (struct dtp_operand){
		    .op_base = abi_registers[n], .op_index = DTP_NO_REGISTER,
		    .op_size = 8, .op_signed = 1 };
}

void
prof_site_abi_ret(struct prof_site *site)
{
	site->si_nargs = 1;
	site->si_flags |= PROF_SITE_HAS_RET;
	site->si_arg[0] = (struct dtp_operand){ .op_base = ABI_RET,
	    .op_index = DTP_NO_REGISTER, .op_size = 8, .op_signed = 1 };
	if (site->si_result.sp_size != 0) {
		site->si_arg[0].op_size = site->si_result.sp_size;
		site->si_arg[0].op_signed = site->si_result.sp_is_signed;
	}
}

/* A parameter by its name: its operand and type; NULL: there is none. */
static const struct prof_site_parameter *
parameter_find(const struct prof_site *site, const char *word, bool is_text,
    struct dtp_operand *operand)
{
	const size_t length = strlen(word) - is_text;

	for (uint32_t n = 0; n < site->si_nparameters &&
	    (site->si_flags & PROF_SITE_ABI) &&
	    (site->si_flags & PROF_SITE_INSIDE) == 0; n++) {
		const struct prof_site_parameter *parameter =
		    &site->si_parameter[n];

		if (strlen(parameter->sp_name) != length ||
		    strncmp(parameter->sp_name, word, length) != 0 ||
		    (is_text && word[length] != ')'))
			continue;
		*operand = (struct dtp_operand){
		    .op_base = abi_registers[parameter->sp_place],
		    .op_index = DTP_NO_REGISTER,
		    .op_size = parameter->sp_size,
		    .op_signed = parameter->sp_is_signed,
		    .op_nloads = parameter->sp_nloads,
		    .op_after = parameter->sp_after };
		memcpy(operand->op_off, parameter->sp_off,
		    sizeof(operand->op_off));
		return (parameter);
	}
	return (NULL);
}

/* "arg3", "str(arg3)", "ret"; false: it is none of them. */
static bool
word_parse(const struct prof_site *site, const char *word, unsigned *n,
    bool *is_text)
{
	char *end;

	*is_text = strncmp(word, "str(", 4) == 0;
	word += *is_text ? 4 : 0;
	*n = 0;
	if (site->si_flags & PROF_SITE_HAS_RET)
		return (strcmp(word, *is_text ? "ret)" : "ret") == 0);
	if (strncmp(word, "arg", 3) != 0 || !isdigit((unsigned char)word[3]))
		return (false);
	*n = (unsigned)strtoul(word + 3, &end, 10);
	return (strcmp(end, *is_text ? ")" : "") == 0);
}

static int
arg_refuse(const struct prof_event *event, const struct prof_site *site,
    const char *word, struct prof_err *error)
{
	unsigned n;
	bool is_text;

	if (site->si_flags & PROF_SITE_INSIDE) {
		prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: no argument "
		    "'%s': arguments are in registers only where a function "
		    "begins", event->ev_name, word);
		return (prof_cure(error, "leave out the arguments, or the "
		    "offset or line"));
	}
	if (!word_parse(site, word, &n, &is_text)) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: no argument '%s'",
		    event->ev_name, word);
		return (prof_cure(error, site->si_flags & PROF_SITE_HAS_RET ?
		    "use ret, or str(ret) for text: a return has only these "
		    "arguments" :
		    "use arg0, arg1 and so on, str(arg0) for text, or a name "
		    "that dtprof list '%s' prints",
		    event->ev_probe));
	}
	if (n < site->si_nargs)
		return (prof_fail(error, PROF_E_EVENT_UNSUPPORTED, "%s: "
		    "dtprof cannot read argument '%s': at some place of this "
		    "probe the argument is not an integer in a register or in "
		    "memory",
		    event->ev_name, word));
	prof_fail(error, PROF_E_EVENT_UNKNOWN, "%s: no argument '%s': the "
	    "probe has %u arguments", event->ev_name, word, site->si_nargs);
	return (prof_cure(error, "list the arguments of the probe with dtprof "
	    "list '%s'",
	    event->ev_probe));
}

/* Behind the registers of this machine are words of the kernel. */
static bool
register_holds(uint16_t offset)
{
	return (offset == DTP_NO_REGISTER ||
	    offset + sizeof(uint64_t) <= REGISTERS);
}

static bool
operand_holds(const struct dtp_operand *operand)
{
	return (operand->op_size != 0 && register_holds(operand->op_base) &&
	    register_holds(operand->op_index));
}

/* One more of the event. */
static int
arg_name(struct prof_event *event, const char *word, bool is_text,
    const struct dtp_operand *operand,
    const struct prof_site_parameter *parameter, struct prof_err *error)
{
	struct prof_arg *arg = &event->ev_args[event->ev_nargs++];

	arg->ag_name = strdup(word);
	arg->ag_type = strdup(is_text ? "char *" : parameter != NULL ?
	    parameter->sp_type : type_of(operand));
	arg->ag_load.ar_kind = is_text ? DTP_A_USTR : DTP_A_INT;
	arg->ag_load.ar_size = 8;
	arg->ag_load.ar_signed = operand->op_signed;
	return (arg->ag_name == NULL || arg->ag_type == NULL ?
	    prof_fail_nomem(error) : 0);
}

/* The n-th argument of the event is there, at this place. */
static int
arg_place(struct prof_event *event, struct prof_hook *hook,
    const struct prof_site *site, const char *word, uint32_t n,
    struct prof_err *error)
{
	const struct prof_site_parameter *parameter;
	struct dtp_operand operand;
	unsigned number;
	bool is_text = strncmp(word, "str(", 4) == 0;

	parameter = parameter_find(site, word + (is_text ? 4 : 0), is_text,
	    &operand);
	if (parameter == NULL) {
		if (!word_parse(site, word, &number, &is_text) ||
		    number >= site->si_nargs ||
		    !operand_holds(&site->si_arg[number]))
			return (arg_refuse(event, site, word, error));
		operand = site->si_arg[number];
	}
	if (n == event->ev_nargs && arg_name(event, word, is_text, &operand,
	    parameter, error) == -1)
		return (-1);
	hook->hk_args.os_arg[n] = operand;
	return (0);
}

/* All that can be had at the first place. */
static int
args_all(struct prof_event *event, struct prof_hook *hook,
    const struct prof_site *site, struct prof_err *error)
{
	bool is_first = event->ev_nhooks == 1;
	char word[16];

	if (is_first)
		for (uint32_t n = 0; n < site->si_nargs; n++) {
			snprintf(word, sizeof(word), site->si_flags &
			    PROF_SITE_HAS_RET ? "ret" : "arg%u", n);
			if (site->si_arg[n].op_size != 0 && arg_place(event,
			    hook, site, word, event->ev_nargs, error) == -1)
				return (-1);
		}
	for (uint32_t n = 0; !is_first && n < event->ev_nargs; n++)
		if (arg_place(event, hook, site, event->ev_args[n].ag_name, n,
		    error) == -1)
			return (-1);
	return (0);
}

static int
refuse_many(const struct prof_event *event, struct prof_err *error)
{
	prof_fail(error, PROF_E_LIMIT, "%s: too many arguments (at most %d)",
	    event->ev_name, DTP_MAX_ARGS);
	return (prof_cure(error, "use fewer arguments"));
}

static int
args_named(struct prof_event *event, struct prof_hook *hook,
    const struct prof_site *site, const struct prof_spec *spec,
    struct prof_err *error)
{
	if (spec->sp_nterms > DTP_MAX_ARGS)
		return (refuse_many(event, error));
	for (uint32_t n = 0; n < spec->sp_nterms; n++)
		if (spec->sp_term[n].st_value != NULL)
			return (arg_refuse(event, site,
			    spec->sp_term[n].st_key, error));
		else if (arg_place(event, hook, site,
		    spec->sp_term[n].st_key, n, error) == -1)
			return (-1);
	return (0);
}

/* Those that the event's filter names, too. */
static int
args_used(struct prof_event *event, struct prof_hook *hook,
    const struct prof_site *site, const struct prof_spec *spec,
    struct prof_err *error)
{
	for (size_t i = 0; i < spec->sp_nused; i++) {
		const uint32_t n = prof_event_arg(event, spec->sp_used[i]);

		if (n == DTP_MAX_ARGS)
			return (refuse_many(event, error));
		if (arg_place(event, hook, site, spec->sp_used[i], n,
		    error) == -1)
			return (-1);
	}
	return (0);
}

int
prof_hook_args(struct prof_event *event, struct prof_hook *hook,
    const struct prof_site *site, const struct prof_spec *spec,
    struct prof_err *error)
{
	/* Of a function they are registers, whatever it makes of them. */
	if (spec->sp_slashed ? args_named(event, hook, site, spec, error) :
	    (site->si_flags & PROF_SITE_ABI) == 0 &&
	    args_all(event, hook, site, error))
		return (-1);
	return (args_used(event, hook, site, spec, error));
}

uint32_t
prof_site_list_args(const struct prof_site *site, struct prof_probe *probe)
{
	static const char *const names[DTP_MAX_ARGS] = {
		"arg0", "arg1", "arg2", "arg3", "arg4", "arg5", "arg6", "arg7"
	};

	for (uint32_t n = 0; n < site->si_nparameters &&
	    (site->si_flags & PROF_SITE_HAS_RET) == 0; n++) {
		probe->pp_arg_names[probe->pp_nargs] =
		    site->si_parameter[n].sp_name;
		probe->pp_arg_types[probe->pp_nargs++] =
		    site->si_parameter[n].sp_type;
	}
	for (uint32_t n = 0; n < site->si_nargs; n++)
		if (site->si_arg[n].op_size != 0) {
			probe->pp_arg_names[probe->pp_nargs] =
			    site->si_flags & PROF_SITE_HAS_RET ? "ret" :
			    names[n];
			probe->pp_arg_types[probe->pp_nargs++] =
			    type_of(&site->si_arg[n]);
		}
	return (probe->pp_nargs);
}
