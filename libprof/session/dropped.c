/* SPDX-License-Identifier: ISC */
/*
 * The accounting of samples that a session reads and does not pass on: they
 * move from stored to filtered, or to those lost for other reasons.  Called by
 * stack_filter.c and speculate.c.
 */
#include "session_impl.h"

void
prof_dropped_add(struct prof_dropped *dropped, size_t ncpus,
    const struct prof_record *record, bool is_lost)
{
	if (record->pr_cpu >= ncpus)
		return;
	dropped += record->pr_cpu;
	dropped->dr_filtered += !is_lost;
	dropped->dr_lost += is_lost;
	if (record->pr_kstatus < DTP_S_NSTATUS)
		dropped->dr_kstack[record->pr_kstatus]++;
	if (record->pr_ustatus < DTP_S_NSTATUS)
		dropped->dr_ustack[record->pr_ustatus]++;
}

void
prof_dropped_account(const struct prof_session *session, size_t event,
    const struct prof_dropped *dropped, struct prof_accounting *row)
{
	const uint64_t samples = dropped->dr_filtered + dropped->dr_lost;
	const uint32_t parts = prof_event_parts(&session->se_plan,
	    session->se_events.el_event[event]);

	row->pa_stored -= samples;
	row->pa_read -= samples;
	row->pa_filtered += dropped->dr_filtered;
	row->pa_error += dropped->dr_lost;
	for (size_t n = 0; n < DTP_S_NSTATUS; n++) {
		if (parts & DTP_P_KSTACK)
			row->pa_kstack[n] -= dropped->dr_kstack[n];
		if (parts & DTP_P_USTACK)
			row->pa_ustack[n] -= dropped->dr_ustack[n];
	}
}
