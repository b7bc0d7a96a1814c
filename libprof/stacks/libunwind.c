/* SPDX-License-Identifier: ISC */
/*
 * From a snapshot to frames: the one file that knows libunwind.
 *
 * Called by snapshots.c.  libunwind sees neither files nor the process.  It
 * asks for the entry of a pc: that is found here (objects.c), or the walk ends
 * here, before its guesses begin, which invent frames.  It reads memory: the
 * copy of the stack, and for an entry what is laid out below, from parts that
 * were checked.  Nothing else can be read, and each walk may read only so
 * often: a program of a hostile file may jump back.
 *
 *	an entry, at an address that no process has:
 *
 *	 1 | object (14) | entry (24)... | offset (24)	-> CIE, FDE
 *
 * Both are written anew, with whole addresses and without what unwinding does
 * not need; so .eh_frame and .debug_frame are the same here.  Where there is
 * no entry, code that was just made or that is written by hand, one step goes
 * by frame pointer, as in the kernel.
 */
#include <stdlib.h>
#include <string.h>

#include <libunwind.h>

#include "abi/dtp_unwind.h"
#include "snapshot.h"

#define MADE_UP		(1ULL << 63)
#define OBJECT_SHIFT	48
#define ENTRY_SHIFT	24
#define MAX_ENTRY	(1U << ENTRY_SHIFT)
#define MAX_PROGRAM	(1U << 18)	/* larger ones are not run */
/* A search table of one entry that is always found. */
#define TABLE		(MADE_UP | 0x3fffULL << OBJECT_SHIFT)

#define SPACES		16	/* with rules that libunwind remembers */
#define RULES		512	/* of each */
#define MAX_READS	500000	/* in one walk: some milliseconds */
#define FP_REACH	(1ULL << 20)	/* a frame is not larger */
#define STACK_REACH	(64ULL << 20)	/* nor a stack above its pointer */

/* Exported by libunwind for those who look up entries themselves. */
int	UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t,
	    unw_dyn_info_t *, unw_proc_info_t *, int, void *);

/* What libunwind remembers of one version of a space. */
struct memory {
	unw_addr_space_t me_as;
	uint64_t	 me_version;
	uint64_t	 me_used;
};

/* A CIE and an FDE as they are shown to libunwind. */
struct made_up {
	uint64_t	 mu_at;		/* 0: nothing */
	uint64_t	 mu_fde;
	size_t		 mu_bytes;
	uint8_t		*mu_byte;	/* MAX_PROGRAM and some */
};

struct prof_unwinder {
	struct prof_objects *un_objects;
	struct memory	 un_memory[SPACES];
	uint64_t	 un_clock;
	struct made_up	 un_made_up;
	uint64_t	 un_forgotten;	/* objects: rules of others hold */
	/* Of the walk at hand. */
	uint32_t	 un_pid;
	const struct prof_space *un_space;
	const struct prof_snapshot *un_snapshot;
	uint64_t	 un_reg[PROF_REGS];
	uint64_t	 un_known;	/* bit n: un_reg[n] counts */
	bool		 un_is_return;
	unsigned	 un_reads;	/* that are left */
	uint64_t	 un_missed;	/* address that could not be read */
	enum prof_stack_status un_why;	/* no entry was found */
};

static int	find_proc_info(unw_addr_space_t, unw_word_t,
		    unw_proc_info_t *, int, void *);
static void	put_unwind_info(unw_addr_space_t, unw_proc_info_t *, void *);
static int	no_list(unw_addr_space_t, unw_word_t *, void *);
static int	access_mem(unw_addr_space_t, unw_word_t, unw_word_t *, int,
		    void *);
static int	access_reg(unw_addr_space_t, unw_regnum_t, unw_word_t *, int,
		    void *);
static int	no_fpreg(unw_addr_space_t, unw_regnum_t, unw_fpreg_t *, int,
		    void *);
static int	no_resume(unw_addr_space_t, unw_cursor_t *, void *);
static int	no_name(unw_addr_space_t, unw_word_t, char *, size_t,
		    unw_word_t *, void *);

