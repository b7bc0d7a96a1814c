/* SPDX-License-Identifier: ISC */
/*
 * Makes the compact unwind table of a module from its call frame
 * information.  The form is described in sys/abi/dtp_unwind.h.
 *
 * Called by whoever publishes tables to the kernel, and by the user-space
 * unwinder.  A row that repeats the rule before it is dropped; a rule that
 * neither fits in a row nor in the dictionary says USER, and libunwind does
 * those.  Memory is linear in the section, of which so much is read.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "outermost.h"
#include "unwind_table.h"

#define BUCKET_BYTES	(1ULL << DTP_UW_BUCKET_BITS)
#define MAX_ENTRIES	4096		/* a module's dictionary */
#define MAX_SPAN	(1ULL << 32)
#define MAX_BX_TEXT	(4U << 20)	/* larger modules do not follow rbx */
#define MAX_OUTERMOST	16
#define BARE_FDE	4096	/* bytes of text for each FDE: few have one */
#define BEGIN_AGAIN	2
#define MAX_FRAMES	(64U << 20)	/* more of a section is not read */

/* Rows while they are collected. */
struct collected {
	uint32_t	 cl_off;	/* from where the text begins */
	uint16_t	 cl_rule;
};

struct builder {
	struct prof_unwind_table *bu_table;
	uint64_t	 bu_low;	/* addresses of the text ... */
	uint64_t	 bu_high;	/* ... to its end, less than 4 GiB */
	struct collected *bu_rows;
	size_t		 bu_n;
	size_t		 bu_cap;
	bool		 bu_bx;		/* say what becomes of rbx */
	uint16_t	 bu_slot[2 * MAX_ENTRIES]; /* hash -> entry + 1 */
};

static uint16_t
dictionary_write(struct builder *bu, const struct dtp_uw_entry *entry)
{
	struct prof_unwind_table *table = bu->bu_table;
	const uint8_t *bytes = (const uint8_t *)entry;
	uint32_t hash = 2166136261u;
	size_t n;

	for (n = 0; n < sizeof(*entry); n++)
		hash = (hash ^ bytes[n]) * 16777619u;
	for (n = hash % (2 * MAX_ENTRIES); bu->bu_slot[n] != 0;
	    n = (n + 1) % (2 * MAX_ENTRIES))
		if (memcmp(&table->ut_entries[bu->bu_slot[n] - 1], entry,
		    sizeof(*entry)) == 0)
			return ((uint16_t)(DTP_UW_RULES + bu->bu_slot[n] -
			    1));
	if (table->ut_nentries == MAX_ENTRIES)
		return (DTP_UW_USER);
	table->ut_entries[table->ut_nentries] = *entry;
	bu->bu_slot[n] = (uint16_t)++table->ut_nentries;
	return ((uint16_t)(DTP_UW_RULES + table->ut_nentries - 1));
}

/* n units of 1 << shift bytes, or -1: not a whole number, or too many. */
static int
offset_units(int64_t bytes, unsigned shift)
{
	const uint64_t units = (uint64_t)bytes >> shift;

	return (units << shift == (uint64_t)bytes &&
	    units <= DTP_UW_UNITS_MASK ? (int)units : -1);
}

/* In the row itself, or -1. */
static int
inline_rule(const struct prof_cfi_rule *rule, bool arm)
{
	uint8_t fp = arm ? PROF_ARM_FP : PROF_X86_RBP;
	uint8_t sp = arm ? PROF_ARM_SP : PROF_X86_RSP;
	int cfa, saved = 0;

	if (rule->cr_cfa != PROF_CFA_REG || (rule->cr_reg != fp &&
	    rule->cr_reg != sp))
		return (-1);
	cfa = offset_units(rule->cr_cfa_off, arm ? 4 : 3);
	if (rule->cr_fp == PROF_SAVED_CFA)
		saved = offset_units(-(int64_t)rule->cr_fp_off, 3);
	else if (rule->cr_fp != PROF_SAVED_SAME)
		return (-1);
	if (cfa == -1 || saved == -1 || (rule->cr_fp == PROF_SAVED_CFA &&
	    saved == 0))
		return (-1);
	if (!arm && (rule->cr_ra != PROF_SAVED_CFA || rule->cr_ra_off != -8))
		return (-1);
	if (arm && saved == 0 && rule->cr_ra != PROF_SAVED_SAME)
		return (-1);
	if (arm && saved != 0 && (rule->cr_ra != PROF_SAVED_CFA ||
	    rule->cr_ra_off != rule->cr_fp_off + 8))
		return (-1);
	return ((rule->cr_reg == fp ? DTP_UW_BASE_FP : 0) |
	    cfa << DTP_UW_CFA_SHIFT | saved);
}

