/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: script frames of a stream become frames of a recording with the
 * names and lines that their language reads from the process: 1,024 of them
 * beside 1,023 native ones in one record; a deep stack keeps its innermost and
 * its outermost frames, native and script ones alike, in order, with a gap
 * between them, and script frames behind which more were that could not be had
 * end with that.  What a process does to its memory costs a name, what is
 * malformed is refused; many long names come in tables that chunks can hold.
 *
 * Easy to get wrong: a code object that moved or is another's by now, a name
 * without end, one across the end of a mapping, the same address after exec, in
 * another process, and with another stamp.
 *
 * The language is made up, its code objects lie in our own memory.
 */
#include <sys/mman.h>
#include <sys/wait.h>

#include "backend/bpf/bpf_impl.h"
#include "process/codes.h"
#include "recording-lib.h"
#include "recording/frame.h"

#define MAGIC	0x746f79u
#define LARGE	0x544f59u	/* with as many lines as there may be */
#define EVENT	1
#define NLARGE	1500
#define LARGEST	(2u << 20)	/* bytes of a table */

struct toy {
	uint64_t	to_magic;
	const char	*to_name;
	const char	*to_file;
	uint32_t	to_line;
};

static bool
toy_describe(const struct prof_peek *memory,
    const struct prof_code_key *key, struct prof_code_object *code)
{
	struct toy toy;

	if (!prof_peek_read(memory, key->ck_address, &toy, sizeof(toy)) ||
	    toy.to_magic != key->ck_check || !prof_peek_text(memory,
	    (uintptr_t)toy.to_name, code->co_name, sizeof(code->co_name)) ||
	    !prof_peek_text(memory, (uintptr_t)toy.to_file, code->co_file,
	    sizeof(code->co_file)))
		return (false);
	code->co_line = toy.to_line;
	code->co_step[0] = (struct prof_table_step){ 0, toy.to_line + 1 };
	code->co_step[1] = (struct prof_table_step){ 8, toy.to_line + 2 };
	code->co_nsteps = 2;
	for (; key->ck_check == LARGE && code->co_nsteps < PROF_CODE_STEPS;
	    code->co_nsteps++)
		code->co_step[code->co_nsteps] = (struct prof_table_step){
		    code->co_nsteps << 12, code->co_nsteps % 2 * INT32_MAX };
	return (true);
}

static const struct prof_language toy_language = {
	.la_name = "toy",
	.la_kind = PROF_FRAME_SCRIPT,
	.la_describe = toy_describe,
};

static const struct prof_language *
language_at(unsigned number)
{
	return (number == 1 ? &toy_language : NULL);
}

/* ------------------------------------------------------------ records */

static struct prof_plan plan;
static struct prof_stream stream;
static uint32_t parts[2] = { 0, DTP_P_USTACK };
static uint64_t bytes[DTP_MAX_RECORD / 8 + 1];
static uint32_t outer;		/* of the script's words, were in the circle */
static uint32_t pid;

static uint64_t
word(uint32_t instruction)
{
	return ((uint64_t)PROF_FRAME_SCRIPT << PROF_WORD_KIND_SHIFT |
	    (uint64_t)1 << PROF_WORD_FLAGS_SHIFT | instruction);
}

/* A sample; what prof_stream_decode says of it. */
static int
decode(const uint64_t *native, uint32_t nnative, uint32_t turned,
    const uint64_t *script, uint32_t nscript)
{
	static uint64_t now_ns = 1000;
	struct dtp_rec *rec = (void *)bytes;
	struct dtp_stack *stack = (void *)(rec + 1);
	struct dtp_script *head;
	uint64_t *to = (void *)(stack + 1);

	memset(bytes, 0, sizeof(bytes));
	stack->ds_nuser = (uint16_t)nnative;
	stack->ds_ustatus = DTP_S_OK;
	stack->ds_turned = (uint16_t)turned;
	if (nnative > 0)
		memcpy(to, native, 8 * (size_t)nnative);
	head = (void *)(to + nnative);
	head->sp_words = nscript;
	head->sp_outer = outer;
	to = (void *)(head + 1);
	if (nscript > 0)
		memcpy(to, script, 8 * (size_t)nscript);
	rec->dr_size = (uint32_t)((char *)(to + nscript) - (char *)bytes);
	CHECK(rec->dr_size <= DTP_MAX_RECORD);
	rec->dr_type = DTP_T_SAMPLE;
	rec->dr_flags = DTP_R_SCRIPT;
	rec->dr_event = EVENT;
	rec->dr_pid = rec->dr_tid = pid;
	rec->dr_time_ns = now_ns++;
	return (prof_stream_decode(&stream, rec));
}