struct prof_unwinder *
prof_unwinder_new(struct prof_objects *objects)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_list,
		.access_mem = access_mem,
		.access_reg = access_reg,
		.access_fpreg = no_fpreg,
		.resume = no_resume,
		.get_proc_name = no_name,
	};
	struct prof_unwinder *un = calloc(1, sizeof(*un));
	size_t n;

	if (un == NULL)
		return (NULL);
	un->un_objects = objects;
	un->un_made_up.mu_byte = calloc(1, MAX_PROGRAM + 256);
	if (un->un_made_up.mu_byte == NULL)
		goto fail;
	for (n = 0; n < SPACES; n++) {
		unw_addr_space_t as = unw_create_addr_space(&accessors, 0);

		if (as == NULL)
			goto fail;
		un->un_memory[n].me_as = as;
		unw_set_caching_policy(as, UNW_CACHE_GLOBAL);
		unw_set_cache_size(as, RULES, 0);
	}
	return (un);
fail:
	prof_unwinder_free(un);
	return (NULL);
}

void
prof_unwinder_free(struct prof_unwinder *un)
{
	size_t n;

	if (un == NULL)
		return;
	for (n = 0; n < SPACES; n++)
		if (un->un_memory[n].me_as != NULL)
			unw_destroy_addr_space(un->un_memory[n].me_as);
	free(un->un_made_up.mu_byte);
	free(un);
}

void
prof_unwinder_forget(struct prof_unwinder *un)
{
	size_t n;

	un->un_made_up.mu_at = 0;
	for (n = 0; n < SPACES; n++)
		un->un_memory[n].me_version = 0;
}

/* ------------------------------------------------------------ entries */

static uint8_t *
bytes_put(uint8_t *to, uint64_t value, size_t bytes)
{
	memcpy(to, &value, bytes);	/* both machines: little */
	return (to + bytes);
}

static uint8_t *
put_uleb(uint8_t *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)value;
	return (to);
}

static uint8_t *
put_sleb(uint8_t *to, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		*to++ = (uint8_t)(value | 0x80);
	*to++ = (uint8_t)(value & 0x7f);
	return (to);
}

/* Up to a multiple of 8 with operations that do nothing; fill in the length. */
static uint8_t *
close_entry(uint8_t *from, uint8_t *to)
{
	while ((to - from) % 8 != 0)
		*to++ = 0;
	bytes_put(from, (uint64_t)(to - from) - 4, 4);
	return (to);
}

/* Larger ones are not, as they may be a hostile file's. */
static bool
is_run(const struct prof_cfi_entry *entry)
{
	const size_t initial = entry->en_initial_end - entry->en_initial;
	const size_t program = entry->en_program_end - entry->en_program;

	return (initial <= MAX_PROGRAM && program <= MAX_PROGRAM - initial);
}

/* Lay out an entry.  false: it is too large to be run. */
static bool
make_up(struct made_up *mu, const struct prof_object *object,
    const struct prof_frame_entry *fe, uint64_t bias)
{
	const struct prof_cfi_entry *entry = fe->fe_entry;
	size_t initial = entry->en_initial_end - entry->en_initial;
	size_t program = entry->en_program_end - entry->en_program;
	uint8_t *fde, *to = mu->mu_byte + 4;

	mu->mu_at = 0;
	if (!is_run(entry) || fe->fe_n >= MAX_ENTRY)
		return (false);
	to = bytes_put(to, 0, 4);			/* a CIE ... */
	to = bytes_put(to, 1, 1);
	memcpy(to, "zRS", 4);
	to += 3;
	if (!entry->en_signal)
		to[-1] = '\0';
	else
		*to++ = '\0';
	to = put_uleb(to, entry->en_code_align);
	to = put_sleb(to, entry->en_data_align);
	to = bytes_put(to, PROF_REG_PC == 32 ? 30 : PROF_REG_PC, 1);
	to = put_uleb(to, 1);
	to = bytes_put(to, 0, 1);	/* ... of whole addresses */
	memcpy(to, fe->fe_bytes + entry->en_initial, initial);
	fde = to = close_entry(mu->mu_byte, to + initial);
	to = bytes_put(to + 4, (uint64_t)(fde + 4 - mu->mu_byte), 4);
	to = bytes_put(to, entry->en_start + bias, 8);
	to = bytes_put(to, entry->en_end - entry->en_start, 8);
	to = put_uleb(to, 0);
	memcpy(to, fe->fe_bytes + entry->en_program, program);
	to = close_entry(fde, to + program);
	mu->mu_bytes = (size_t)(to - mu->mu_byte);
	mu->mu_at = MADE_UP | (uint64_t)object->ob_number << OBJECT_SHIFT |
	    (uint64_t)fe->fe_n << ENTRY_SHIFT;
	mu->mu_fde = mu->mu_at + (uint64_t)(fde - mu->mu_byte);
	return (true);
}

