/* SPDX-License-Identifier: ISC */
/*
 * Asks a parser where functions of a file are, and checks what comes: names
 * that end, in order, and places that lie in the file.
 *
 * Called when events are named and listed, through prof_names.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elf/debug_file.h"
#include "sites.h"

#define MOST_BYTES	(sizeof(struct prof_sited_head) +	\
	    PROF_SITES_MAX * sizeof(struct prof_site))

struct siting {
	struct prof_sites *sg_sites;
	uint64_t	 sg_file;	/* bytes of it */
	int		 sg_errno;
};

static int
open_debug(const struct prof_call *call, void *want)
{
	return (prof_debug_candidate(want, call->ca_fd, NULL));
}

static bool
parameter_holds(const struct prof_site_parameter *parameter)
{
	return (parameter->sp_size <= 8 &&
	    parameter->sp_place < 6 &&
	    parameter->sp_nloads <= DTP_MAX_DEREF &&
	    memchr(parameter->sp_name, '\0', sizeof(parameter->sp_name)) !=
	    NULL && memchr(parameter->sp_type, '\0',
	    sizeof(parameter->sp_type)) != NULL);
}

/* A program reads registers by it, and no more than a word. */
static bool
operand_holds(const struct dtp_operand *operand)
{
	return ((operand->op_base == DTP_NO_REGISTER ||
	    operand->op_base <= DTP_REGISTERS) &&
	    (operand->op_index == DTP_NO_REGISTER ||
	    operand->op_index <= DTP_REGISTERS) && operand->op_scale <= 8 &&
	    operand->op_size <= 8);
}

static bool
site_holds(const struct prof_site *site, uint64_t file)
{
	if (site->si_offset >= file || site->si_semaphore >= file ||
	    site->si_semaphore > UINT32_MAX ||
	    site->si_nargs > DTP_MAX_ARGS || site->si_leave >= PROF_LEAVE_N ||
	    site->si_nparameters > PROF_SITE_PARAMETERS ||
	    !parameter_holds(&site->si_result) ||
	    memchr(site->si_name, '\0', sizeof(site->si_name)) == NULL)
		return (false);
	for (uint32_t n = 0; n < site->si_nparameters; n++)
		if (!parameter_holds(&site->si_parameter[n]))
			return (false);
	for (uint32_t n = 0; n < site->si_nargs; n++)
		if (!operand_holds(&site->si_arg[n]))
			return (false);
	return (true);
}

static bool
sites_take(struct prof_call *call)
{
	struct siting *siting = call->ca_take_arg;
	struct prof_sites *sites = siting->sg_sites;
	struct prof_sited_head head;
	const char *bytes = call->ca_answer;

	if (call->ca_answered < sizeof(head))
		return (false);
	memcpy(&head, bytes, sizeof(head));
	siting->sg_errno = (int)head.sd_errno;
	if (head.sd_n > PROF_SITES_MAX || head.sd_found < head.sd_n ||
	    call->ca_answered != sizeof(head) +
	    head.sd_n * sizeof(*sites->st_site))
		return (false);
	sites->st_site = calloc(head.sd_n + 1, sizeof(*sites->st_site));
	if (sites->st_site == NULL) {
		siting->sg_errno = ENOMEM;
		return (true);
	}
	memcpy(sites->st_site, bytes + sizeof(head),
	    head.sd_n * sizeof(*sites->st_site));
	sites->st_n = head.sd_n;
	sites->st_found = head.sd_found;
	sites->st_functions = head.sd_functions;
	for (size_t n = 0; n < PROF_NOTE_N; n++)
		sites->st_bad[n] = head.sd_bad[n];
	for (size_t n = 0; n < sites->st_n; n++)
		if (!site_holds(&sites->st_site[n], siting->sg_file))
			return (false);
	return (true);
}

int
prof_sites_ask(struct prof_broker *broker, int fd, const char *name,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct prof_sited_ask ask = { .sa_kind = want->sw_kind,
	    .sa_line = want->sw_line, .sa_offset = want->sw_offset };
	struct siting siting = { .sg_sites = sites };
	struct prof_call call = {
		.ca_what = PROF_PARSE_SITES,
		.ca_fd = fd,
		.ca_name = name,
		.ca_bytes = &ask,
		.ca_size = sizeof(ask),
		.ca_most = MOST_BYTES,
		.ca_open = open_debug,
		.ca_want = sizeof(struct prof_debug_want),
		.ca_take = sites_take,
		.ca_take_arg = &siting,
	};
	enum prof_called called;
	struct stat st;

	memset(sites, 0, sizeof(*sites));
	if (fstat(fd, &st) == -1)
		return (-1);
	if (strlen(want->sw_pattern) >= sizeof(ask.sa_pattern) ||
	    (want->sw_words != NULL &&
	    strlen(want->sw_words) >= sizeof(ask.sa_words))) {
		errno = ENAMETOOLONG;
		return (-1);
	}
	memcpy(ask.sa_pattern, want->sw_pattern, strlen(want->sw_pattern));
	if (want->sw_words != NULL)
		memcpy(ask.sa_words, want->sw_words, strlen(want->sw_words));
	ask.sa_has_words = want->sw_words != NULL;
	siting.sg_file = (uint64_t)st.st_size;
	called = prof_broker_call(broker, &call);
	if (called == PROF_CALLED && siting.sg_errno == 0)
		return (0);
	prof_sites_free(sites);
	errno = called == PROF_CALLED_LOST ? EIO :
	    called == PROF_CALLED_NOBODY ? EAGAIN : siting.sg_errno;
	return (-1);
}
