/* SPDX-License-Identifier: ISC */
/*
 * Reads /proc/PID/maps of sampled processes again, where what we know of their
 * mappings may be wrong:
 *
 *	lost		mapping or process events were lost since it was read
 *	unknown		a sample lies outside of all that we know, and the
 *			events are those of the targets: a program of another
 *			user's privileges has left them, or a cgroup was joined
 *	grown		there is no event of munmap, so what is no more is
 *			kept: now and then the list is made anew
 *
 * What is read is true from now on, and stands in the recording so.  A reader
 * takes it for true earlier, too, where nothing else was mapped there.
 *
 * Called by host.c with each record, and with a sample before and after its
 * stack is walked in user space.  Reading takes at most a tenth of the
 * time that passes; a process is read at most every 5 ms, and each time that
 * brings nothing new doubles that, up to a second.
 *
 * With --max-overhead there is less time (pace.c).  Where it is short it is for
 * processes that are sampled often, not for those that live for a sample, and
 * no process has more than a part of it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "base/clock.h"
#include "session_impl.h"

#define FIRST_NS	5000000ULL
#define LONGEST_NS	1000000000ULL
#define BURST_NS	100000000ULL	/* of reading, ahead of its share */
#define SHARE		10		/* of the time that passes */
#define GROWN		1024		/* mappings since it was read */
#define GROWN_NS	100000000ULL
#define LOOK_NS		100000000ULL
#define MAX_PROCESSES	65536
#define MET_NS		1000000000ULL
#define MET_BITS	12
#define OFTEN		4	/* samples in that time */

/* What we know of a process. */
struct known {
	uint32_t	 kn_pid;	/* 0: free */
	uint32_t	 kn_losses;	/* rr_losses, as of when it was read */
	uint32_t	 kn_mapped;	/* events since */
	uint64_t	 kn_read_ns;
	uint64_t	 kn_wait_ns;	/* not again before that has passed */
	uint64_t	 kn_paid_ns;	/* nor before this time */
	uint64_t	 kn_hash;	/* of what it had mapped */
};

struct prof_reread {
	struct known	*rr_known;	/* open addressing */
	size_t		 rr_n;
	size_t		 rr_cap;
	uint32_t	 rr_losses;	/* how often something was lost */
	bool		 rr_execs_lost;	/* perhaps: process events were */
	uint64_t	 rr_side_lost;	/* as the kernel counted it last */
	uint64_t	 rr_told_lost;	/* the same, as far as is easily had */
	uint64_t	 rr_looked_ns;
	uint64_t	 rr_since_ns;
	uint64_t	 rr_spent_ns;
	uint64_t	 rr_times;	/* a process was read */
	uint64_t	 rr_met_ns;	/* samples are counted since then */
	uint8_t		 rr_met[1 << MET_BITS];	/* hashed by process */
	/* While a process is read. */
	struct prof_session *rr_session;
	uint64_t	 rr_sample_ns;
	XXH3_state_t	*rr_hash;
	uint32_t	 rr_found;
};

struct prof_reread *
prof_reread_new(struct prof_session *session)
{
	struct prof_reread *reread = calloc(1, sizeof(*reread));

	if (reread == NULL)
		return (NULL);
	reread->rr_session = session;
	reread->rr_since_ns = prof_now_ns();
	reread->rr_hash = XXH3_createState();
	if (reread->rr_hash == NULL) {
		free(reread);
		return (NULL);
	}
	return (reread);
}

void
prof_reread_free(struct prof_reread *reread)
{
	if (reread == NULL)
		return;
	XXH3_freeState(reread->rr_hash);
	free(reread->rr_known);
	free(reread);
}

uint64_t
prof_reread_times(const struct prof_reread *reread)
{
	return (reread->rr_times);
}

uint64_t
prof_reread_losses(const struct prof_reread *reread)
{
	return (reread->rr_losses);
}

/* ------------------------------------------------------ processes */

static size_t
place_of(const struct prof_reread *reread, uint32_t pid)
{
	size_t at = (pid * 2654435769u) & (reread->rr_cap - 1);

	while (reread->rr_known[at].kn_pid != 0 &&
	    reread->rr_known[at].kn_pid != pid)
		at = (at + 1) & (reread->rr_cap - 1);
	return (at);
}

static struct known *
known_find(const struct prof_reread *reread, uint32_t pid)
{
	struct known *known = reread->rr_cap == 0 ? NULL :
	    &reread->rr_known[place_of(reread, pid)];

	return (known == NULL || known->kn_pid == 0 ? NULL : known);
}

