/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: options of a newer caller are taken as long as what is unknown
 * here is 0, and refused, with the name of the struct, where it is not; those
 * of an older caller leave what it does not know at 0; a size that was not set
 * is refused, and no struct of options ends with padding, in which an older
 * caller would have what it likes.
 *
 * Easy to get wrong: leaving the end out looks like success, and what was
 * asked for does not happen.
 */
#include <string.h>

#include "session.h"

/* Each of the calls that take options, with a member more than they know. */
#define NEWER(type, member, call) do {					\
	struct {							\
		struct type	known;					\
		unsigned long	unknown;				\
	} newer;							\
	struct prof_err error;						\
									\
	memset(&newer, 0, sizeof(newer));				\
	memset(&error, 0, sizeof(error));				\
	newer.known.member = sizeof(newer);				\
	newer.unknown = 1;						\
	CHECK((call) == NULL);						\
	CHECK(error.pe_code == PROF_E_USAGE);				\
	CHECK(strstr(error.pe_text, "unknown option at byte") != NULL);	\
	CHECK(strstr(error.pe_text, "of struct " #type ";") != NULL);	\
	newer.known.member = 0;						\
	CHECK((call) == NULL);						\
	CHECK(strstr(error.pe_text, "struct " #type " begins with its "	\
	    "size, which cannot be 0") != NULL);			\
} while (0)

#define ENDS_WITH(type, member)						\
	_Static_assert(offsetof(struct type, member) +			\
	    sizeof(((struct type *)NULL)->member) == sizeof(struct type), \
	    #type)

ENDS_WITH(prof_options, po_max_stall_ns);
ENDS_WITH(prof_counting_options, co_log_arg);
ENDS_WITH(prof_symbols_options, so_only_recorded);
ENDS_WITH(prof_import_options, im_output);
ENDS_WITH(prof_comparison_options, cp_family);
ENDS_WITH(prof_profile_options, pl_values);
ENDS_WITH(prof_flame_options, fl_labels);
ENDS_WITH(prof_span_difference_options, sd_frames);

static void
check_unknown(void)
{
	NEWER(prof_options, po_size,
	    prof_session_open(&newer.known, &error));
	NEWER(prof_counting_options, co_size,
	    prof_counting_open(&newer.known, &error));
	NEWER(prof_symbols_options, so_size,
	    prof_symbols_open(NULL, &newer.known, &error));
	NEWER(prof_import_options, im_size,
	    prof_import_new(&newer.known, &error));
	NEWER(prof_comparison_options, cp_size,
	    prof_comparison_new(&newer.known, &error));
	NEWER(prof_profile_options, pl_size,
	    prof_profile_new(NULL, NULL, &newer.known, &error));
	NEWER(prof_span_difference_options, sd_size,
	    prof_span_difference_new(NULL, NULL, &newer.known, &error));
	printf("ok: what is unknown is refused\n");
}

static void
check_known(void)
{
	struct {
		struct prof_options	known;
		unsigned long		unknown;
	} newer;
	struct prof_options older = session_options();
	struct prof_session *session;
	struct prof_err error = { 0 };

	memset(&newer, 0, sizeof(newer));
	newer.known = session_options();
	newer.known.po_size = sizeof(newer);
	session = prof_session_open(&newer.known, &error);
	CHECK(session != NULL);
	prof_session_close(session);
	/* What lies behind its size is not looked at. */
	older.po_size = offsetof(struct prof_options, po_max_overhead);
	older.po_max_overhead = 1;
	session = prof_session_open(&older, &error);
	CHECK(session != NULL);
	prof_session_close(session);
	printf("ok: a newer caller that asks for nothing new, an older one\n");
}

int
main(void)
{
	check_unknown();
	check_known();
	return (0);
}
