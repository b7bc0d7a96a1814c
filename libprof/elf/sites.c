/* SPDX-License-Identifier: ISC */
/* Functions, and what all sites have: see sites.h.  notes.c: static probes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "base/grow.h"
#include "demangle.h"
#include "sites_impl.h"
#include "symtab_impl.h"

#define MOST_RAW	4096	/* of a linker's name */
#define COLD		".cold"
#define PART		".part."	/* what is left of an inlined one */

struct search {
	struct prof_elf	*sr_elf;
	const char	*sr_pattern;
	bool		 sr_is_glob;
	struct prof_sites *sr_sites;
	size_t		 sr_cap;
	struct prof_parts *sr_parts;	/* NULL: not wanted */
};

/* ----------------------------------------------------------------- names */

/* What is a glob may be a name, too: f(char*). */
enum matched { DIFFERS, MATCHES, EQUAL };

static enum matched
text_match(const struct search *search, const char *text)
{
	if (strcmp(text, search->sr_pattern) == 0)
		return (EQUAL);
	return (search->sr_is_glob &&
	    prof_glob_match(search->sr_pattern, text) ? MATCHES : DIFFERS);
}

/* A longer one is cut; what is there ends with a NUL. */
static void
name_show(char *shown, const char *name)
{
	const size_t n = strnlen(name, PROF_SITE_NAME - 1);

	memset(shown, 0, PROF_SITE_NAME);
	memcpy(shown, name, n);
}

static enum matched
match_best(enum matched a, enum matched b)
{
	return (a > b ? a : b);
}

/* Of a mangled name.  shown: the one for people. */
static enum matched
demangled_match(const struct search *search, const char *raw, char *shown)
{
	char *name = prof_demangle(raw);
	enum matched found;
	const char *bare;

	if (name == NULL)
		return (DIFFERS);
	name_show(shown, name);
	found = text_match(search, name);
	prof_name_strip(name, &bare);
	found = match_best(found, match_best(text_match(search, name),
	    text_match(search, bare)));
	free(name);
	return (found);
}

/* A part of a function that is seldom executed is no function. */
static bool
is_part(const char *raw)
{
	const char *dot = strrchr(raw, '.');

	return (dot != NULL && strcmp(dot, COLD) == 0);
}

static enum matched
name_match(const struct search *search, const char *raw, char *shown)
{
	enum matched found;

	name_show(shown, raw);
	found = match_best(demangled_match(search, raw, shown),
	    text_match(search, raw));
	return ((is_part(raw) || strstr(raw, PART) != NULL) &&
	    strcmp(raw, search->sr_pattern) != 0 ? DIFFERS : found);
}

/* ---------------------------------------------------------------- places */

bool
prof_site_offset(const struct prof_elf *elf, uint64_t address,
    uint32_t flags, uint64_t *offset)
{
	Elf64_Phdr ph;
	size_t n;

	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_LOAD && (ph.p_flags & flags) == flags &&
		    address >= ph.p_vaddr &&
		    address - ph.p_vaddr < ph.p_filesz) {
			*offset = address - ph.p_vaddr + ph.p_offset;
			return (true);
		}
	return (false);
}

/*
 * What the kernel emulates (x86: nop, push, jumps and calls that are relative;
 * arm64: branches) instead of executing it in another place, one step.
 */
bool
prof_site_is_cheap(uint16_t machine, const uint8_t *code, size_t size)
{
	uint32_t word;

	if (machine == EM_AARCH64) {
		if (size < sizeof(word))
			return (false);
		memcpy(&word, code, sizeof(word));
		return ((word & 0x7c000000) == 0x14000000 || /* b, bl */
		    (word & 0xff000010) == 0x54000000 ||	/* b.cond */
		    (word & 0x7c000000) == 0x34000000);	/* cbz, tbz */
	}
	if (size >= 2 && code[0] == 0x41 && (code[1] & 0xf8) == 0x50)
		return (true);
	if (size >= 2 && code[0] == 0x0f)
		return (code[1] == 0x1f || (code[1] & 0xf0) == 0x80);
	return (size >= 1 && ((code[0] & 0xf8) == 0x50 || code[0] == 0x90 ||
	    code[0] == 0xe8 || code[0] == 0xe9 || code[0] == 0xeb ||
	    (code[0] & 0xf0) == 0x70));
}