static bool
known_grow(struct prof_reread *reread)
{
	struct known *old = reread->rr_known;
	size_t n, cap = reread->rr_cap;

	reread->rr_cap = cap == 0 ? 64 : cap * 2;
	reread->rr_known = calloc(reread->rr_cap, sizeof(*old));
	if (reread->rr_known == NULL) {
		reread->rr_known = old;
		reread->rr_cap = cap;
		return (false);
	}
	for (n = 0; n < cap; n++)
		if (old[n].kn_pid != 0)
			reread->rr_known[place_of(reread, old[n].kn_pid)] =
			    old[n];
	free(old);
	return (true);
}

/* NULL: no memory.  Of too many all are forgotten, which costs a reading. */
static struct known *
known_get(struct prof_reread *reread, uint32_t pid)
{
	struct known *known = known_find(reread, pid);

	if (known != NULL)
		return (known);
	if (reread->rr_n >= MAX_PROCESSES) {
		memset(reread->rr_known, 0, reread->rr_cap * sizeof(*known));
		reread->rr_n = 0;
	}
	if ((reread->rr_n + 1) * 2 > reread->rr_cap && !known_grow(reread))
		return (NULL);
	known = &reread->rr_known[place_of(reread, pid)];
	known->kn_pid = pid;
	known->kn_wait_ns = FIRST_NS;
	reread->rr_n++;
	return (known);
}

/* Another process may get its number; those behind it move up. */
static void
known_remove(struct prof_reread *reread, uint32_t pid)
{
	struct known *known = known_find(reread, pid), moved;
	size_t at;

	if (known == NULL)
		return;
	at = (size_t)(known - reread->rr_known);
	known->kn_pid = 0;
	reread->rr_n--;
	for (at = (at + 1) & (reread->rr_cap - 1);
	    reread->rr_known[at].kn_pid != 0;
	    at = (at + 1) & (reread->rr_cap - 1)) {
		moved = reread->rr_known[at];
		reread->rr_known[at].kn_pid = 0;
		reread->rr_known[place_of(reread, moved.kn_pid)] = moved;
	}
}

/* -------------------------------------------------------- reading */

static int
hash_mapping(void *arg, const struct prof_record *record)
{
	struct prof_reread *reread = arg;
	const uint64_t what[] = { record->pr_addr, record->pr_len,
	    record->pr_offset, record->pr_dev, record->pr_ino };

	XXH3_64bits_update(reread->rr_hash, what, sizeof(what));
	reread->rr_found++;
	return (0);
}

static int
take_mapping(void *arg, const struct prof_record *record)
{
	struct prof_reread *reread = arg;

	return (prof_session_take_read(reread->rr_session, record,
	    reread->rr_sample_ns));
}

/*
 * What it had is forgotten, and what it has now taken, if it differs.  Of one
 * that has ended nothing is left to be read: what is known stays.
 * PROF_MAPS_MORE: it has more than may be read now, and what is known stays.
 */
static int
known_renew(struct prof_reread *reread, struct known *known, uint64_t now_ns)
{
	uint64_t hash;

	XXH3_64bits_reset(reread->rr_hash);
	reread->rr_found = 0;
	if (prof_procfs_maps((int)known->kn_pid, now_ns, false,
	    prof_pace_mappings(reread->rr_session), hash_mapping, reread) ==
	    PROF_MAPS_MORE)
		return (PROF_MAPS_MORE);
	hash = XXH3_64bits_digest(reread->rr_hash) | 1;
	if (reread->rr_found == 0 || hash == known->kn_hash) {
		if (known->kn_wait_ns < LONGEST_NS)
			known->kn_wait_ns *= 2;
		return (0);
	}
	known->kn_hash = hash;
	known->kn_wait_ns = FIRST_NS;
	if (prof_session_renew(reread->rr_session, known->kn_pid,
	    reread->rr_sample_ns, reread->rr_execs_lost) == -1)
		return (-1);
	return (prof_procfs_maps((int)known->kn_pid, now_ns, true, UINT_MAX,
	    take_mapping, reread) == 0 ? 0 : -1);
}

/* Those that were never read do not wait for what others have cost. */
static enum prof_paced
work_of(const struct known *known)
{
	return (known == NULL || known->kn_read_ns == 0 ? PROF_PACED_FIRST :
	    PROF_PACED_REREAD);
}

int
prof_reread_now(struct prof_reread *reread, uint32_t pid, uint64_t sample_ns)
{
	struct known *known = known_get(reread, pid);
	const uint64_t now_ns = prof_now_ns(), cpu_ns = prof_cpu_ns();
	enum prof_paced work;
	uint64_t end_ns;
	int rv;

	if (known == NULL)
		return (prof_fail_nomem(&reread->rr_session->se_error));
	reread->rr_sample_ns = sample_ns;
	work = work_of(known);
	rv = known_renew(reread, known, now_ns);
	end_ns = prof_now_ns();
	reread->rr_spent_ns += end_ns - now_ns;
	known->kn_paid_ns = end_ns + prof_pace_paid(reread->rr_session, work,
	    prof_cpu_ns() - cpu_ns);
	if (rv == PROF_MAPS_MORE)
		return (0);
	known->kn_losses = reread->rr_losses;
	known->kn_mapped = 0;
	known->kn_read_ns = end_ns;
	reread->rr_times++;
	return (rv);
}

