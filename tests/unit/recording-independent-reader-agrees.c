/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a reader that was written from doc/dtprof-format.5 alone, in
 * another language, finds the same in a recording as libprof does: checksums,
 * samples, frames, arguments, strings, lives and accounting.
 */
#include "recording-lib.h"

struct event_sum {
	uint64_t	es_count;
	uint64_t	es_sums[15];
};

struct life_sum {
	uint64_t	ls_count;
	uint64_t	ls_time;
	uint64_t	ls_fields;
	uint64_t	ls_text;
};

static uint64_t
sum_text(const char *text)
{
	uint64_t sum = 0;

	while (*text != '\0')
		sum += (uint8_t)*text++;
	return (sum);
}

static void
add_sample(struct event_sum *sum, const struct prof_record *r)
{
	uint64_t *sums = sum->es_sums;
	uint32_t i;

	sum->es_count++;
	sums[0] += r->pr_time_ns;
	sums[1] += r->pr_cpu;
	sums[2] += r->pr_pid;
	sums[3] += r->pr_tid;
	sums[4] += r->pr_weight;
	sums[5] += r->pr_ip;
	sums[9] += sum_text(r->pr_comm);
	for (i = 0; i < r->pr_nargs; i++) {
		sums[6] += r->pr_args[i];
		if (r->pr_strs[i] != NULL)
			sums[9] += sum_text(r->pr_strs[i]);
	}
	for (i = 0; i < r->pr_nkernel; i++)
		sums[7] += r->pr_kernel[i];
	for (i = 0; i < r->pr_nuser; i++)
		sums[7] += r->pr_user[i];
	for (i = 0; i < r->pr_nscript; i++)
		sums[7] += r->pr_script[i];
	sums[8] += r->pr_nkernel + r->pr_nuser + r->pr_nscript;
	sums[10] += (r->pr_in_kernel != 0) | (r->pr_nested != 0) << 1;
	sums[11] += r->pr_kstatus;
	sums[12] += r->pr_ustatus;
	for (i = 0; i < r->pr_nvalues; i++)
		sums[13] += r->pr_values[i];
	sums[14] += r->pr_values_ns - r->pr_values_running_ns;
}

static void
add_life(struct life_sum *sum, const struct prof_record *r)
{
	uint32_t i;

	sum->ls_count++;
	sum->ls_time += r->pr_time_ns;
	sum->ls_fields += (uint64_t)r->pr_event + r->pr_cpu + r->pr_pid +
	    r->pr_tid + r->pr_weight + r->pr_ppid + r->pr_ptid +
	    (uint64_t)r->pr_group_dead + r->pr_addr + r->pr_len +
	    r->pr_offset + r->pr_prot + r->pr_dev + r->pr_ino +
	    r->pr_build_id_len;
	sum->ls_text += sum_text(r->pr_comm) + sum_text(r->pr_path);
	for (i = 0; i < r->pr_build_id_len; i++)
		sum->ls_text += r->pr_build_id[i];
}

/* The lines that the other one should print. */
static void
print_sums(FILE *out, struct prof_reader *reader)
{
	static struct event_sum events[MADE_EVENTS];
	static struct life_sum lives[PROF_R_KSYMBOL + 1];
	struct prof_accounting row;
	struct prof_record record;
	size_t e, i;

	memset(events, 0, sizeof(events));
	memset(lives, 0, sizeof(lives));
	while (prof_reader_record(reader, &record) == 1) {
		if (record.pr_type == PROF_R_SAMPLE)
			add_sample(&events[record.pr_event], &record);
		else
			add_life(&lives[record.pr_type], &record);
	}
	(void)fprintf(out, "end 0\n");
	for (e = 0; e < MADE_EVENTS; e++) {
		(void)fprintf(out, "event %zu %s %" PRIu64, e,
		    prof_reader_event(reader, e)->pi_name,
		    events[e].es_count);
		for (i = 0; i < 15; i++)
			(void)fprintf(out, " %" PRIu64, events[e].es_sums[i]);
		CHECK(prof_reader_accounting(reader, e, -1, &row) == 0);
		(void)fprintf(out, "\naccounting %zu %" PRIu64 " %" PRIu64
		    "\n", e, row.pa_fired, (uint64_t)row.pa_unaccounted);
	}
	for (i = PROF_R_FORK; i <= PROF_R_KSYMBOL; i++)
		(void)fprintf(out, "life %zu %" PRIu64 " %" PRIu64 " %" PRIu64
		    " %" PRIu64 "\n", i, lives[i].ls_count, lives[i].ls_time,
		    lives[i].ls_fields, lives[i].ls_text);
}

static void
compare(bool raw, uint64_t seed)
{
	char command[1200], path[400], ours[400], line[600], theirs[600];
	const char *src = getenv("SRC");
	struct prof_reader *reader;
	struct prof_err error;
	FILE *file, *other;
	int lines = 0;

	(void)snprintf(path, sizeof(path), "%s", work_path("x.dtp"));
	(void)snprintf(ours, sizeof(ours), "%s", work_path("sums"));
	made_recording(path, seed, 3000, raw);
	reader = prof_reader_open(path, &error);
	CHECK(reader != NULL);
	file = fopen(ours, "we");
	CHECK(file != NULL);
	print_sums(file, reader);
	CHECK(fclose(file) == 0);
	prof_reader_close(reader);
	(void)snprintf(command, sizeof(command),
	    "python3 '%s/tests/interop/read_dtp.py' '%s'",
	    src != NULL ? src : ".", path);
	other = popen(command, "re");
	file = fopen(ours, "re");
	CHECK(other != NULL && file != NULL);
	while (fgets(line, sizeof(line), file) != NULL) {
		lines++;
		if (fgets(theirs, sizeof(theirs), other) == NULL)
			theirs[0] = '\0';
		if (strcmp(line, theirs) != 0) {
			printf("libprof: %sthe other: %s\n", line, theirs);
			exit(1);
		}
	}
	CHECK(fgets(theirs, sizeof(theirs), other) == NULL);
	CHECK(pclose(other) == 0);
	(void)fclose(file);
	printf("%d lines the same, %s\n", lines, raw ? "plain" : "zstd");
}

int
main(void)
{
	if (system("python3 -c 'import struct' 2>/dev/null") != 0) {
		printf("SKIP: no python3\n");
		return (77);
	}
	compare(true, 31);
	compare(true, 32);
	if (system("zstd --version >/dev/null 2>&1") == 0)
		compare(false, 33);
	else
		printf("no zstd command: compressed chunks not compared\n");
	return (0);
}
