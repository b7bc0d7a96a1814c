/* SPDX-License-Identifier: ISC */
/*
 * Asks a parser for names of code objects, and checks what comes: functions
 * that can be taken apart, of numbers that were asked for, each once.
 *
 * Called by process/codes.c, from the thread that names.
 */
#include <stdio.h>
#include <string.h>

#include "scripts.h"

#define MOST_BYTES	(4u << 20)
#define CPU_S		2
#define WALL_S		2

static bool
code_holds(const struct prof_scripts *scripts,
    const struct prof_table_code *code, size_t *at)
{
	if (strnlen(code->tc_name, PROF_CODE_TEXT) == PROF_CODE_TEXT ||
	    strnlen(code->tc_file, PROF_CODE_TEXT) == PROF_CODE_TEXT ||
	    code->tc_nsteps > PROF_CODE_STEPS)
		return (false);
	for (; *at < scripts->sc_n; (*at)++)
		if (scripts->sc_key[*at].ck_number == code->tc_number) {
			(*at)++;
			return (true);
		}
	return (false);
}

bool
prof_scripts_count(struct prof_scripts *scripts)
{
	struct prof_cur cur = prof_cur_of(scripts->sc_body.bf_data,
	    scripts->sc_body.bf_len);
	struct prof_table_code code;
	size_t at = 0;
	int rv;

	scripts->sc_named = 0;
	while ((rv = prof_table_unpack_code(&cur, &code)) == 1) {
		if (!code_holds(scripts, &code, &at))
			return (false);
		scripts->sc_named++;
	}
	return (rv == 0 && !scripts->sc_body.bf_failed);
}

static bool
scripts_take(struct prof_call *call)
{
	struct prof_scripts *scripts = call->ca_take_arg;

	scripts->sc_body.bf_len = 0;
	prof_buf_bytes(&scripts->sc_body, call->ca_answer, call->ca_answered);
	if (prof_scripts_count(scripts))
		return (true);
	scripts->sc_body.bf_len = 0;
	scripts->sc_named = 0;
	return (false);
}

void
prof_scripts_ask(struct prof_scripts *scripts)
{
	char name[64];
	struct prof_call call = {
		.ca_what = PROF_PARSE_SCRIPTS,
		.ca_fd = scripts->sc_fd,
		.ca_name = name,
		.ca_bytes = scripts->sc_key,
		.ca_size = scripts->sc_n * sizeof(scripts->sc_key[0]),
		.ca_most = MOST_BYTES,
		.ca_cpu_s = CPU_S,
		.ca_wall_s = WALL_S,
		.ca_take = scripts_take,
		.ca_take_arg = scripts,
	};

	(void)snprintf(name, sizeof(name), "/proc/%u/mem", scripts->sc_pid);
	(void)prof_broker_call(scripts->sc_broker, &call);
}