/* How many samples of it there were of late, up to OFTEN. */
static uint8_t *
met_of(struct prof_reread *reread, uint32_t pid)
{
	const uint64_t now_ns = prof_now_ns();

	if (now_ns - reread->rr_met_ns > MET_NS) {
		memset(reread->rr_met, 0, sizeof(reread->rr_met));
		reread->rr_met_ns = now_ns;
	}
	return (&reread->rr_met[pid * 2654435769u >> (32 - MET_BITS)]);
}

/* Not so often that it would be what the recorder mostly does. */
static bool
is_time(struct prof_reread *reread, const struct known *known, uint32_t pid,
    uint64_t wait_ns)
{
	const uint64_t now_ns = prof_now_ns();
	const bool is_often = *met_of(reread, pid) == OFTEN;

	if (known != NULL && (now_ns < known->kn_paid_ns ||
	    now_ns - known->kn_read_ns < wait_ns))
		return (false);
	return (reread->rr_spent_ns < BURST_NS +
	    (now_ns - reread->rr_since_ns) / SHARE &&
	    prof_pace_may(reread->rr_session, work_of(known), is_often));
}

bool
prof_reread_is_due(struct prof_reread *reread,
    const struct prof_record *sample)
{
	const struct known *known;
	uint8_t *met;

	if (reread == NULL || sample->pr_pid == 0)
		return (false);
	known = known_find(reread, sample->pr_pid);
	if ((known == NULL ? 0 : known->kn_losses) == reread->rr_losses)
		return (false);
	met = met_of(reread, sample->pr_pid);
	*met += *met < OFTEN;
	return (is_time(reread, known, sample->pr_pid,
	    known == NULL ? 0 : known->kn_wait_ns));
}

bool
prof_reread_is_unknown(struct prof_reread *reread,
    const struct prof_record *sample)
{
	const struct known *known;

	if (reread == NULL || sample->pr_pid == 0 ||
	    reread->rr_session->se_plan.pn_is_wide ||
	    reread->rr_session->se_options.po_verify ||
	    (sample->pr_ustatus != PROF_STACK_NOPROC &&
	    sample->pr_ustatus != PROF_STACK_NOMAP))
		return (false);
	known = known_find(reread, sample->pr_pid);
	return (is_time(reread, known, sample->pr_pid,
	    known == NULL ? 0 : known->kn_wait_ns));
}

/*
 * A LOST record comes with the next one that fits, which may take long: where
 * a ring was nearly full, or lost something, the kernel's own counts are asked.
 */
void
prof_reread_look(struct prof_reread *reread)
{
	struct prof_side side;

	if (prof_now_ns() - reread->rr_looked_ns < LOOK_NS)
		return;
	prof_account_side(reread->rr_session, false, &side);
	if (!side.sd_was_full && side.sd_lost == reread->rr_told_lost)
		return;
	reread->rr_told_lost = side.sd_lost;
	reread->rr_looked_ns = prof_now_ns();
	prof_account_side(reread->rr_session, true, &side);
	if (side.sd_lost != reread->rr_side_lost)
		reread->rr_losses++;
	reread->rr_side_lost = side.sd_lost;
}

/* A mapping that came: those that went meanwhile are to go, too. */
static int
count_mapping(struct prof_reread *reread, const struct prof_record *record)
{
	struct known *known;

	if (record->pr_pid == UINT32_MAX ||
	    (known = known_get(reread, record->pr_pid)) == NULL)
		return (0);
	known->kn_hash = 0;
	if (++known->kn_mapped < GROWN ||
	    !is_time(reread, known, record->pr_pid, GROWN_NS))
		return (0);
	return (prof_reread_now(reread, record->pr_pid, record->pr_time_ns));
}

int
prof_reread_observe(struct prof_reread *reread,
    const struct prof_record *record)
{
	struct known *known;

	switch (record->pr_type) {
	case PROF_R_MMAP:
		return (count_mapping(reread, record));
	case PROF_R_EXEC:
		known = known_find(reread, record->pr_pid);
		if (known != NULL) {
			known->kn_hash = 0;
			known->kn_wait_ns = FIRST_NS;
		}
		return (0);
	case PROF_R_EXIT:
		if (record->pr_group_dead)
			known_remove(reread, record->pr_pid);
		return (0);
	case PROF_R_LOST:
		/* Samples in buffers of their own took none along. */
		if (record->pr_event == 0 ||
		    (reread->rr_session->se_backend->bk_flags &
		    PROF_BACKEND_SHARES))
			reread->rr_losses++;
		if (record->pr_event == 0 && record->pr_addr != 0)
			reread->rr_execs_lost = true;
		return (0);
	default:
		return (0);
	}
}