uint32_t
prof_site_price(struct prof_elf *elf, uint64_t address)
{
	struct prof_elf_part part;

	if (!prof_elf_at(elf, address, &part))
		return (0);
	if (part.pp_size > 16)
		part.pp_size = 16;
	return (prof_elf_load(elf, &part) && prof_site_is_cheap(
	    elf->el_machine, part.pp_bytes, part.pp_size) ?
	    PROF_SITE_CHEAP : 0);
}

/*
 * Move the probe from an endbr64 to a push that follows it, because the kernel
 * emulates a push but executes an endbr64 out of line.  Registers and stack are
 * the same at both.  No code jumps to such a push, because nobody would pop
 * what it pushes.
 */
static void
entry_settle(struct prof_elf *elf, struct prof_site *site)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	struct prof_elf_part part;
	const uint8_t *push;

	if (elf->el_machine != EM_X86_64 || !prof_elf_at(elf,
	    prof_elf_address(elf, site->si_offset), &part) ||
	    part.pp_size < sizeof(endbr) + 2)
		return;
	part.pp_size = sizeof(endbr) + 2;
	if (!prof_elf_load(elf, &part) ||
	    memcmp(part.pp_bytes, endbr, sizeof(endbr)) != 0)
		return;
	push = part.pp_bytes + sizeof(endbr);
	if ((push[push[0] == 0x41] & 0xf8) != 0x50)
		return;
	site->si_offset += sizeof(endbr);
	site->si_flags |= PROF_SITE_CHEAP;
}

bool
prof_site_add(struct prof_sites *sites, size_t *cap,
    const struct prof_site *site)
{
	struct prof_site *place;

	sites->st_found++;
	if (sites->st_n == PROF_SITES_MAX)
		return (true);
	place = prof_grow(&sites->st_site, &sites->st_n, cap, sizeof(*place));
	if (place != NULL)
		*place = *site;
	return (place != NULL);
}

/* ---------------------------------------------------------------- search */

/* FNV-1a of so much of a name. */
static uint64_t
name_key(const char *name, size_t length)
{
	uint64_t key = 0xcbf29ce484222325;

	while (length-- > 0)
		key = (key ^ (uint8_t)*name++) * 0x100000001b3;
	return (key);
}

static bool
part_see(struct prof_parts *parts, const struct symtab_item *item)
{
	struct prof_part *part = prof_grow(&parts->ps_part, &parts->ps_n,
	    &parts->ps_cap, sizeof(*part));

	if (part == NULL)
		return (false);
	*part = (struct prof_part){ name_key(item->it_name,
	    item->it_length - strlen(COLD)), item->it_address,
	    item->it_end - item->it_address };
	return (true);
}

static bool
symbol_see(void *arg, const struct symtab_item *item)
{
	struct search *search = arg;
	struct prof_sites *sites = search->sr_sites;
	struct prof_site made = { 0 };
	enum matched found;
	char raw[MOST_RAW];

	sites->st_functions += item->it_kind != SYMTAB_LABEL;
	if (item->it_length >= sizeof(raw) ||
	    (item->it_kind == SYMTAB_LABEL && search->sr_is_glob))
		return (true);
	memcpy(raw, item->it_name, item->it_length);
	raw[item->it_length] = '\0';
	if (search->sr_parts != NULL && is_part(raw))
		return (part_see(search->sr_parts, item));
	found = name_match(search, raw, made.si_name);
	if (found == DIFFERS || !prof_site_offset(search->sr_elf,
	    item->it_address, PF_X, &made.si_offset))
		return (true);
	made.si_key = name_key(raw, item->it_length);
	if (item->it_kind == SYMTAB_FUNCTION)
		made.si_size = item->it_end - item->it_address;
	made.si_flags = prof_site_price(search->sr_elf, item->it_address) |
	    (item->it_is_chosen ? PROF_SITE_CHOSEN : 0) |
	    (strchr(raw, '.') != NULL ? PROF_SITE_COPY : 0) |
	    (found == EQUAL ? PROF_SITE_EXACT : 0);
	return (prof_site_add(sites, &search->sr_cap, &made));
}

