/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: each record comes out of prof_reader_next as an entry with the
 * parts of its type and no other, and with the very values that libprof's own
 * readers see; every type of a recording is met.
 *
 * Easy to get wrong where one member of a record means different things by
 * type, such as a path, a text and a name.
 */
#include "recording-lib.h"

#define NTYPES	32

static unsigned seen[NTYPES];

static void
check_parts(const struct prof_entry *en)
{
	const enum prof_record_type type = en->en_type;
	const bool is_process = type == PROF_R_FORK || type == PROF_R_EXEC ||
	    type == PROF_R_EXIT || type == PROF_R_COMM || type == PROF_R_TASK;
	const bool is_text = type == PROF_R_MARK || type == PROF_R_PAUSE ||
	    type == PROF_R_RESUME;

	CHECK((en->en_sample != NULL) == (type == PROF_R_SAMPLE));
	CHECK((en->en_process != NULL) == is_process);
	CHECK((en->en_mapping != NULL) == (type == PROF_R_MMAP ||
	    type == PROF_R_KSYMBOL));
	CHECK((en->en_lost != NULL) == (type == PROF_R_LOST ||
	    type == PROF_R_TURNS));
	CHECK((en->en_text != NULL) == is_text);
}

static void
check_sample(const struct prof_entry_sample *es, const struct prof_record *pr)
{
	CHECK(es->es_weight == pr->pr_weight && es->es_ip == pr->pr_ip);
	CHECK(es->es_in_kernel == pr->pr_in_kernel &&
	    es->es_nested == pr->pr_nested);
	CHECK(es->es_kstatus == pr->pr_kstatus &&
	    es->es_ustatus == pr->pr_ustatus);
	CHECK(es->es_nkernel == pr->pr_nkernel &&
	    es->es_nuser == pr->pr_nuser && es->es_nscript == pr->pr_nscript);
	CHECK(es->es_nkernel == 0 || memcmp(es->es_kernel, pr->pr_kernel,
	    es->es_nkernel * sizeof(*es->es_kernel)) == 0);
	CHECK(es->es_nuser == 0 || memcmp(es->es_user, pr->pr_user,
	    es->es_nuser * sizeof(*es->es_user)) == 0);
	CHECK(es->es_nscript == 0 || memcmp(es->es_script, pr->pr_script,
	    es->es_nscript * sizeof(*es->es_script)) == 0);
	CHECK(es->es_nargs == pr->pr_nargs &&
	    es->es_nvalues == pr->pr_nvalues);
	for (uint32_t n = 0; n < es->es_nargs; n++) {
		CHECK(es->es_args[n] == pr->pr_args[n]);
		CHECK((es->es_strs[n] == NULL) == (pr->pr_strs[n] == NULL));
		CHECK(es->es_strs[n] == NULL ||
		    strcmp(es->es_strs[n], pr->pr_strs[n]) == 0);
	}
	for (uint32_t n = 0; n < es->es_nvalues; n++)
		CHECK(es->es_values[n] == pr->pr_values[n]);
	CHECK(es->es_values_ns == pr->pr_values_ns &&
	    es->es_values_running_ns == pr->pr_values_running_ns);
	CHECK(strcmp(es->es_comm, pr->pr_comm) == 0);
}

static void
check_others(const struct prof_entry *en, const struct prof_record *pr)
{
	const struct prof_entry_process *ep = en->en_process;
	const struct prof_entry_mapping *em = en->en_mapping;

	CHECK(ep == NULL || (ep->ep_ppid == pr->pr_ppid &&
	    ep->ep_ptid == pr->pr_ptid && ep->ep_status == pr->pr_code &&
	    ep->ep_is_last == pr->pr_group_dead &&
	    strcmp(ep->ep_comm, pr->pr_comm) == 0 &&
	    strcmp(ep->ep_path, pr->pr_path) == 0));
	CHECK(em == NULL || (em->em_addr == pr->pr_addr &&
	    em->em_len == pr->pr_len && em->em_offset == pr->pr_offset &&
	    em->em_dev == pr->pr_dev && em->em_ino == pr->pr_ino &&
	    em->em_prot == pr->pr_prot &&
	    em->em_build_id_len == pr->pr_build_id_len &&
	    memcmp(em->em_build_id, pr->pr_build_id,
	    em->em_build_id_len) == 0 &&
	    strcmp(em->em_path, pr->pr_path) == 0));
	CHECK(en->en_lost == NULL || (en->en_lost->el_count == pr->pr_weight &&
	    en->en_lost->el_since_ns == pr->pr_addr));
	CHECK(en->en_text == NULL || strcmp(en->en_text, pr->pr_path) == 0);
}

static unsigned
compare(const char *path)
{
	struct prof_err error = { 0 };
	struct prof_reader *plain = prof_reader_open(path, &error);
	struct prof_reader *public = prof_reader_open(path, &error);
	const struct prof_entry *en;
	struct prof_record pr;
	unsigned n = 0;

	CHECK(plain != NULL && public != NULL);
	while (prof_reader_record(plain, &pr) == 1) {
		CHECK(prof_reader_next(public, &en) == 1);
		CHECK(en->en_type == pr.pr_type && en->en_event ==
		    pr.pr_event && en->en_time_ns == pr.pr_time_ns &&
		    en->en_cpu == pr.pr_cpu && en->en_pid == pr.pr_pid &&
		    en->en_tid == pr.pr_tid);
		check_parts(en);
		if (en->en_sample != NULL)
			check_sample(en->en_sample, &pr);
		check_others(en, &pr);
		seen[en->en_type % NTYPES]++;
		n++;
	}
	CHECK(prof_reader_next(public, &en) == 0 && en == NULL);
	prof_reader_close(plain);
	prof_reader_close(public);
	return (n);
}

/* Some of each type, with random values in all members. */
static void
make(const char *path)
{
	struct made *made = malloc(sizeof(*made));
	struct prof_writer *writer;
	struct prof_err error;
	uint64_t time_ns = 1000;

	CHECK(made != NULL);
	writer = prof_writer_open(path, &error);
	CHECK(writer != NULL);
	made_events(writer);
	for (int i = 0; i < 400; i++) {
		made_sample(made, ++time_ns);
		CHECK_OK(prof_writer_add(writer, &made->md_record),
		    prof_writer_error(writer));
		made_life(made, ++time_ns);
		made->md_record.pr_type = (enum prof_record_type)
		    (PROF_R_FORK + i % (PROF_R_TURNS - PROF_R_SAMPLE));
		CHECK_OK(prof_writer_add(writer, &made->md_record),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	free(made);
}

int
main(void)
{
	const char *path = work_path("entries.dtp");
	unsigned n;

	make(path);
	n = compare(path);
	for (int type = PROF_R_SAMPLE; type <= PROF_R_TURNS; type++)
		CHECK(seen[type] >= 20);
	printf("ok: %u entries of %d types\n", n, PROF_R_TURNS);
	return (n == 800 ? 0 : 1);
}
