/* SPDX-License-Identifier: ISC */
/*
 * See kernel_map.h.  The kernel's addresses are the same in all processes, so
 * there is one map for the whole recording.  Where two programs or modules lay
 * at one address one after the other, neither gives its name: the question
 * does not say when, and a wrong name is worse than none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/search.h"
#include "confine/reading.h"
#include "kernel_map.h"
#include "base/record.h"

#define KERNEL		"[kernel]"
#define BPF		"[bpf]"

/* A range and its name: text of a module, or a symbol that was announced. */
struct range {
	uint64_t	 ra_start;
	uint64_t	 ra_end;
	char		*ra_name;
	size_t		 ra_order;	/* in which it came */
	bool		 ra_twice;	/* there was another one */
};

struct ranges {
	struct range	*rs_range;
	size_t		 rs_n;
	size_t		 rs_cap;
};

struct prof_kernel_map {
	struct ranges	 km_text;
	struct ranges	 km_loaded;
	struct ranges	 km_modules;	/* those of recorded symbols */
	struct prof_symtab *km_recorded;
	struct prof_kernel_list *km_live;
	struct prof_kernel_list km_own;
	bool		 km_has_recorded;
	bool		 km_use_live;
	bool		 km_hidden;
};

struct prof_kernel_map *
prof_kernel_map_new(void)
{
	struct prof_kernel_map *map = calloc(1, sizeof(*map));

	if (map == NULL || (map->km_recorded = prof_symtab_new()) == NULL) {
		free(map);
		return (NULL);
	}
	map->km_live = &map->km_own;
	return (map);
}

void
prof_kernel_map_share(struct prof_kernel_map *map,
    struct prof_kernel_list *list)
{
	map->km_live = list;
}

void
prof_kernel_list_fini(struct prof_kernel_list *list)
{
	prof_symtab_free(list->kl_symtab);
}

static void
ranges_free(struct ranges *ranges)
{
	while (ranges->rs_n > 0)
		free(ranges->rs_range[--ranges->rs_n].ra_name);
	free(ranges->rs_range);
}

void
prof_kernel_map_free(struct prof_kernel_map *map)
{
	if (map == NULL)
		return;
	ranges_free(&map->km_text);
	ranges_free(&map->km_loaded);
	ranges_free(&map->km_modules);
	prof_symtab_free(map->km_recorded);
	prof_kernel_list_fini(&map->km_own);
	free(map);
}

static int
ranges_add(struct ranges *ranges, uint64_t start, uint64_t len,
    const char *name)
{
	struct range *range;

	if (len == 0 || start + len < start)
		return (0);
	if (!prof_room(&ranges->rs_range, &ranges->rs_cap, ranges->rs_n + 1,
	    sizeof(*range)))
		return (-1);
	range = &ranges->rs_range[ranges->rs_n];
	range->ra_start = start;
	range->ra_end = start + len;
	range->ra_order = ranges->rs_n;
	range->ra_twice = false;
	range->ra_name = strdup(name);
	if (range->ra_name == NULL)
		return (-1);
	ranges->rs_n++;
	return (0);
}

int
prof_kernel_map_take(struct prof_kernel_map *map,
    const struct prof_record *record)
{
	const char *name = record->pr_path;

	/* Of what goes the length is not said: what lay there is known. */
	if (record->pr_type == PROF_R_KSYMBOL)
		return (ranges_add(&map->km_loaded, record->pr_addr,
		    record->pr_len == 0 ? 1 : record->pr_len, name));
	if (strncmp(name, "[kernel", 7) == 0)
		name = KERNEL;
	return (ranges_add(&map->km_text, record->pr_addr, record->pr_len,
	    name));
}

int
prof_kernel_map_add(struct prof_kernel_map *map, uint64_t address,
    uint64_t size, const char *name, const char *module)
{
	map->km_has_recorded = true;
	if (!prof_symtab_add(map->km_recorded, address, size, name))
		return (-1);
	return (ranges_add(&map->km_modules, address, size, module));
}

void
prof_kernel_map_hidden(struct prof_kernel_map *map)
{
	map->km_hidden = true;
}