/*
 * Nobody called what is there, whatever its entry says.  A thread has just
 * begun if clone has returned 0, which only its first frame can tell.
 */
static bool
begins_stack(const struct prof_unwinder *un,
    const struct prof_object *object, uint64_t address, bool has_entry)
{
	const uint16_t rule = prof_object_outer_rule(object, address,
	    has_entry);

	return (rule == DTP_UW_STOP || (rule == DTP_UW_CHILD &&
	    (un->un_known & 1) && un->un_reg[0] == 0));
}

/* The entry of a pc; un_why: there is none. */
static int
find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *pi,
    int need, void *arg)
{
	struct prof_unwinder *un = arg;
	struct prof_mapped mapping;
	struct prof_frame_entry entry;
	unw_dyn_info_t info = { 0 };
	uint64_t bias;
	bool found;

	un->un_why = PROF_STACK_NOMAP;
	if (!prof_space_at(un->un_space, ip, &mapping))
		return (-UNW_ENOINFO);
	un->un_why = PROF_STACK_NOROW;
	if (mapping.mp_object == NULL)
		return (-UNW_ENOINFO);
	if (!prof_object_ready(un->un_objects, un->un_pid, &mapping,
	    un->un_snapshot, ip)) {
		un->un_why = PROF_STACK_NOMOD;
		return (-UNW_ENOINFO);
	}
	bias = prof_object_bias(&mapping);
	found = prof_object_entry(mapping.mp_object, ip - bias, &entry);
	if (begins_stack(un, mapping.mp_object, ip - bias, found)) {
		un->un_why = PROF_STACK_OK;
		return (-UNW_ENOINFO);
	}
	if (!found || !make_up(&un->un_made_up, mapping.mp_object, &entry,
	    bias))
		return (-UNW_ENOINFO);
	un->un_why = PROF_STACK_NONE;
	info.start_ip = entry.fe_entry->en_start + bias;
	info.end_ip = entry.fe_entry->en_end + bias;
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = un->un_made_up.mu_fde;
	info.u.rti.table_data = TABLE;
	info.u.rti.table_len = 8 / sizeof(unw_word_t);
	return (UNW_OBJ(dwarf_search_unwind_table)(as, ip, &info, pi, need,
	    arg));
}

static void
put_unwind_info(unw_addr_space_t as, unw_proc_info_t *pi, void *arg)
{
	(void)as;
	(void)pi;
	(void)arg;
}

/*
 * A word of what was made up.  Expressions in remembered rules are read long
 * after their entry was asked for: then it is laid out again.
 */
static int
read_made_up(struct prof_unwinder *un, uint64_t at, unw_word_t *word)
{
	struct made_up *mu = &un->un_made_up;
	uint32_t n = (uint32_t)(at >> ENTRY_SHIFT) & (MAX_ENTRY - 1);
	uint64_t off = at & (MAX_ENTRY - 1);
	const struct prof_object *object;
	struct prof_frame_entry entry;

	if (at == TABLE) {
		/* Begins at the lowest address, lies at the base. */
		*word = (uint32_t)INT32_MIN;
		return (0);
	}
	if (mu->mu_at == 0 || at - off != mu->mu_at) {
		object = prof_objects_at(un->un_objects,
		    (uint32_t)(at >> OBJECT_SHIFT) & 0x3fff);
		if (object == NULL || un->un_forgotten !=
		    prof_objects_forgotten(un->un_objects) ||
		    !prof_object_numbered(object, n, &entry) ||
		    !make_up(mu, object, &entry, 0))
			return (-UNW_EINVAL);
	}
	if (off > mu->mu_bytes || mu->mu_bytes - off < sizeof(*word))
		return (-UNW_EINVAL);
	memcpy(word, mu->mu_byte + off, sizeof(*word));
	return (0);
}

/* ---------------------------------------------- what libunwind may see */

