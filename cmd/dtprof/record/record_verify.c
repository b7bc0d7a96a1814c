/* SPDX-License-Identifier: ISC */
/*
 * The table that record --verify prints at its end: how the stacks fared that
 * were walked both ways, and the places from which the walks went apart.
 *
 * Called by record.c after the recording.  It goes to standard error, as all
 * that record says; the same figures stand in the recording.
 */
#include <string.h>
#include <unistd.h>

#include "record.h"

#define PLACES	20	/* shown; the recording has all */

static const char *const kinds[] = {
	"identical",
	"identical up to the end of the stack copy",
	"the BPF unwinder had no unwind data",
	"identical, but libunwind ended earlier",
	"identical, but the BPF unwinder ended earlier",
	"different"
};
#define NKINDS	(sizeof(kinds) / sizeof(kinds[0]))

static double
percent_of(uint64_t part, uint64_t whole)
{
	return (whole == 0 ? 0 : 100.0 * (double)part / (double)whole);
}

static void
show_places(struct out *out, struct prof_session *session)
{
	struct prof_verify_row row;
	unsigned shown = 0;

	for (size_t n = 0; shown < PLACES &&
	    prof_session_verified(session, n, &row) == 1; n++) {
		if (row.vr_kind < PROF_VERIFY_EARLIER)
			continue;
		if (shown++ == 0)
			out_str(out, "   samples  last frame in both stacks, "
			    "and result\n");
		out_fmt(out, "%10llu  ", (unsigned long long)row.vr_samples);
		out_text(out, row.vr_module[0] != '\0' ? row.vr_module :
		    "no file");
		out_fmt(out, "+0x%llx, %s (%s)\n",
		    (unsigned long long)row.vr_address, kinds[row.vr_kind],
		    prof_stack_status_name(row.vr_status));
	}
}

void
record_show_verified(struct prof_session *session)
{
	uint64_t sum[NKINDS] = { 0 }, all = 0, enough;
	struct prof_verify_row row;
	struct out out;

	for (size_t n = 0; prof_session_verified(session, n, &row) == 1;
	    n++) {
		sum[row.vr_kind] += row.vr_samples;
		all += row.vr_samples;
	}
	enough = all - sum[PROF_VERIFY_SHORT] - sum[PROF_VERIFY_DOUBT];
	out_init(&out, STDERR_FILENO);
	out_fmt(&out, "dtprof: record: %llu stacks were unwound by BPF and by "
	    "libunwind", (unsigned long long)all);
	if (enough != 0)
		out_fmt(&out, "; of the stacks that both unwound completely, "
		    "%.2f%% are identical",
		    percent_of(sum[PROF_VERIFY_SAME], enough));
	out_char(&out, '\n');
	for (size_t kind = 0; kind < NKINDS; kind++)
		if (sum[kind] != 0)
			out_fmt(&out, "%10llu  %6.2f%%  %s\n",
			    (unsigned long long)sum[kind],
			    percent_of(sum[kind], all), kinds[kind]);
	show_places(&out, session);
	out_flush(&out);
}