/* One frame of a code object. */
static int
decode_one(const void *code, uint64_t check, uint32_t instruction)
{
	const uint64_t pc = 0x1000, words[] = { word(instruction),
	    (uintptr_t)code, check };

	return (decode(&pc, 1, 0, words, 3));
}

static int
put(void *writer, const void *body, size_t len)
{
	return (prof_writer_symbols(writer, body, len));
}

/* -------------------------------------------------------------- cases */

#define NDEEP	2000

/* A walk of so many frames as the kernel leaves it, and what it means. */
static void
try_deep(uint32_t n)
{
	uint64_t frames[DTP_MAX_UFRAMES];
	const uint64_t *user;
	uint32_t i, at = 0;

	for (i = 0; i < n; i++) {
		at = i < DTP_MAX_UFRAMES ? i : DTP_INNER_UFRAMES +
		    ((i - DTP_INNER_UFRAMES) & (DTP_OUTER_UFRAMES - 1));
		frames[at] = 0x1000 + i;
	}
	at = DTP_INNER_UFRAMES + ((n - DTP_INNER_UFRAMES) &
	    (DTP_OUTER_UFRAMES - 1));
	CHECK(decode(frames, DTP_MAX_UFRAMES, n > DTP_MAX_UFRAMES ? at : 0,
	    NULL, 0) == 0);
	user = stream.sm_record.pr_user;
	CHECK(user[0] == 0x1000);
	if (n == DTP_MAX_UFRAMES) {
		CHECK(stream.sm_record.pr_nuser == n && user[n - 1] ==
		    0x1000 + n - 1);
		return;
	}
	CHECK(stream.sm_record.pr_nuser == DTP_MAX_UFRAMES + 1);
	for (i = 0; i < DTP_INNER_UFRAMES; i++)
		CHECK(user[i] == 0x1000 + i);
	CHECK(user[i++] == PROF_WORD_GAP);
	for (; i <= DTP_MAX_UFRAMES; i++)
		CHECK(user[i] == 0x1000 + n - (DTP_MAX_UFRAMES + 1 - i));
}

/*
 * Of so many script frames, each the end of a run if that is a multiple of
 * 100, as the kernel leaves them: those of the innermost ones that it keeps,
 * and all of the outermost ones.
 */
static void
try_turned(const struct toy *toy, uint32_t n)
{
	uint64_t words[DTP_MAX_SCRIPT] = { 0 }, *to;
	uint32_t i, inner = 0, at = 0, lost;
	const uint64_t pc = 0x1000, *seen;

	outer = 0;
	for (i = 0; i < n + n / 100; i++) {
		to = words + inner;
		if (inner >= DTP_INNER_SCRIPT)
			to += outer++ % DTP_OUTER_SCRIPT * DTP_SCRIPT_WORDS;
		else
			inner += i % 101 == 100 ? 1 : DTP_SCRIPT_WORDS;
		to[0] = i % 101 == 100 ? DTP_W_BOUNDARY(DTP_W_INTERPRETER, 0) :
		    word(i);
		at = i % 101 == 100 ? 0 : i;
		if (at != i)
			continue;
		to[1] = (uintptr_t)toy;
		to[2] = MAGIC;
	}
	lost = outer > DTP_OUTER_SCRIPT ? outer - DTP_OUTER_SCRIPT : 0;
	CHECK(decode(&pc, 1, 0, words, inner + (outer - lost) *
	    DTP_SCRIPT_WORDS) == 0);
	outer = 0;
	seen = stream.sm_record.pr_script;
	CHECK(stream.sm_record.pr_nscript == n + n / 100 - lost + (lost > 0));
	n = stream.sm_record.pr_nscript;
	CHECK((seen[n - 1] & 0xffffff) == at);
	for (i = 0; i < n && seen[i] != PROF_WORD_GAP; i++)
		CHECK((seen[i] & 0xffffff) == (i % 101 == 100 ? 0 : i));
	CHECK((i == n) == (lost == 0));
	for (i++; i < n; i++) {
		at = i + lost - 1;
		CHECK((seen[i] & 0xffffff) == (at % 101 == 100 ? 0 : at));
	}
}