static int
access_mem(unw_addr_space_t as, unw_word_t at, unw_word_t *word, int write,
    void *arg)
{
	struct prof_unwinder *un = arg;
	const struct prof_snapshot *sn = un->un_snapshot;
	uint64_t off = at - sn->sn_base;

	(void)as;
	if (write || un->un_why != PROF_STACK_NONE || un->un_reads == 0)
		return (-UNW_EINVAL);
	un->un_reads--;
	if (at >= MADE_UP)
		return (read_made_up(un, at, word));
	if (at < sn->sn_base || off > sn->sn_bytes ||
	    sn->sn_bytes - off < sizeof(*word)) {
		un->un_missed = at;
		return (-UNW_EINVAL);
	}
	memcpy(word, sn->sn_stack + off, sizeof(*word));
	return (0);
}

/* A call lies before the address that it returns to: that is looked up. */
static int
access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *word,
    int write, void *arg)
{
	struct prof_unwinder *un = arg;

	(void)as;
	if (write || number < 0 || number >= PROF_REGS ||
	    (un->un_known >> number & 1) == 0)
		return (-UNW_EBADREG);
	*word = un->un_reg[number];
	if (number == PROF_REG_PC && un->un_is_return)
		*word -= 1;
	return (0);
}

static int
no_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
	(void)as;
	(void)list;
	(void)arg;
	return (-UNW_ENOINFO);
}

static int
no_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value,
    int write, void *arg)
{
	(void)as;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return (-UNW_EBADREG);
}

static int
no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return (-UNW_EINVAL);
}

static int
no_name(unw_addr_space_t as, unw_word_t at, char *name, size_t size,
    unw_word_t *off, void *arg)
{
	(void)as;
	(void)at;
	(void)name;
	(void)size;
	(void)off;
	(void)arg;
	return (-UNW_ENOINFO);
}

/* --------------------------------------------------------------- walks */

/* An address space that remembers rules of this version alone. */
static unw_addr_space_t
space_of_version(struct prof_unwinder *un, uint64_t version)
{
	struct memory *oldest = &un->un_memory[0], *memory;
	size_t n;

	for (n = 0; n < SPACES; n++) {
		memory = &un->un_memory[n];
		if (memory->me_version == version)
			goto found;
		if (memory->me_used < oldest->me_used)
			oldest = memory;
	}
	memory = oldest;
	unw_flush_cache(memory->me_as, 0, 0);
	memory->me_version = version;
found:
	memory->me_used = ++un->un_clock;
	return (memory->me_as);
}

/* Why a step failed that had a rule. */
static enum prof_stack_status
step_failure(const struct prof_unwinder *un)
{
	const struct prof_snapshot *sn = un->un_snapshot;
	uint64_t end = sn->sn_base + sn->sn_bytes;

	if (un->un_missed == 0)
		return (un->un_reads == 0 ? PROF_STACK_NOROW :
		    PROF_STACK_BADSP);
	if (sn->sn_cut && un->un_missed >= end - 7 &&
	    un->un_missed - (end - 7) < STACK_REACH)
		return (PROF_STACK_SHORT);
	return (PROF_STACK_FAULT);
}

/* From here on only what is known of a frame that rules do not leave. */
static void
keep_registers(struct prof_unwinder *un, unw_cursor_t *cursor, uint64_t pc)
{
	unw_word_t sp = 0, fp = 0;

	un->un_why = PROF_STACK_NONE;		/* reads are allowed again */
	if (unw_get_reg(cursor, UNW_REG_SP, &sp) != 0 ||
	    unw_get_reg(cursor, PROF_REG_FP, &fp) != 0)
		fp = 0;
	un->un_reg[PROF_REG_PC] = pc;
	un->un_reg[PROF_REG_SP] = sp;
	un->un_reg[PROF_REG_FP] = fp;
	un->un_known = 1ULL << PROF_REG_PC | 1ULL << PROF_REG_SP |
	    1ULL << PROF_REG_FP;
}

/*
 * No further frame was found.  Does the last one's entry say so?  libunwind
 * does not tell that from a return address of 0, which is no end, as in the
 * kernel.
 */
