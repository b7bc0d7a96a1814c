/* SPDX-License-Identifier: ISC */
/*
 * A program that uses the public interface, compiled by
 * clients-of-another-age.sh against headers of other ages:
 *
 *	client RECORDING FOLDED OUTPUT
 *
 * It uses the first members of each struct alone and prints what the library
 * says, which is the same whatever its header is.  Behind each struct that the
 * library fills lie bytes that must stay as they are.  With NEWER each struct
 * has a member zz_new, which the library must set to 0; where ASK is the name
 * of a struct of options, that member is set, and the library must refuse it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <prof.h>

#define FILLER	0xa5

/* A struct to be filled, and what lies behind it. */
#define ROOM(type) struct { struct type it; unsigned char after[64]; }

#ifdef NEWER
#define IS_ZERO(room)	((room).it.zz_new == 0)
#define ASKS(options, name)	\
	((options).zz_new = strcmp(ASK, name) == 0)
#else
#define IS_ZERO(room)	1
#define ASKS(options, name)
#endif

#define PREPARE(room)	memset(&(room), FILLER, sizeof(room))
#define FILLED(room)	do {						\
	for (size_t n = 0; n < sizeof((room).after); n++)		\
		if ((room).after[n] != FILLER)				\
			die("wrote behind a struct");			\
	if (!IS_ZERO(room))						\
		die("left a member of a newer struct as it was");	\
} while (0)

static void
die(const char *why)
{
	printf("FAIL: %s\n", why);
	exit(1);
}

/* What the library refuses ends the program: the last line says why. */
static void
need(int holds, const struct prof_err *error)
{
	if (holds)
		return;
	printf("refused: %s: %s\n", prof_code_name(error->pe_code),
	    error->pe_text);
	exit(3);
}

static void
sessions(const char *output)
{
	struct prof_options po = { .po_size = sizeof(po) };
	struct prof_counting_options co = { .co_size = sizeof(co) };
	struct prof_counting *counting;
	struct prof_session *session;
	struct prof_err error = { 0 };
	ROOM(prof_status) status;
	ROOM(prof_counting_status) counted;

	po.po_output = output;
	ASKS(po, "prof_options");
	session = prof_session_open(&po, &error);
	need(session != NULL, &error);
	printf("output %s\n", strcmp(prof_session_output(session),
	    output) == 0 ? "as given" : "another");
	PREPARE(status);
	prof_session_status(session, &status.it);
	FILLED(status);
	printf("elapsed %.0f\n", status.it.ps_elapsed_s);
	prof_session_close(session);

	ASKS(co, "prof_counting_options");
	counting = prof_counting_open(&co, &error);
	need(counting != NULL, &error);
	PREPARE(counted);
	prof_counting_status(counting, &counted.it);
	FILLED(counted);
	printf("wall %" PRIu64 "\n", counted.it.ks_wall_ns);
	prof_counting_close(counting);
}

static void
checks(void)
{
	ROOM(prof_check) check;
	size_t n = 0;

	PREPARE(check);
	while (prof_check_run(n, &check.it)) {
		FILLED(check);
		printf("check %s\n", check.it.ck_name);
		PREPARE(check);
		n++;
	}
}

static void
profiles(struct prof_reader *reader, const struct prof_profile *profile)
{
	struct prof_flame_options fl = { .fl_size = sizeof(fl) };
	struct prof_err error = { 0 };
	ROOM(prof_quality) quality;
	ROOM(prof_sampled) sampled;
	size_t length = 0;
	char *svg;

	(void)reader;
	PREPARE(quality);
	prof_profile_quality(profile, 1, &quality.it);
	FILLED(quality);
	PREPARE(sampled);
	prof_profile_sampled(profile, &sampled.it);
	FILLED(sampled);
	printf("samples %" PRIu64 " of %" PRIu64 " threads\n",
	    quality.it.pq_samples, sampled.it.sa_threads);
	fl.fl_title = "a title";
	ASKS(fl, "prof_flame_options");
	svg = prof_flame_svg(profile, &fl, &length, &error);
	need(svg != NULL, &error);
	printf("drawing %zu\n", length);
	free(svg);
}

static void
reads(const char *recording)
{
	struct prof_symbols_options so = { .so_size = sizeof(so) };
	struct prof_profile_options pl = { .pl_size = sizeof(pl) };
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(recording, &error);
	struct prof_throttled by_event[16];
	struct prof_symbols *symbols;
	struct prof_profile *profile;
	ROOM(prof_accounting) sum;
	ROOM(prof_ran) ran;

	need(reader != NULL, &error);
	if (prof_reader_nevents(reader) > 16)
		die("more events than expected");
	for (size_t e = 0; e < prof_reader_nevents(reader); e++) {
		PREPARE(sum);
		need(prof_reader_accounting(reader, e, -1, &sum.it) == 0,
		    prof_reader_error(reader));
		FILLED(sum);
		printf("event %s fired %" PRIu64 " stored %" PRIu64 "\n",
		    prof_reader_event(reader, e)->pi_name, sum.it.pa_fired,
		    sum.it.pa_stored);
	}
	PREPARE(ran);
	need(prof_reader_throttled(reader, by_event, &ran.it) == 0,
	    prof_reader_error(reader));
	FILLED(ran);
	printf("ran %" PRIu64 "\n", ran.it.rn_ns);
	ASKS(so, "prof_symbols_options");
	symbols = prof_symbols_open(reader, &so, &error);
	need(symbols != NULL, &error);
	ASKS(pl, "prof_profile_options");
	profile = prof_profile_new(reader, symbols, &pl, &error);
	need(profile != NULL, &error);
	profiles(reader, profile);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static void
compares(void)
{
	struct prof_comparison_options cp = { .cp_size = sizeof(cp) };
	struct prof_comparison *comparison;
	struct prof_difference *difference;
	struct prof_err error = { 0 };

	ASKS(cp, "prof_comparison_options");
	comparison = prof_comparison_new(&cp, &error);
	need(comparison != NULL, &error);
	for (int side = 0; side < 2; side++)
		for (int n = 0; n < 6; n++)
			need(prof_comparison_value(comparison,
			    prof_comparison_run(comparison, side, 0, -1),
			    "time", "s", 1 + side + n * 0.01) == 0,
			    prof_comparison_error(comparison));
	need(prof_comparison_finish(comparison) == 0,
	    prof_comparison_error(comparison));
	printf("metric %s\n", prof_comparison_metric(comparison, 0)->cg_name);
	difference = prof_difference_new(comparison, &error);
	need(difference != NULL, &error);
	prof_difference_free(difference);
	prof_comparison_free(comparison);
}

static void
imports(const char *folded, const char *output)
{
	struct prof_import_options im = { .im_size = sizeof(im) };
	struct prof_import *import;
	struct prof_err error = { 0 };

	im.im_input = folded;
	im.im_output = output;
	ASKS(im, "prof_import_options");
	import = prof_import_new(&im, &error);
	need(import != NULL, &error);
	printf("imported %" PRIu64 "\n", prof_import_samples(import));
	prof_import_free(import);
}

int
main(int argc, char **argv)
{
	if (argc != 4)
		die("usage: client RECORDING FOLDED OUTPUT");
	sessions(argv[3]);
	checks();
	reads(argv[1]);
	compares();
	imports(argv[2], argv[3]);
	return (0);
}