/* As an entry of the dictionary, or -1: too rare for the kernel. */
static int
entry_of(const struct prof_cfi_rule *rule, bool arm,
    struct dtp_uw_entry *entry)
{
	uint8_t fp = arm ? PROF_ARM_FP : PROF_X86_RBP;
	uint8_t sp = arm ? PROF_ARM_SP : PROF_X86_RSP;
	bool deref = rule->cr_cfa == PROF_CFA_DEREF;

	memset(entry, 0, sizeof(*entry));
	if (!deref && rule->cr_cfa != PROF_CFA_REG)
		return (-1);
	if (rule->cr_reg == sp)
		entry->ue_cfa = deref ? DTP_UW_CFA_DEREF_SP : DTP_UW_CFA_SP;
	else if (rule->cr_reg == fp)
		entry->ue_cfa = deref ? DTP_UW_CFA_DEREF_FP : DTP_UW_CFA_FP;
	else if (!deref && rule->cr_reg < 32)
		entry->ue_cfa = DTP_UW_CFA_REG;
	else
		return (-1);
	entry->ue_reg = rule->cr_reg;
	entry->ue_cfa_off = rule->cr_cfa_off;
	entry->ue_cfa_add = deref ? rule->cr_cfa_add : 0;
	switch (rule->cr_fp) {
	case PROF_SAVED_SAME:
		break;
	case PROF_SAVED_CFA:
		entry->ue_fp = DTP_UW_FP_CFA;
		entry->ue_fp_off = rule->cr_fp_off;
		break;
	case PROF_SAVED_DEREF_FP:
		entry->ue_fp = DTP_UW_FP_DEREF;
		entry->ue_fp_off = rule->cr_fp_off;
		break;
	default:
		entry->ue_fp = DTP_UW_FP_LOST;
		break;
	}
	entry->ue_ra_off = rule->cr_ra_off;
	if (rule->cr_ra == PROF_SAVED_CFA)
		return (0);
	entry->ue_ra = DTP_UW_RA_REG;
	if (rule->cr_ra == PROF_SAVED_SAME && arm)
		entry->ue_ra_off = PROF_ARM_LR;
	else if (rule->cr_ra != PROF_SAVED_IN_REG || rule->cr_ra_off < 0 ||
	    rule->cr_ra_off > 31)
		return (-1);
	return (0);
}

/* What becomes of rbx, in the dictionary's words. */
static int32_t
rbx_of(const struct prof_cfi_rule *rule)
{
	if (rule->cr_bx == PROF_SAVED_SAME)
		return (DTP_UW_BX_SAME);
	if (rule->cr_bx == PROF_SAVED_CFA && rule->cr_bx_off % 8 == 0 &&
	    rule->cr_bx_off != 0)
		return (rule->cr_bx_off);
	return (DTP_UW_BX_UNKNOWN);
}

static uint16_t
rule_word(struct builder *bu, const struct prof_cfi_rule *rule)
{
	bool arm = bu->bu_table->ut_machine == PROF_MACHINE_AARCH64;
	struct dtp_uw_entry entry;
	int in_row;

	switch (rule->cr_cfa) {
	case PROF_CFA_NONE:
		return (DTP_UW_END);
	case PROF_CFA_STOP:
		return (DTP_UW_STOP);
	case PROF_CFA_SIGNAL:
		return (DTP_UW_SIGNAL);
	case PROF_CFA_PLT:
		if (rule->cr_cfa_off == 11)
			return (DTP_UW_PLT11);
		return (rule->cr_cfa_off == 10 ? DTP_UW_PLT10 : DTP_UW_USER);
	}
	if (!bu->bu_bx && (in_row = inline_rule(rule, arm)) != -1)
		return ((uint16_t)in_row);
	if (entry_of(rule, arm, &entry) == -1)
		return (DTP_UW_USER);
	if (bu->bu_bx)
		entry.ue_bx_off = rbx_of(rule);
	return (dictionary_write(bu, &entry));
}

