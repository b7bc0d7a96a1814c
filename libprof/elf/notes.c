/* SPDX-License-Identifier: ISC */
/*
 * Static probes of a program (USDT), as the notes in .note.stapsdt have them:
 *
 *	head	sizes of name ("stapsdt") and contents, type 3
 *	place, base, semaphore		as linked
 *	"provider\0name\0arguments\0"
 *
 * What was moved since it was linked (prelink) is corrected by where the
 * section .stapsdt.base is now.  A probe has a note for each place where the
 * compiler has put it.  Notes are untrusted: what is cut short, or points
 * elsewhere, is counted by what is wrong with it, and is no probe.
 *
 * Called by sites.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "sites_impl.h"

#define NOTE_TYPE	3
#define NOTE_NAME	"stapsdt"

struct note {
	uint64_t	 nt_place;
	uint64_t	 nt_base;
	uint64_t	 nt_semaphore;	/* 0: none */
	const char	*nt_provider;
	const char	*nt_name;
	const char	*nt_args;
};

struct notes {
	struct prof_elf	*ns_elf;
	const char	*ns_pattern;
	struct prof_sites *ns_sites;
	uint64_t	 ns_base;	/* .stapsdt.base; 0: there is none */
	size_t		 ns_cap;
};

/* A string within its bytes; NULL: it does not end there. */
static const char *
string_take(const char **at, const char *end)
{
	const char *string = *at;
	const char *nul = memchr(string, '\0', (size_t)(end - string));

	*at = nul == NULL ? end : nul + 1;
	return (nul == NULL ? NULL : string);
}

static bool
note_read(const uint8_t *bytes, size_t size, struct note *note)
{
	const size_t words = 3 * sizeof(uint64_t);
	const char *at = (const char *)bytes + words;
	const char *end = (const char *)bytes + size;

	if (size < words)
		return (false);
	memcpy(&note->nt_place, bytes, sizeof(uint64_t));
	memcpy(&note->nt_base, bytes + 8, sizeof(uint64_t));
	memcpy(&note->nt_semaphore, bytes + 16, sizeof(uint64_t));
	note->nt_provider = string_take(&at, end);
	note->nt_name = string_take(&at, end);
	note->nt_args = string_take(&at, end);
	return (note->nt_args != NULL);
}

/* Arguments are separated by a space, but not within [ ] and ( ). */
static void
args_parse(const struct notes *notes, const char *args,
    struct prof_site *site)
{
	char text[128];
	size_t n;
	int depth;

	while (site->si_nargs < DTP_MAX_ARGS && *(args += strspn(args, " "))) {
		for (n = 0, depth = 0; args[n] != '\0' &&
		    (args[n] != ' ' || depth > 0); n++)
			depth += strchr("[(", args[n]) != NULL ? 1 :
			    strchr("])", args[n]) != NULL ? -1 : 0;
		if (n < sizeof(text)) {
			memcpy(text, args, n);
			text[n] = '\0';
			(void)prof_operand_parse(notes->ns_elf->el_machine,
			    text, &site->si_arg[site->si_nargs]);
		}
		site->si_nargs++;
		args += n;
	}
}

/* The name and pattern have two parts, as many as that. */
static bool
is_wanted(const struct notes *notes, const char *name)
{
	return (strcmp(notes->ns_pattern, name) == 0 ||
	    prof_glob_match(notes->ns_pattern, name));
}

static enum prof_note
note_place(const struct notes *notes, const struct note *note,
    struct prof_site *site)
{
	const uint64_t moved = notes->ns_base == 0 || note->nt_base == 0 ? 0 :
	    notes->ns_base - note->nt_base;

	if (!prof_site_offset(notes->ns_elf, note->nt_place + moved, PF_X,
	    &site->si_offset))
		return (PROF_NOTE_PLACE);
	/* The kernel takes 32 bits of it. */
	if (note->nt_semaphore != 0 && (!prof_site_offset(notes->ns_elf,
	    note->nt_semaphore + moved, PF_W, &site->si_semaphore) ||
	    site->si_semaphore > UINT32_MAX))
		return (PROF_NOTE_SEMAPHORE);
	site->si_flags = prof_site_price(notes->ns_elf,
	    note->nt_place + moved);
	return (PROF_NOTE_GOOD);
}

