/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: The kernel's own answer to which function is at an address is
 * that of /proc/kallsyms: begin, one of its names and module, for the first
 * byte and the last, of the kernel and of modules; no function is none; and
 * its text lies where kallsyms says.
 *
 * Easy to get wrong: aliases, which the kernel orders its own way; a size that
 * reaches into the next function; the module's name, in brackets behind it; an
 * address without a function, which is printed as a number; more addresses
 * than fit into one question.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/permission.h"
#include "session/session_impl.h"

#define STEP	37	/* each so-manieth address is asked for */
#define ONCE	50	/* more than go into one question */

struct row {
	uint64_t	 rw_address;
	char		*rw_name;
	char		*rw_module;	/* NULL: the kernel */
	char		 rw_type;
};

static struct row *rows;
static size_t nrows, nasked;

static void
fail(const char *what, uint64_t address, const char *was)
{
	printf("FAIL: %s: %" PRIx64 " %s\n", what, address, was);
	exit(1);
}

static int
compare(const void *a, const void *b)
{
	const struct row *left = a, *right = b;

	return (left->rw_address < right->rw_address ? -1 :
	    left->rw_address > right->rw_address);
}

static void
read_rows(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char name[1024], module[64], line[1200];
	unsigned long long address;
	size_t cap = 0;
	int n;

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		char type;

		n = sscanf(line, "%llx %c %1023s [%63[^]]]", &address, &type,
		    name, module);
		if (n < 3 || address == 0)
			continue;
		if (nrows == cap) {
			cap = cap == 0 ? 1 << 18 : 2 * cap;
			rows = reallocarray(rows, cap, sizeof(*rows));
			if (rows == NULL)
				abort();
		}
		rows[nrows++] = (struct row){ address, strdup(name),
		    n == 4 ? strdup(module) : NULL, type };
	}
	if (file != NULL)
		fclose(file);
	if (nrows == 0) {
		printf("SKIP: the kernel shows no addresses\n");
		exit(77);
	}
	qsort(rows, nrows, sizeof(*rows), compare);
}

/* Code that comes and goes belongs to no file. */
static bool
is_asked(const struct row *row)
{
	return (strchr("tTwW", row->rw_type) != NULL &&
	    (row->rw_module == NULL || (strcmp(row->rw_module, "bpf") != 0 &&
	    strncmp(row->rw_module, "__builtin", 9) != 0)));
}

static const struct row *
first_at(uint64_t address)
{
	const struct row key = { .rw_address = address };
	const struct row *row = bsearch(&key, rows, nrows, sizeof(key),
	    compare);

	while (row != NULL && row > rows && row[-1].rw_address == address)
		row--;
	return (row);
}

static void
check(const struct prof_symbol *symbol, uint64_t begin)
{
	const struct row *row;

	if (symbol->sy_name == NULL)
		fail("no function", begin, first_at(begin)->rw_name);
	if (symbol->sy_address != begin)
		fail("another begin", begin, symbol->sy_name);
	for (row = first_at(begin); row < rows + nrows &&
	    row->rw_address == begin; row++)
		if (strcmp(row->rw_name, symbol->sy_name) == 0)
			break;
	if (row == rows + nrows || row->rw_address != begin)
		fail("not a name of it", begin, symbol->sy_name);
	if (row->rw_module == NULL ? symbol->sy_module != NULL :
	    symbol->sy_module == NULL ||
	    strcmp(row->rw_module, symbol->sy_module) != 0)
		fail("another module", begin, symbol->sy_name);
	nasked++;
}

static void
ask_all(struct prof_kernel_names *names, const uint64_t *place,
    const uint64_t *begin, size_t n, struct prof_symbol *symbol)
{
	size_t at, got, i;

	for (at = 0; at < n; at += got) {
		got = prof_kernel_names_ask(names, place + at, n - at,
		    symbol);
		if (got == 0)
			fail("no answer", place[at], "");
		for (i = 0; i < got; i++)
			check(&symbol[i], begin[at + i]);
	}
}

static void
check_rows(struct prof_kernel_names *names)
{
	uint64_t place[ONCE], begin[ONCE], last[ONCE];
	struct prof_symbol symbol[ONCE];
	size_t n = 0, at, i;

	for (at = 0; at < nrows; at += STEP) {
		if (!is_asked(&rows[at]))
			continue;
		begin[n] = place[n] = rows[at].rw_address;
		if (++n < ONCE)
			continue;
		ask_all(names, place, begin, n, symbol);
		/* The last byte: the next row begins behind it. */
		for (i = 0; i < n; i++) {
			const struct row *next = first_at(begin[i]);

			while (next < rows + nrows &&
			    next->rw_address == begin[i])
				next++;
			last[i] = next == rows + nrows ? begin[i] :
			    next->rw_address - 1;
			if (last[i] - begin[i] > 4096)
				last[i] = begin[i];
		}
		ask_all(names, last, begin, n, symbol);
		n = 0;
	}
}

static uint64_t
address_of(const char *name)
{
	for (size_t n = 0; n < nrows; n++)
		if (rows[n].rw_module == NULL &&
		    strcmp(rows[n].rw_name, name) == 0)
			return (rows[n].rw_address);
	return (0);
}

int
main(void)
{
	const uint64_t nothing[] = { 0x1000, 0, UINT64_MAX };
	struct prof_kernel_names *names;
	struct prof_symbol symbol[3];
	struct prof_err why = { 0 };
	struct prof_text text;

	read_rows();
	if (!prof_bpf_usable(&why)) {
		printf("SKIP: %s\n", why.pe_text);
		return (77);
	}
	names = prof_kernel_names_open();
	if (names == NULL)
		fail("it does not answer", 0, "");
	prof_kernel_names_text(names, &text);
	if (text.tx_start != address_of("_stext") ||
	    text.tx_end != address_of("_etext"))
		fail("the text lies elsewhere", text.tx_start, "_stext");
	check_rows(names);
	if (prof_kernel_names_ask(names, nothing, 3, symbol) != 3 ||
	    symbol[0].sy_name != NULL || symbol[1].sy_name != NULL ||
	    symbol[2].sy_name != NULL)
		fail("a function where none is", nothing[0], "");
	prof_kernel_names_close(names);
	printf("ok: %zu addresses as kallsyms has them\n", nasked);
	return (nasked > 1000 ? 0 : 1);
}