/*
 * A later row at the same address replaces the one before.  Outside of the
 * text addresses are nonsense and would make a huge index.
 */
static int
add_row(void *arg, uint64_t pc, const struct prof_cfi_rule *rule)
{
	struct builder *bu = arg;
	uint16_t word = rule_word(bu, rule);
	uint32_t off = (uint32_t)(pc - bu->bu_low);

	if (rule->cr_cfa == PROF_CFA_REG && rule->cr_reg == DTP_UW_BX &&
	    !bu->bu_bx && bu->bu_table->ut_machine == PROF_MACHINE_X86_64 &&
	    bu->bu_table->ut_text <= MAX_BX_TEXT)
		return (BEGIN_AGAIN);
	if (pc < bu->bu_low || pc > bu->bu_high || (bu->bu_n > 0 &&
	    off < bu->bu_rows[bu->bu_n - 1].cl_off))
		return (0);
	if (bu->bu_n > 0 && off == bu->bu_rows[bu->bu_n - 1].cl_off)
		bu->bu_n--;
	if (bu->bu_n > 0 && bu->bu_rows[bu->bu_n - 1].cl_rule == word)
		return (0);
	if (!prof_room(&bu->bu_rows, &bu->bu_cap, bu->bu_n + 1,
	    sizeof(*bu->bu_rows)))
		return (1);
	bu->bu_rows[bu->bu_n].cl_off = off;
	bu->bu_rows[bu->bu_n++].cl_rule = word;
	if (word == DTP_UW_USER)
		bu->bu_table->ut_user++;
	return (0);
}

/* Where the header that the loader knows says that .eh_frame begins. */
static bool
frames_of_header(struct prof_elf *elf, uint64_t address,
    struct prof_elf_part *frames)
{
	struct prof_elf_part header;
	int32_t off;

	if (!prof_elf_at(elf, address, &header) || header.pp_size < 8)
		return (false);
	header.pp_size = 8;
	if (!prof_elf_load(elf, &header) || header.pp_bytes[1] != 0x1b)
		return (false);
	memcpy(&off, header.pp_bytes + 4, sizeof(off));
	return (prof_elf_at(elf, address + 4 + (uint64_t)(int64_t)off,
	    frames));
}

/*
 * .eh_frame by its section; in a file without sections, by that header, up to
 * the entry of length 0 that ends it.
 */
static bool
find_frames(struct prof_elf *elf, struct prof_elf_part *part, bool *to_zero)
{
	Elf64_Phdr ph;
	size_t n;

	*to_zero = false;
	if (prof_elf_section_named(elf, ".eh_frame", part) &&
	    part->pp_size > 4)
		return (true);
	/* There is one; of many, each would be looked for among as many. */
	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_GNU_EH_FRAME) {
			*to_zero = true;
			return (frames_of_header(elf, ph.p_vaddr, part));
		}
	return (false);
}

/* Room in memory, and no more of a section than we want to read. */
static bool
load_frames(struct prof_elf *elf, struct prof_elf_part *part)
{
	if (part->pp_size > MAX_FRAMES)
		part->pp_size = MAX_FRAMES;
	return (prof_elf_load(elf, part));
}

bool
prof_unwind_frames(struct prof_elf *elf, struct prof_cfi_input *in)
{
	struct prof_elf_part frames, debug;
	const bool has_debug = prof_elf_section_named(elf, ".debug_frame",
	    &debug) && load_frames(elf, &debug);

	in->ci_machine = elf->el_machine == EM_X86_64 ?
	    PROF_MACHINE_X86_64 : PROF_MACHINE_AARCH64;
	if (find_frames(elf, &frames, &in->ci_to_zero) &&
	    load_frames(elf, &frames)) {
		in->ci_address = frames.pp_address;
		in->ci_debug = frames.pp_size;
		if (has_debug && !prof_elf_append(elf, &frames, &debug))
			return (false);
	} else {
		if (!has_debug)
			return (false);
		frames = debug;
		in->ci_debug = 0;
	}
	in->ci_bytes = frames.pp_bytes;
	in->ci_size = frames.pp_size;
	return (true);
}

