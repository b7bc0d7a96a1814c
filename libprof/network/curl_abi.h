/* SPDX-License-Identifier: ISC */
/*
 * What child.c calls of libcurl.so.4, whose ABI has been stable since 2006.
 * It is loaded when it is needed and not linked: a dtprof that speaks to no
 * server runs without it, and is built without its headers.
 * tests/build/curl-numbers-are-curls compares the numbers with curl/curl.h.
 *
 * Included by network/ alone.
 */
#ifndef PROF_CURL_ABI_H
#define PROF_CURL_ABI_H

/* Name in curl/curl.h, number. */
#define CURL_NUMBERS(N)							\
	N(CURLOPT_WRITEDATA, 10001) N(CURLOPT_URL, 10002)		\
	N(CURLOPT_ERRORBUFFER, 10010) N(CURLOPT_WRITEFUNCTION, 20011)	\
	N(CURLOPT_POSTFIELDS, 10015) N(CURLOPT_LOW_SPEED_LIMIT, 19)	\
	N(CURLOPT_LOW_SPEED_TIME, 20) N(CURLOPT_HTTPHEADER, 10023)	\
	N(CURLOPT_POST, 47) N(CURLOPT_NOSIGNAL, 99)			\
	N(CURLOPT_FORBID_REUSE, 75)					\
	N(CURLOPT_POSTFIELDSIZE_LARGE, 30120)				\
	N(CURLOPT_TIMEOUT_MS, 155) N(CURLOPT_CONNECTTIMEOUT_MS, 156)	\
	N(CURLOPT_USERNAME, 10173) N(CURLOPT_PASSWORD, 10174)		\
	N(CURLOPT_PROTOCOLS_STR, 10318) N(CURLOPT_USERAGENT, 10018)	\
	N(CURLOPT_HTTPAUTH, 107) N(CURLAUTH_BASIC, 1)			\
	N(CURLINFO_RESPONSE_CODE, 0x200002)				\
	N(CURLINFO_RETRY_AFTER, 0x600039) N(CURLE_OK, 0)		\
	N(CURL_ERROR_SIZE, 256) N(CURL_GLOBAL_DEFAULT, 3)

#define CURL_NUMBER(name, number) name = (number),
enum { CURL_NUMBERS(CURL_NUMBER) };

struct curl_slist;

/* Its functions, each by the type of its prototype. */
struct curl_calls {
	int	(*cl_global_init)(long flags);
	void	*(*cl_easy_init)(void);
	int	(*cl_easy_setopt)(void *handle, int option, ...);
	int	(*cl_easy_perform)(void *handle);
	int	(*cl_easy_getinfo)(void *handle, int info, ...);
	void	(*cl_easy_reset)(void *handle);
	const char *(*cl_easy_strerror)(int code);
	struct curl_slist *(*cl_slist_append)(struct curl_slist *list,
		    const char *text);
	void	(*cl_slist_free_all)(struct curl_slist *list);
};

#endif /* PROF_CURL_ABI_H */