static int
range_compare(const void *a, const void *b)
{
	const struct range *ra = a, *rb = b;

	if (ra->ra_start != rb->ra_start)
		return (ra->ra_start < rb->ra_start ? -1 : 1);
	return (ra->ra_order < rb->ra_order ? -1 :
	    ra->ra_order > rb->ra_order);
}

/*
 * In order, without overlap.  Of one name it is the same code, announced
 * twice; of two names neither counts where they overlap.  Of modules only
 * the beginning is sure (from 6.4 on their size is that of text and data,
 * which lie elsewhere): one ends where the next begins.
 */
static void
ranges_sort(struct ranges *ranges, bool ends_unsure)
{
	struct range *range = ranges->rs_range, *last;
	size_t n, kept = 0;

	if (ranges->rs_n == 0)
		return;
	qsort(range, ranges->rs_n, sizeof(*range), range_compare);
	for (n = 1; n < ranges->rs_n; n++) {
		last = &range[kept];
		if (ends_unsure && range[n].ra_start > last->ra_start &&
		    range[n].ra_start < last->ra_end)
			last->ra_end = range[n].ra_start;
		if (range[n].ra_start >= last->ra_end) {
			range[++kept] = range[n];
			continue;
		}
		if (strcmp(last->ra_name, range[n].ra_name) != 0)
			last->ra_twice = true;
		if (range[n].ra_end > last->ra_end)
			last->ra_end = range[n].ra_end;
		free(range[n].ra_name);
	}
	ranges->rs_n = kept + 1;
}

static const struct range *
ranges_find(const struct ranges *ranges, uint64_t pc)
{
	const size_t n = PROF_BEFORE(i, ranges->rs_n,
	    ranges->rs_range[i].ra_end <= pc);

	if (n == ranges->rs_n || ranges->rs_range[n].ra_start > pc)
		return (NULL);
	return (&ranges->rs_range[n]);
}

int
prof_kernel_map_done(struct prof_kernel_map *map, bool live)
{
	map->km_use_live = live;
	ranges_sort(&map->km_text, true);
	ranges_sort(&map->km_loaded, false);
	ranges_sort(&map->km_modules, false);
	return (prof_symtab_sort(map->km_recorded) ? 0 : -1);
}

static void
kallsyms_read(struct prof_kernel_list *list)
{
	int fd;

	if (list->kl_asked)
		return;
	list->kl_asked = true;
	fd = prof_reading_kernel("/proc/kallsyms");
	if (fd == -1)
		return;
	list->kl_symtab = prof_symtab_of_kallsyms(fd, &list->kl_hidden);
	close(fd);
}

bool
prof_kernel_map_find(struct prof_kernel_map *map, uint64_t pc,
    struct prof_symbol *symbol, bool *hidden)
{
	const struct range *loaded = ranges_find(&map->km_loaded, pc);
	const struct range *module;

	*hidden = false;
	if (loaded != NULL) {
		symbol->sy_address = loaded->ra_start;
		symbol->sy_size = loaded->ra_end - loaded->ra_start;
		symbol->sy_name = loaded->ra_name;
		symbol->sy_module = BPF;
		return (!loaded->ra_twice);
	}
	if (map->km_has_recorded &&
	    prof_symtab_find(map->km_recorded, pc, symbol)) {
		module = ranges_find(&map->km_modules, pc);
		symbol->sy_module = module == NULL ? KERNEL : module->ra_name;
		return (module == NULL || !module->ra_twice);
	}
	*hidden = map->km_hidden;
	if (!map->km_use_live)
		return (false);
	kallsyms_read(map->km_live);
	if (map->km_live->kl_hidden)
		*hidden = true;
	if (map->km_live->kl_symtab == NULL)
		return (false);
	*hidden = map->km_live->kl_hidden;
	if (!prof_symtab_find(map->km_live->kl_symtab, pc, symbol))
		return (false);
	*hidden = false;
	/* BPF programs come and go: now another one may lie there. */
	return (symbol->sy_module == NULL ||
	    strcmp(symbol->sy_module, "bpf") != 0);
}

const char *
prof_kernel_map_module(const struct prof_kernel_map *map, uint64_t pc)
{
	const struct range *range = ranges_find(&map->km_loaded, pc);

	if (range != NULL)
		return (BPF);
	range = ranges_find(&map->km_text, pc);
	return (range == NULL || range->ra_twice ? NULL : range->ra_name);
}