/* The first row that is not before an offset in the text. */
static size_t
row_at(const struct builder *bu, uint64_t off)
{
	return (PROF_BEFORE(i, bu->bu_n, bu->bu_rows[i].cl_off < off));
}

/*
 * The rule in force before the n-th row: none before the first.  No n is
 * beyond the last; asked, as clang's analyzer else believes in a row of none.
 */
static uint16_t
rule_before(const struct builder *bu, size_t n)
{
	return (n == 0 || n > bu->bu_n ? DTP_UW_END :
	    bu->bu_rows[n - 1].cl_rule);
}

/*
 * A rule for a few bytes of code that have none, or for which the file's own
 * does not hold.  At either end of all addresses it would be about others.
 */
static int
outermost_overlay(struct builder *bu, const struct prof_outermost *over)
{
	uint16_t before, behind;
	struct collected *rows;
	uint32_t begin, end;
	size_t from, to;

	if (over->ou_from == 0 || over->ou_from < bu->bu_low ||
	    over->ou_to > bu->bu_high || over->ou_to <= over->ou_from)
		return (0);
	begin = (uint32_t)(over->ou_from - bu->bu_low);
	end = (uint32_t)(over->ou_to - bu->bu_low);
	from = row_at(bu, begin);
	to = row_at(bu, end + 1ULL);
	before = rule_before(bu, from);
	behind = rule_before(bu, to);
	if (over->ou_when == PROF_OUTER_BARE &&
	    (from != to || before != DTP_UW_END))
		return (0);
	/* It begins in what lies before. */
	if (over->ou_when == PROF_OUTER_DESCRIBED && rule_before(bu,
	    row_at(bu, end)) == DTP_UW_END)
		return (0);
	if (!prof_room(&bu->bu_rows, &bu->bu_cap, bu->bu_n + 2,
	    sizeof(*rows)))
		return (-1);
	rows = bu->bu_rows;
	memmove(&rows[from + 2], &rows[to], (bu->bu_n - to) * sizeof(*rows));
	rows[from] = (struct collected){ begin, over->ou_rule };
	rows[from + 1] = (struct collected){ end, behind };
	bu->bu_n += 2 + from - to;
	return (0);
}

static int
overlay_all(struct builder *bu, struct prof_elf *elf)
{
	struct prof_outermost over[MAX_OUTERMOST];
	const struct prof_unwind_table *table = bu->bu_table;
	bool is_bare = table->ut_text / BARE_FDE > table->ut_fdes;
	size_t n, count = prof_outermost_find(elf, is_bare, over,
	    MAX_OUTERMOST);

	for (n = 0; n < count; n++)
		if (outermost_overlay(bu, &over[n]) == -1)
			return (-1);
	return (0);
}

/*
 * Rows as the kernel has them, in the memory of those that were collected: the
 * n-th, shorter than they are, ends where the one that it comes from does, or
 * before.
 */
static void
rows_shorten(struct builder *bu)
{
	struct prof_unwind_table *table = bu->bu_table;
	const uint32_t first = (uint32_t)DTP_UW_END << 16;
	char *const bytes = (char *)bu->bu_rows;
	struct collected from;
	size_t n, bucket = 0;
	uint64_t off;
	uint32_t row;

	for (n = 0; n < bu->bu_n; n++) {
		memcpy(&from, bytes + n * sizeof(from), sizeof(from));
		if (n == 0)
			memcpy(bytes, &first, sizeof(first));
		off = bu->bu_low + from.cl_off - table->ut_base;
		while (bucket <= off / BUCKET_BYTES)
			table->ut_index[bucket++] = (uint32_t)n + 1;
		row = (uint32_t)from.cl_rule << 16 | (uint32_t)(off & 0xffff);
		memcpy(bytes + (n + 1) * sizeof(row), &row, sizeof(row));
	}
	while (bucket < table->ut_nindex)
		table->ut_index[bucket++] = (uint32_t)n + 1;
	table->ut_rows = (uint32_t *)(void *)bytes;
	bu->bu_rows = NULL;
}