static bool
is_outermost(const struct prof_unwinder *un, const struct prof_walk *walk)
{
	const uint64_t pc = walk->wk_frame[walk->wk_n - 1] -
	    (walk->wk_n > 1 || un->un_is_return);
	struct prof_mapped mapping;
	struct prof_frame_entry entry;
	uint64_t address;

	if (!prof_space_at(un->un_space, pc, &mapping) ||
	    mapping.mp_object == NULL ||
	    !prof_object_ready(un->un_objects, un->un_pid, &mapping,
	    un->un_snapshot, pc))
		return (false);
	address = pc - prof_object_bias(&mapping);
	return (prof_object_entry(mapping.mp_object, address, &entry) &&
	    is_run(entry.fe_entry) && prof_cfi_is_outermost(PROF_OUR_MACHINE,
	    entry.fe_bytes, entry.fe_entry, address));
}

/* By rules, as far as they go; NOROW: a frame pointer may lead on. */
static enum prof_stack_status
walk_by_rules(struct prof_unwinder *un, unw_addr_space_t as,
    struct prof_walk *walk)
{
	unw_word_t pc = un->un_reg[PROF_REG_PC];
	unw_cursor_t cursor, before;
	enum prof_stack_status why;
	int rv;

	un->un_why = PROF_STACK_NONE;
	un->un_missed = 0;
	if (unw_init_remote(&cursor, as, un) != 0)
		return (step_failure(un));
	for (;;) {
		if (walk->wk_n == DTP_MAX_UFRAMES)
			return (PROF_STACK_DEEP);
		walk->wk_frame[walk->wk_n++] = pc;
		before = cursor;
		un->un_missed = 0;
		rv = unw_step(&cursor);
		why = un->un_why;
		if (why != PROF_STACK_NONE) {
			keep_registers(un, &before, pc);
			return (why);
		}
		if (rv < 0)
			return (step_failure(un));
		if (rv == 0 || unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0 ||
		    pc == 0)
			return (is_outermost(un, walk) ? PROF_STACK_OK :
			    PROF_STACK_BADSP);
	}
}

/* One step by frame pointer, from un_reg to un_reg.  NONE: taken. */
static enum prof_stack_status
step_by_fp(struct prof_unwinder *un)
{
	uint64_t fp = un->un_reg[PROF_REG_FP], sp = un->un_reg[PROF_REG_SP];
	unw_word_t next, pc;

	if ((fp & 7) != 0 || fp < sp || fp - sp > FP_REACH)
		return (PROF_STACK_NOROW);
	if (access_mem(NULL, fp, &next, 0, un) != 0 ||
	    access_mem(NULL, fp + 8, &pc, 0, un) != 0)
		return (step_failure(un));
	/* As in the kernel: a guess is not where frames end. */
	if (pc == 0)
		return (PROF_STACK_NOROW);
	un->un_reg[PROF_REG_PC] = pc;
	un->un_reg[PROF_REG_SP] = fp + 16;
	un->un_reg[PROF_REG_FP] = next;
	un->un_is_return = true;
	return (PROF_STACK_NONE);
}

void
prof_unwinder_walk(struct prof_unwinder *un, uint32_t pid,
    const struct prof_space *space, const struct prof_snapshot *snapshot,
    struct prof_walk *walk)
{
	uint32_t guessed = UINT32_MAX;
	unw_addr_space_t as;

	if (un->un_forgotten != prof_objects_forgotten(un->un_objects)) {
		un->un_forgotten = prof_objects_forgotten(un->un_objects);
		prof_unwinder_forget(un);
	}
	as = space_of_version(un, space->ss_version);
	un->un_pid = pid;
	un->un_space = space;
	un->un_snapshot = snapshot;
	memcpy(un->un_reg, snapshot->sn_reg, sizeof(un->un_reg));
	un->un_known = snapshot->sn_known;
	un->un_is_return = snapshot->sn_is_return;
	un->un_reads = MAX_READS;
	walk->wk_n = 0;
	for (;;) {
		walk->wk_status = walk_by_rules(un, as, walk);
		if (walk->wk_status == PROF_STACK_NOMAP &&
		    walk->wk_n == guessed + 1) {
			/* A guess that led out of all code: take it back. */
			walk->wk_n--;
			return;
		}
		if (walk->wk_status != PROF_STACK_NOROW)
			return;
		guessed = walk->wk_n;
		walk->wk_status = step_by_fp(un);
		if (walk->wk_status != PROF_STACK_NONE)
			return;
	}
}