static void
try_malformed(const struct toy *toy)
{
	const uint64_t pc = 0x1000, code = (uintptr_t)toy;
	const uint64_t cut[] = { word(0), code };
	const uint64_t other[] = { word(0) | (uint64_t)9 <<
	    PROF_WORD_FLAGS_SHIFT, code, MAGIC };
	static const uint64_t many[DTP_MAX_UFRAMES];
	struct dtp_rec *rec = (void *)bytes;

	CHECK(decode(&pc, 1, 0, cut, 2) == -1);
	CHECK(decode(&pc, 1, 0, other, 3) == -1);
	CHECK(decode(&pc, 1, 600, NULL, 0) == -1);
	CHECK(decode(many, DTP_MAX_UFRAMES, 1023, NULL, 0) == -1);
	CHECK(decode(many, DTP_MAX_UFRAMES, 510, NULL, 0) == -1);
	outer = 1;
	CHECK(decode(&pc, 1, 0, cut, 2) == -1);
	outer = UINT32_MAX;
	CHECK(decode(&pc, 1, 0, many, DTP_OUTER_SCRIPT) == -1);
	outer = 0;
	CHECK(decode_one(toy, MAGIC, 0) == 0);
	rec->dr_size -= 8;
	CHECK(prof_stream_decode(&stream, rec) == -1);
}

static void
try_many(const struct toy *toy)
{
	static uint64_t native[DTP_MAX_UFRAMES], script[DTP_MAX_SCRIPT];
	struct prof_frame frame;

	for (uint32_t i = 0; i < DTP_MAX_UFRAMES; i++)
		native[i] = 0x1000 + i;
	for (uint32_t i = 0; i < DTP_MAX_SCRIPT; i += 3) {
		script[i] = word(i);
		script[i + 1] = (uintptr_t)toy;
		script[i + 2] = MAGIC;
	}
	CHECK(decode(native, DTP_MAX_UFRAMES, 0, script, DTP_MAX_SCRIPT) ==
	    0);
	CHECK(stream.sm_record.pr_nuser == DTP_MAX_UFRAMES);
	/* It is full, so there may have been more. */
	CHECK(stream.sm_record.pr_nscript == DTP_MAX_SCRIPT / 3 + 1);
	CHECK(stream.sm_record.pr_script[DTP_MAX_SCRIPT / 3] ==
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_TRUNCATED, 0));
	for (uint32_t i = 0; i < DTP_MAX_SCRIPT / 3; i++) {
		prof_frame_unpack(stream.sm_record.pr_script[i], &frame);
		CHECK(frame.fr_kind == PROF_FRAME_SCRIPT &&
		    prof_frame_instruction(&frame) == 3 * i);
	}
}

/* A frame that could not be read: its run, with its place, is the last one. */
static void
try_unread(const struct toy *toy)
{
	const uint64_t pc[] = { 0x1000, 0x2000 };
	const uint64_t frame[] = { word(0), (uintptr_t)toy, MAGIC,
	    DTP_W_BOUNDARY(DTP_W_TRUNCATED, 0) };
	const uint64_t run[] = { word(0), (uintptr_t)toy, MAGIC,
	    DTP_W_BOUNDARY(DTP_W_INTERPRETER, 2),
	    DTP_W_BOUNDARY(DTP_W_TRUNCATED, 0) };

	CHECK(decode(pc, 2, 0, frame, 4) == 0);
	CHECK(stream.sm_record.pr_nscript == 2);
	CHECK(stream.sm_record.pr_script[1] ==
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_TRUNCATED, 0));
	CHECK(decode(pc, 2, 0, run, 5) == 0);
	CHECK(stream.sm_record.pr_nscript == 2);
	CHECK(stream.sm_record.pr_script[1] ==
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_TRUNCATED, 2));
	CHECK(decode(pc, 2, 0, frame + 3, 1) == 0);
	CHECK(stream.sm_record.pr_nscript == 1);
}