/* By place; of the names of one the shortest comes first. */
static int
place_order(const void *a, const void *b)
{
	const struct prof_site *x = a, *y = b;
	size_t lx = strlen(x->si_name), ly = strlen(y->si_name);

	if (x->si_offset != y->si_offset)
		return (x->si_offset < y->si_offset ? -1 : 1);
	return (lx != ly ? (lx < ly ? -1 : 1) :
	    strcmp(x->si_name, y->si_name));
}

static int
name_order(const void *a, const void *b)
{
	const struct prof_site *x = a, *y = b;
	int order = strcmp(x->si_name, y->si_name);

	return (order != 0 ? order : x->si_offset < y->si_offset ? -1 :
	    x->si_offset > y->si_offset);
}

/*
 * A function is there once, whatever it is called; those of just that name are
 * not also a glob's.
 */
static void
sites_unique(struct prof_sites *sites)
{
	size_t n, kept = 0;
	bool exact = false;

	if (sites->st_n == 0)
		return;
	for (n = 0; n < sites->st_n; n++)
		exact |= (sites->st_site[n].si_flags & PROF_SITE_EXACT) != 0;
	qsort(sites->st_site, sites->st_n, sizeof(*sites->st_site),
	    place_order);
	for (n = 0; n < sites->st_n; n++) {
		struct prof_site *site = &sites->st_site[n];

		if (exact && (site->si_flags & PROF_SITE_EXACT) == 0) {
			sites->st_found--;
			continue;
		}
		if (kept > 0 && sites->st_site[kept - 1].si_offset ==
		    site->si_offset) {
			sites->st_site[kept - 1].si_flags |= site->si_flags;
			sites->st_found--;
		} else
			sites->st_site[kept++] = *site;
	}
	sites->st_n = kept;
	qsort(sites->st_site, kept, sizeof(*sites->st_site), name_order);
}

static bool
functions_find(struct prof_elf *elf, int fd,
    const struct prof_sites_want *want, struct prof_sites *sites)
{
	struct prof_parts parts = { 0 };
	const bool returns = want->sw_kind == PROF_SITE_RETURN;
	struct search search = { .sr_elf = elf,
	    .sr_pattern = want->sw_pattern,
	    .sr_is_glob = prof_glob_is(want->sw_pattern), .sr_sites = sites,
	    .sr_parts = returns ? &parts : NULL };
	bool ok = prof_symtab_tell(elf, fd, symbol_see, &search);

	if (ok)
		sites_unique(sites);
	if (ok && prof_elf_has(elf, ".gopclntab"))
		for (size_t n = 0; n < sites->st_n; n++)
			sites->st_site[n].si_flags |= PROF_SITE_GO;
	/* Of many functions that would take long, and nobody names them. */
	if (ok && !search.sr_is_glob)
		prof_parameters_find(elf, fd, want, sites);
	if (ok && returns)
		ok = prof_returns_find(elf, &parts, sites);
	if (ok && (want->sw_offset != 0 || want->sw_line != 0))
		prof_places_find(elf, fd, want, sites);
	else if (ok && !returns)
		for (size_t n = 0; n < sites->st_n; n++)
			entry_settle(elf, &sites->st_site[n]);
	free(parts.ps_part);
	return (ok);
}

int
prof_sites_find(int fd, const struct prof_sites_want *want,
    struct prof_sites *sites)
{
	struct prof_elf elf;
	bool ok;

	memset(sites, 0, sizeof(*sites));
	if (prof_elf_open(&elf, fd) == -1) {
		errno = ENOEXEC;
		return (-1);
	}
	ok = want->sw_kind == PROF_SITE_STATIC ?
	    prof_notes_find(&elf, want->sw_pattern, sites) :
	    functions_find(&elf, fd, want, sites);
	prof_elf_close(&elf);
	if (ok)
		return (0);
	prof_sites_free(sites);
	errno = ENOMEM;
	return (-1);
}

void
prof_sites_free(struct prof_sites *sites)
{
	free(sites->st_site);
	memset(sites, 0, sizeof(*sites));
}