static int
table_finish(struct builder *bu)
{
	struct prof_unwind_table *table = bu->bu_table;

	table->ut_base = (bu->bu_low + bu->bu_rows[0].cl_off) & ~0xffffULL;
	table->ut_span = bu->bu_low + bu->bu_rows[bu->bu_n - 1].cl_off + 1 -
	    table->ut_base;
	if (table->ut_span > MAX_SPAN)
		return (-1);
	table->ut_nindex = (table->ut_span >> DTP_UW_BUCKET_BITS) + 2;
	table->ut_nrows = bu->bu_n + 1;
	table->ut_index = calloc(table->ut_nindex, sizeof(uint32_t));
	if (table->ut_index == NULL)
		return (-1);
	rows_shorten(bu);
	return (0);
}

/* Rows of all functions; once more where it turns out that rbx counts. */
static int
row_collect(struct builder *bu, const struct prof_cfi_input *in)
{
	struct prof_unwind_table *table = bu->bu_table;
	struct prof_cfi_stats stats;
	int rv = prof_cfi_compile(in, add_row, bu, &stats);

	if (rv == BEGIN_AGAIN) {
		bu->bu_bx = true;
		bu->bu_n = table->ut_nentries = table->ut_user = 0;
		memset(bu->bu_slot, 0, sizeof(bu->bu_slot));
		rv = prof_cfi_compile(in, add_row, bu, &stats);
	}
	table->ut_fdes = stats.cs_fdes;
	table->ut_bad = stats.cs_bad;
	return (rv == 0 ? 0 : -1);
}

struct prof_unwind_table *
prof_unwind_table_new(struct prof_elf *elf)
{
	struct builder *bu = calloc(1, sizeof(*bu));
	struct prof_unwind_table *table = calloc(1, sizeof(*table));
	struct prof_cfi_input in = { 0 };
	int rv = -1;

	errno = ENOMEM;
	if (bu == NULL || table == NULL)
		goto out;
	bu->bu_table = table;
	table->ut_entries = calloc(MAX_ENTRIES, sizeof(*table->ut_entries));
	if (table->ut_entries == NULL)
		goto out;
	errno = 0;
	if (!prof_elf_text(elf, &bu->bu_low, &bu->bu_high))
		goto out;
	table->ut_machine = elf->el_machine == EM_X86_64 ?
	    PROF_MACHINE_X86_64 : PROF_MACHINE_AARCH64;
	table->ut_text = bu->bu_high - bu->bu_low;
	errno = ENOMEM;
	if (table->ut_text >= MAX_SPAN)
		goto out;
	if (prof_unwind_frames(elf, &in) && row_collect(bu, &in) == -1)
		goto out;
	if (overlay_all(bu, elf) == -1)
		goto out;
	errno = 0;
	if (bu->bu_n == 0)
		goto out;
	errno = ENOMEM;
	rv = table_finish(bu);
out:
	if (bu != NULL)
		free(bu->bu_rows);
	free(bu);
	if (rv == 0)
		return (table);
	prof_unwind_table_free(table);
	return (NULL);
}

void
prof_unwind_table_free(struct prof_unwind_table *table)
{
	if (table == NULL)
		return;
	if (table->ut_memory == NULL) {
		free(table->ut_index);
		free(table->ut_rows);
		free(table->ut_entries);
	}
	free(table->ut_memory);
	free(table);
}

uint16_t
prof_unwind_table_find(const struct prof_unwind_table *table,
    uint64_t address)
{
	uint64_t off = address - table->ut_base;
	uint32_t low, key;

	if (address < table->ut_base || off >= table->ut_span)
		return (DTP_UW_END);
	low = table->ut_index[off >> DTP_UW_BUCKET_BITS];
	key = (uint32_t)(off & 0xffff);
	low += PROF_BEFORE(i, table->ut_index[(off >> DTP_UW_BUCKET_BITS) +
	    1] - low, (table->ut_rows[low + i] & 0xffff) <= key);
	return ((uint16_t)(table->ut_rows[low - 1] >> 16));
}