/* A walk that left a frame out, and one that had a frame too many. */
static void
try_moved(const struct toy *toy)
{
	const uint64_t before[] = { 0x1000, 0x2000, 0x3000 };
	const uint64_t after[] = { 0x1000, 0x1800, 0x2000 };
	const uint64_t words[] = { word(0), (uintptr_t)toy, MAGIC,
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 2),
	    word(0), (uintptr_t)toy, MAGIC,
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 3) };

	CHECK(decode(before, 3, 0, words, 8) == 0);
	stream.sm_record.pr_user = after;
	prof_stream_moved(&stream, before, 3);
	CHECK(stream.sm_record.pr_script[1] ==
	    PROF_WORD_BOUNDARY(PROF_BOUNDARY_INTERPRETER, 3));
	CHECK(stream.sm_record.pr_script[3] == PROF_WORD_BOUNDARY(
	    PROF_BOUNDARY_INTERPRETER, PROF_FRAME_INSTRUCTION));
}

/* The name, and the line if there is one, of each sample's script frame. */
static void
expect(const char *path, const char *const *names, size_t n)
{
	struct prof_err error = { 0 };
	struct prof_reader *reader = prof_reader_open(path, &error);
	const struct prof_function *function;
	struct prof_symbols *symbols;
	struct prof_record record;
	struct prof_frame frame;
	struct prof_line line;
	char seen[1024];

	CHECK_OK(reader == NULL ? -1 : 0, &error);
	symbols = prof_symbols_open(reader, NULL, &error);
	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	for (size_t i = 0; i < n; i++) {
		CHECK(prof_reader_record(reader, &record) == 1);
		CHECK(record.pr_nscript == 1);
		prof_frame_unpack(record.pr_script[0], &frame);
		function = prof_symbols_function(symbols,
		    prof_symbols_find(symbols, 0, &frame));
		CHECK(function->fu_kind == PROF_FRAME_SCRIPT);
		if (prof_symbols_lines(symbols, 0, &frame, &line, 1) == 1)
			(void)snprintf(seen, sizeof(seen), "%s %s:%u",
			    function->fu_name, line.ln_file, line.ln_number);
		else
			(void)snprintf(seen, sizeof(seen), "%s",
			    function->fu_name);
		if (strcmp(seen, names[i]) == 0)
			continue;
		printf("FAIL: %zu is %s, not %s\n", i, seen, names[i]);
		exit(1);
	}
	CHECK(prof_reader_record(reader, &record) == 0);
	prof_symbols_close(symbols);
	prof_reader_close(reader);
}

static char endless[600], cut[PROF_CODE_TEXT];
static struct toy plain = { MAGIC, "plain", "/a.toy", 10 },
    moved = { MAGIC, "moved", "/a.toy", 20 },
    wild = { MAGIC, (const char *)8, "/a.toy", 30 },
    longest = { MAGIC, endless, "", 40 },
    edge = { MAGIC, NULL, "/a.toy", 50 },
    again = { MAGIC, "first", "/a.toy", 60 };

static void
one(struct prof_writer *writer, const void *code, uint32_t instruction)
{
	CHECK(decode_one(code, MAGIC, instruction) == 0);
	CHECK_OK(prof_writer_add(writer, &stream.sm_record),
	    prof_writer_error(writer));
}

/* A name that ends with its page, behind which is nothing. */
static const char *
name_at_edge(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(page != MAP_FAILED && munmap(page + 4096, 4096) == 0);
	return (strcpy(page + 4096 - 5, "edge"));
}

/* Another code object at the same address, of a process that waits for us. */
static pid_t
child_begin(int *until)
{
	const char *const ours = again.to_name;
	int pipes[2];
	pid_t child;
	char byte;

	again.to_name = "child";
	CHECK(pipe(pipes) == 0 && (child = fork()) != -1);
	if (child == 0) {
		(void)close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
	}
	again.to_name = ours;
	(void)close(pipes[0]);
	*until = pipes[1];
	return (child);
}