/* false: no memory. */
static bool
note_see(struct notes *notes, const uint8_t *bytes, size_t size)
{
	struct prof_site site = { 0 };
	enum prof_note bad;
	struct note note;
	int n;

	if (!note_read(bytes, size, &note)) {
		notes->ns_sites->st_bad[PROF_NOTE_CUT]++;
		return (true);
	}
	notes->ns_sites->st_functions++;
	n = snprintf(site.si_name, sizeof(site.si_name), "%s:%s",
	    note.nt_provider, note.nt_name);
	if (n < 0 || (size_t)n >= sizeof(site.si_name) ||
	    !is_wanted(notes, site.si_name))
		return (true);
	bad = note_place(notes, &note, &site);
	if (bad != PROF_NOTE_GOOD) {
		notes->ns_sites->st_bad[bad]++;
		return (true);
	}
	args_parse(notes, note.nt_args, &site);
	return (prof_site_add(notes->ns_sites, &notes->ns_cap, &site));
}

static size_t
size_padded(size_t size)
{
	return ((size + 3) & ~(size_t)3);
}

/* Note by note; one that is longer than what there is ends it. */
static bool
notes_walk(struct notes *notes, const uint8_t *bytes, size_t size)
{
	Elf64_Nhdr head;
	size_t name, desc;

	while (size >= sizeof(head)) {
		memcpy(&head, bytes, sizeof(head));
		bytes += sizeof(head);
		size -= sizeof(head);
		name = size_padded(head.n_namesz);
		desc = size_padded(head.n_descsz);
		if (name > size || head.n_descsz > size - name) {
			notes->ns_sites->st_bad[PROF_NOTE_CUT]++;
			return (true);
		}
		if (head.n_type == NOTE_TYPE &&
		    head.n_namesz == sizeof(NOTE_NAME) &&
		    memcmp(bytes, NOTE_NAME, sizeof(NOTE_NAME)) == 0 &&
		    !note_see(notes, bytes + name, head.n_descsz))
			return (false);
		if (desc > size - name)
			break;
		bytes += name + desc;
		size -= name + desc;
	}
	return (true);
}

static int
site_order(const void *a, const void *b)
{
	const struct prof_site *x = a, *y = b;
	int order = strcmp(x->si_name, y->si_name);

	return (order != 0 ? order : x->si_offset < y->si_offset ? -1 :
	    x->si_offset > y->si_offset);
}

/* Two notes of a probe at one place are one. */
static void
notes_unique(struct prof_sites *sites)
{
	size_t n, kept = 0;

	if (sites->st_n == 0)
		return;
	qsort(sites->st_site, sites->st_n, sizeof(*sites->st_site),
	    site_order);
	for (n = 0; n < sites->st_n; n++)
		if (kept > 0 && site_order(&sites->st_site[kept - 1],
		    &sites->st_site[n]) == 0)
			sites->st_found--;
		else
			sites->st_site[kept++] = sites->st_site[n];
	sites->st_n = kept;
}

bool
prof_notes_find(struct prof_elf *elf, const char *pattern,
    struct prof_sites *sites)
{
	struct notes notes = { .ns_elf = elf, .ns_pattern = pattern,
	    .ns_sites = sites };
	struct prof_elf_part part;

	if (prof_elf_section_named(elf, ".stapsdt.base", &part))
		notes.ns_base = part.pp_address;
	if (!prof_elf_section_named(elf, ".note.stapsdt", &part) ||
	    !prof_elf_load(elf, &part))
		return (true);
	if (!notes_walk(&notes, part.pp_bytes, part.pp_size))
		return (false);
	notes_unique(sites);
	return (true);
}
