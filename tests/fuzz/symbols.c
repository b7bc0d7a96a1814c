/*
 * ASSERTION: ELF files, DWARF and mangled names that other people made are
 * read within bounds of memory and time, and what a table says of an address
 * is what its symbols say.
 *
 * Input: one byte that says which (0 symbols and places of probes, 1 lines, 2 a
 * name, of an argument of a probe too), and the bytes.
 */
/* SPDX-License-Identifier: ISC */
#include <sys/mman.h>

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/demangle.h"
#include "elf/lines.h"
#include "elf/sites.h"
#include "elf/symtab.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static int
file_of(const uint8_t *bytes, size_t length)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd == -1 || write(fd, bytes, length) != (ssize_t)length)
		abort();
	return (fd);
}

/* Each symbol is of some size, in order, and something is found there. */
static void
look_at(const struct prof_symtab *table)
{
	struct prof_symbol symbol, found;
	uint64_t last = 0;
	size_t n;

	for (n = 0; n < prof_symtab_count(table); n++) {
		prof_symtab_at(table, n, &symbol);
		if (symbol.sy_size == 0 || symbol.sy_address < last ||
		    symbol.sy_name[0] == '\0')
			abort();
		last = symbol.sy_address;
		if (!prof_symtab_find(table, last, &found) ||
		    last - found.sy_address >= found.sy_size)
			abort();
	}
}

/* What a program may be given, and in the file. */
static void
operand_check(const struct dtp_operand *operand)
{
	if (operand->op_size > 8 || operand->op_scale > 8 ||
	    (operand->op_base > DTP_REGISTERS &&
	    operand->op_base != DTP_NO_REGISTER) ||
	    (operand->op_index > DTP_REGISTERS &&
	    operand->op_index != DTP_NO_REGISTER))
		abort();
}

/* A name of a parameter and a type, whatever debug information says. */
static void
parameter_check(const struct prof_site_parameter *parameter)
{
	if (strnlen(parameter->sp_name, sizeof(parameter->sp_name)) ==
	    sizeof(parameter->sp_name) ||
	    strnlen(parameter->sp_type, sizeof(parameter->sp_type)) ==
	    sizeof(parameter->sp_type) || parameter->sp_size > 8 ||
	    parameter->sp_place >= PROF_SITE_PARAMETERS)
		abort();
}

/* Of all names; then of the first of these, whose parameters are read, too. */
static void
sites(int fd, struct prof_sites_want want)
{
	const bool is_all = want.sw_pattern == NULL;
	char first[PROF_SITE_NAME] = "";
	struct prof_sites found;
	off_t size = lseek(fd, 0, SEEK_END);

	if (is_all)
		want.sw_pattern = "*";
	if (prof_sites_find(fd, &want, &found) == -1)
		return;
	if (is_all && found.st_n > 0)
		strcpy(first, found.st_site[0].si_name);
	for (size_t n = 0; n < found.st_n; n++) {
		const struct prof_site *site = &found.st_site[n];

		if (site->si_offset >= (uint64_t)size ||
		    site->si_semaphore >= (uint64_t)size ||
		    strnlen(site->si_name, PROF_SITE_NAME) == PROF_SITE_NAME ||
		    site->si_nargs > DTP_MAX_ARGS)
			abort();
		for (uint32_t a = 0; a < site->si_nargs; a++)
			operand_check(&site->si_arg[a]);
		if (site->si_nparameters > PROF_SITE_PARAMETERS)
			abort();
		for (uint32_t p = 0; p < site->si_nparameters; p++)
			parameter_check(&site->si_parameter[p]);
		parameter_check(&site->si_result);
	}
	prof_sites_free(&found);
	want.sw_pattern = first;
	if (first[0] != '\0')
		sites(fd, want);
}

static void
symbols(int fd)
{
	struct prof_symtab *table = prof_symtab_of_elf(fd, "/nonexistent");
	uint64_t address;

	if (table != NULL)
		look_at(table);
	prof_symtab_free(table);
	prof_symtab_file_to_address(fd, 4096, &address);
}

static void
lines(int fd)
{
	struct prof_lines *table = prof_lines_open(fd, "/nonexistent");
	struct prof_line out[16];
	uint64_t address;

	if (table == NULL)
		return;
	for (address = 0x1000; address < 0x1400; address += 3)
		if (prof_lines_find(table, address, out, 16) > 16)
			abort();
	prof_lines_close(table);
}

static void
name(const uint8_t *bytes, size_t length)
{
	char *raw = strndup((const char *)bytes, length);
	char *shown = prof_demangle(raw), *folded;
	struct dtp_operand operand;

	if (shown != NULL && strlen(shown) > 1u << 20)
		abort();
	folded = prof_name_fold(shown == NULL ? raw : shown);
	if (folded == NULL)
		abort();
	(void)prof_operand_parse(EM_X86_64, raw, &operand);
	operand_check(&operand);
	(void)prof_operand_parse(EM_AARCH64, raw, &operand);
	operand_check(&operand);
	free(folded);
	free(shown);
	free(raw);
}

int
LLVMFuzzerTestOneInput(const uint8_t *input, size_t length)
{
	int fd;

	if (length < 1)
		return (0);
	if (input[0] % 3 == 2) {
		name(input + 1, length - 1);
		return (0);
	}
	fd = file_of(input + 1, length - 1);
	if (input[0] % 3 == 0) {
		symbols(fd);
		sites(fd, (struct prof_sites_want){
		    .sw_kind = PROF_SITE_FUNCTION });
		sites(fd, (struct prof_sites_want){
		    .sw_kind = PROF_SITE_FUNCTION, .sw_offset = 4 });
		sites(fd, (struct prof_sites_want){
		    .sw_kind = PROF_SITE_FUNCTION, .sw_line = 12 });
		sites(fd, (struct prof_sites_want){
		    .sw_kind = PROF_SITE_STATIC });
		sites(fd, (struct prof_sites_want){
		    .sw_kind = PROF_SITE_RETURN });
	} else
		lines(fd);
	close(fd);
	return (0);
}