static void
write_names(struct prof_writer *writer)
{
	const struct prof_record exec = { .pr_type = PROF_R_EXEC,
	    .pr_pid = pid };
	const uint64_t pc = 0x1000, words[] = { word(0) |
	    1ULL << DTP_W_STAMP_SHIFT, (uintptr_t)&again, MAGIC };
	pid_t child;
	int until;

	one(writer, &plain, 3);
	one(writer, &plain, 9);
	one(writer, &moved, 0);
	moved.to_magic = 1;
	one(writer, &wild, 0);
	one(writer, &longest, 0);
	one(writer, &edge, 0);
	one(writer, (const void *)16, 0);
	one(writer, &again, 0);
	CHECK(prof_codes_round(plan.pn_codes, false, put, writer) == 0);
	CHECK(prof_codes_life(plan.pn_codes, &exec) == 0);
	again.to_name = "second";
	one(writer, &again, 0);
	CHECK(prof_codes_round(plan.pn_codes, false, put, writer) == 0);
	again.to_name = "third";
	CHECK(decode(&pc, 1, 0, words, 3) == 0);
	CHECK_OK(prof_writer_add(writer, &stream.sm_record),
	    prof_writer_error(writer));
	pid = (uint32_t)(child = child_begin(&until));
	one(writer, &again, 0);
	CHECK(prof_codes_round(plan.pn_codes, true, put, writer) == 0);
	(void)close(until);
	CHECK(waitpid(child, NULL, 0) == child);
	pid = exec.pr_pid;
}

static int
put_large(void *total, const void *body, size_t len)
{
	(void)body;
	CHECK(len <= LARGEST);
	*(size_t *)total += len;
	return (0);
}

/* More than one chunk can hold, however fast they are named. */
static void
try_large(void)
{
	static struct toy large[NLARGE];
	struct prof_codes_stats stats;
	size_t total = 0;

	plan.pn_codes = prof_codes_new(language_at, NULL);
	CHECK(plan.pn_codes != NULL);
	for (size_t n = 0; n < NLARGE; n++) {
		large[n] = (struct toy){ LARGE, endless, "", 0 };
		CHECK(decode_one(&large[n], LARGE, 0) == 0);
	}
	do {
		CHECK(prof_codes_round(plan.pn_codes, false, put_large,
		    &total) == 0);
		prof_codes_stats(plan.pn_codes, &stats);
	} while (stats.cs_named + stats.cs_unnamed < NLARGE);
	CHECK(stats.cs_unnamed == 0 && total > PROF_MAX_RAW);
	prof_codes_free(plan.pn_codes);
}

int
main(void)
{
	const char *const names[] = { "plain /a.toy:11", "plain /a.toy:12",
	    "[script]", "[script]", cut, "edge /a.toy:51", "[script]",
	    "first /a.toy:61", "second /a.toy:61", "third /a.toy:61",
	    "child /a.toy:61" };
	struct prof_event_info info = { .pi_name = "e", .pi_probe = "e",
	    .pi_provider = "e", .pi_unit = "events" };
	struct prof_codes_stats stats;
	struct prof_writer *writer;
	struct prof_err error = { 0 };
	char path[400];

	memset(endless, 'x', sizeof(endless));
	memset(cut, 'x', sizeof(cut) - 1);
	edge.to_name = name_at_edge();
	pid = (uint32_t)getpid();
	plan.pn_codes = prof_codes_new(language_at, NULL);
	stream.sm_plan = &plan;
	stream.sm_parts = parts;
	(void)snprintf(path, sizeof(path), "%s", work_path("x.dtp"));
	writer = prof_writer_open(path, &error);
	CHECK(plan.pn_codes != NULL && writer != NULL);
	CHECK(prof_writer_event(writer, &info) == 0 &&
	    prof_writer_event(writer, &info) == 0);
	try_deep(DTP_MAX_UFRAMES);
	for (uint32_t n = DTP_MAX_UFRAMES + 1; n < NDEEP; n++)
		try_deep(n);
	try_many(&plain);
	for (uint32_t n = 850; n < NDEEP; n++)
		try_turned(&plain, n);
	try_malformed(&plain);
	try_unread(&plain);
	try_moved(&plain);
	write_names(writer);
	CHECK_OK(prof_writer_close(writer, &error), &error);
	prof_codes_stats(plan.pn_codes, &stats);
	CHECK(stats.cs_named == 7 && stats.cs_unnamed == 3 &&
	    stats.cs_over == 0);
	expect(path, names, sizeof(names) / sizeof(names[0]));
	prof_codes_free(plan.pn_codes);
	try_large();
	printf("ok: %zu names, stacks of up to %d frames\n",
	    sizeof(names) / sizeof(names[0]), NDEEP);
	return (0);
}
