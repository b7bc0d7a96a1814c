/* SPDX-License-Identifier: ISC */
/*
 * Functions out of text: /proc/kallsyms of the kernel, and the perf-PID.map
 * that JITs write.
 *
 *	ffffffffc0a1d000 t ext4_sync_fs	[ext4]
 *	7f34d1c02000 1a0 LazyCompile:~read file:///a.js:12
 *
 * Maps are written by anybody: a line that is not as it should be is left
 * out, and so is a last one without its end, which somebody may be writing.
 */
#include <sys/stat.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symtab_impl.h"

#define MAX_TEXT	(512u << 20)
#define BUFFER		(256u << 10)	/* no line is longer */
/* How far a function of the kernel reaches when nothing follows it. */
#define KERNEL_REACH	(256u << 10)
#define MODULE_REACH	(16u << 10)

/* Where a line is being read; behind its last byte stands '\n'. */
struct line {
	const char	*li_at;
	const char	*li_end;
};

struct kallsyms {
	struct prof_symtab *ks_table;
	bool		 ks_any;	/* a symbol ... */
	bool		 ks_placed;	/* ... with an address that is not 0 */
};

typedef bool	line_fn(void *, struct line);

/* Lines of the first bytes of a file, one by one.  false with errno. */
static bool
each_line(int fd, uint64_t most, line_fn *fn, void *arg)
{
	char *buffer = malloc(BUFFER), *at, *end;
	size_t have = 0;
	uint64_t total = 0;
	ssize_t got = 0;
	bool ok = buffer != NULL, is_rest = false;

	while (ok && total < most) {
		got = read(fd, buffer + have, BUFFER - have);
		if (got == -1 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		total += (size_t)got;
		have += (size_t)got;
		for (at = buffer; ok && (end = memchr(at, '\n', have -
		    (size_t)(at - buffer))) != NULL; at = end + 1) {
			ok = is_rest || fn(arg, (struct line){ at, end });
			is_rest = false;
		}
		have -= (size_t)(at - buffer);
		memmove(buffer, at, have);
		if (have == BUFFER) {
			have = 0;	/* no line; its rest is none either */
			is_rest = true;
		}
	}
	free(buffer);
	return (ok && got != -1);
}

/* A number in hexadecimal and the one space behind it. */
static bool
hex_parse(struct line *line, uint64_t *value)
{
	const char *at = line->li_at;
	unsigned digits = 0, digit;

	if (line->li_end - at > 2 && at[0] == '0' &&
	    (at[1] == 'x' || at[1] == 'X'))
		at += 2;
	for (*value = 0; at < line->li_end; at++, digits++) {
		digit = (unsigned char)*at;
		if (digit >= '0' && digit <= '9')
			digit -= '0';
		else if ((digit | 0x20) >= 'a' && (digit | 0x20) <= 'f')
			digit = (digit | 0x20) - 'a' + 10;
		else
			break;
		if (*value >> 60 != 0)
			return (false);
		*value = *value << 4 | digit;
	}
	if (digits == 0 || at == line->li_end || *at != ' ')
		return (false);
	line->li_at = at + 1;
	return (true);
}

static bool
perf_map_line(void *arg, struct line line)
{
	struct symtab_item item = { .it_kind = SYMTAB_FUNCTION,
	    .it_binding = SYMTAB_GLOBAL };
	uint64_t size;

	if (!hex_parse(&line, &item.it_address) ||
	    !hex_parse(&line, &size) ||
	    size > UINT64_MAX - item.it_address)
		return (true);
	item.it_end = item.it_address + size;
	item.it_name = line.li_at;
	item.it_length = strnlen(line.li_at,
	    (size_t)(line.li_end - line.li_at));
	return (prof_symtab_put(arg, &item));
}

/* " [ext4]" behind a name */
static void
cut_module(struct line *line, struct symtab_item *item)
{
	const char *tab = memchr(line->li_at, '\t',
	    (size_t)(line->li_end - line->li_at));

	if (tab == NULL)
		return;
	if (line->li_end - tab > 3 && tab[1] == '[' &&
	    line->li_end[-1] == ']') {
		item->it_module = tab + 2;
		item->it_module_length = (size_t)(line->li_end - tab) - 3;
	}
	line->li_end = tab;
}

static bool
kallsyms_line(void *arg, struct line line)
{
	struct symtab_item item = { .it_kind = SYMTAB_OPEN,
	    .it_binding = SYMTAB_LOCAL };
	struct kallsyms *kallsyms = arg;
	uint64_t reach;
	char type;

	if (!hex_parse(&line, &item.it_address) ||
	    line.li_end - line.li_at < 3 || line.li_at[1] != ' ')
		return (true);
	kallsyms->ks_any = true;
	if (item.it_address != 0)
		kallsyms->ks_placed = true;
	type = line.li_at[0];
	if (item.it_address == 0 || strchr("tTwW", type) == NULL)
		return (true);
	line.li_at += 2;
	cut_module(&line, &item);
	item.it_name = line.li_at;
	item.it_length = (size_t)(line.li_end - line.li_at);
	reach = item.it_module == NULL ? KERNEL_REACH : MODULE_REACH;
	item.it_end = item.it_address > UINT64_MAX - reach ? UINT64_MAX :
	    item.it_address + reach;
	if (type != 't')
		item.it_binding = type == 'T' ? SYMTAB_GLOBAL : SYMTAB_WEAK;
	return (prof_symtab_put(kallsyms->ks_table, &item));
}

/* A function takes more memory than its line: what is longer is senseless. */
struct prof_symtab *
prof_symtab_of_perf_map(int fd, uint64_t *left)
{
	const uint64_t most = *left;
	struct prof_symtab *table = prof_symtab_new();
	struct stat st;
	bool ok = table != NULL;

	if (ok) {
		prof_symtab_later_wins(table);
		prof_symtab_limit(table, most);
		ok = each_line(fd, most, perf_map_line, table);
		if (ok && fstat(fd, &st) == 0 && (uint64_t)st.st_size > most)
			ok = prof_symtab_full(table);
		*left = prof_symtab_left(table);
	}
	return (prof_symtab_done(table, ok));
}

struct prof_symtab *
prof_symtab_of_kallsyms(int fd, bool *hidden)
{
	struct kallsyms kallsyms = { .ks_table = prof_symtab_new() };
	bool ok;

	ok = kallsyms.ks_table != NULL &&
	    each_line(fd, MAX_TEXT, kallsyms_line, &kallsyms);
	*hidden = ok && kallsyms.ks_any && !kallsyms.ks_placed;
	return (prof_symtab_done(kallsyms.ks_table, ok));
}
