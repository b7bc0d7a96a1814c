/* SPDX-License-Identifier: ISC */
/*
 * Between network.c and child.c: on a socket, one message each way.
 *
 *	to the child	struct net_ask, the texts it counts, and a memory
 *			file with the body
 *	from it		struct net_answer, and a memory file with the body
 *
 * The first message is struct net_begin, with URL, user and secret.
 * Included by network/ alone.
 */
#ifndef PROF_NETWORK_IMPL_H
#define PROF_NETWORK_IMPL_H

#include "network.h"

#define NET_URL_MAX	8192u
#define NET_TEXTS_MAX	(NET_URL_MAX * 2)

struct net_begin {
	char		nb_url[NET_URL_MAX];	/* without user and password */
	char		nb_user[256];		/* "": none */
	char		nb_secret[PROF_NETWORK_SECRET];	/* "": none */
};

/* Behind it: path and type, each with its NUL. */
struct net_ask {
	uint64_t	na_length;	/* of the body */
	uint64_t	na_max_answer;
	uint32_t	na_texts;	/* bytes behind this */
	uint32_t	na_timeout_s;
	uint32_t	na_gzip;
	uint32_t	na_pad;
};

struct net_answer {
	uint64_t	nr_length;
	uint64_t	nr_sent;
	uint32_t	nr_status;
	uint32_t	nr_retry_after_s;
	char		nr_text[296];
};

void	prof_network_child(int sock) __attribute__((noreturn));

#endif /* PROF_NETWORK_IMPL_H */
