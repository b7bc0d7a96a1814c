/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: where the file is gone, its separate debug file gives the names
 * that the file would, as eu-strip leaves it, or none, as objcopy does.
 *
 * Easy to get wrong: objcopy writes 0 as the offset of a segment that it
 * emptied; counted by that, each place is in another function.
 */
#include <elf.h>

#include "recording-lib.h"

#define START	0x10000000u
#define TEXT	0x1000u		/* offset and address of the code */
#define SIZE	0x20000u
#define HALF	(SIZE / 2)

static const uint8_t id[20] = { 0xab, 0xcd, 1, 2, 3 };

/* All that a debug file of two functions needs; no segment is in it. */
struct debug_file {
	Elf64_Ehdr	df_ehdr;
	Elf64_Phdr	df_phdr[2];
	Elf64_Shdr	df_shdr[4];
	Elf64_Sym	df_sym[3];
	char		df_names[16];
	Elf64_Nhdr	df_note;
	char		df_gnu[4];
	uint8_t		df_id[20];
};

static void
write_debug(const char *path, bool is_emptied)
{
	struct debug_file df = {
		.df_ehdr = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
		    ELFDATA2LSB, EV_CURRENT }, .e_type = ET_DYN,
		    .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		    .e_phoff = offsetof(struct debug_file, df_phdr),
		    .e_shoff = offsetof(struct debug_file, df_shdr),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 2,
		    .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 4 },
		.df_phdr = {
		    { .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			.p_offset = is_emptied ? 0 : TEXT, .p_vaddr = TEXT,
			.p_filesz = is_emptied ? 0 : SIZE, .p_memsz = SIZE },
		    { .p_type = PT_NOTE, .p_align = 4,
			.p_offset = offsetof(struct debug_file, df_note),
			.p_filesz = 36, .p_memsz = 36 } },
		.df_shdr = { { 0 },
		    { .sh_type = SHT_NOBITS, .sh_addr = TEXT, .sh_size = SIZE,
			.sh_flags = SHF_ALLOC | SHF_EXECINSTR },
		    { .sh_type = SHT_SYMTAB, .sh_link = 3,
			.sh_offset = offsetof(struct debug_file, df_sym),
			.sh_size = 3 * sizeof(Elf64_Sym),
			.sh_entsize = sizeof(Elf64_Sym) },
		    { .sh_type = SHT_STRTAB,
			.sh_offset = offsetof(struct debug_file, df_names),
			.sh_size = 16 } },
		.df_sym = { { 0 },
		    { .st_name = 1, .st_info = STT_FUNC, .st_shndx = 1,
			.st_value = TEXT, .st_size = HALF },
		    { .st_name = 7, .st_info = STT_FUNC, .st_shndx = 1,
			.st_value = TEXT + HALF, .st_size = HALF } },
		.df_names = "\0first\0second",
		.df_note = { 4, sizeof(id), NT_GNU_BUILD_ID },
		.df_gnu = "GNU",
	};
	FILE *file = fopen(path, "we");

	memcpy(df.df_id, id, sizeof(id));
	CHECK(file != NULL && fwrite(&df, sizeof(df), 1, file) == 1 &&
	    fclose(file) == 0);
}

static void
write_recording(const char *path)
{
	struct prof_record record = { .pr_type = PROF_R_TASK, .pr_time_ns = 1,
	    .pr_pid = 7, .pr_tid = 7, .pr_comm = "", .pr_path = "" };
	struct prof_err error = { 0 };
	struct prof_writer *writer = prof_writer_open(path, &error);

	CHECK_OK(writer == NULL ? -1 : 0, &error);
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
	record.pr_type = PROF_R_MMAP;
	record.pr_addr = START;
	record.pr_offset = TEXT;
	record.pr_len = SIZE;
	record.pr_path = "/nonexistent/gone";
	record.pr_build_id_len = sizeof(id);
	memcpy(record.pr_build_id, id, sizeof(id));
	CHECK_OK(prof_writer_add(writer, &record), prof_writer_error(writer));
	CHECK_OK(prof_writer_close(writer, &error), &error);
}

/* Nobody is called what another is. */
static void
look(struct prof_reader *reader, const char *dirs, bool has_names)
{
	const struct prof_symbols_options options = {
		.so_size = sizeof(options), .so_debug_dirs = dirs };
	const char *const want[2] = { has_names ? "first" : "[gone]",
	    has_names ? "second" : "[gone]" };
	const struct prof_function *function;
	struct prof_err error = { 0 };
	struct prof_symbols *symbols;
	uint32_t offset, space;

	symbols = prof_symbols_open(reader, &options, &error);
	CHECK_OK(symbols == NULL ? -1 : 0, &error);
	space = prof_symbols_space(symbols, 7, 3);
	for (offset = 0; offset < SIZE; offset += 0x800) {
		function = prof_symbols_function(symbols, prof_symbols_find(
		    symbols, space, &(struct prof_frame){ START + offset,
		    PROF_FRAME_NATIVE, 0 }));
		if (strcmp(function->fu_name, want[offset / HALF]) == 0)
			continue;
		printf("FAIL: %#x is called %s, not %s\n", offset,
		    function->fu_name, want[offset / HALF]);
		exit(1);
	}
	prof_symbols_close(symbols);
}

int
main(void)
{
	char dir[300], path[400];
	struct prof_err error = { 0 };
	struct prof_reader *reader;
	size_t n;

	write_recording(work_path("names.dtp"));
	reader = prof_reader_open(work_path("names.dtp"), &error);
	CHECK_OK(reader == NULL ? -1 : 0, &error);
	snprintf(dir, sizeof(dir), "%s", work_dir);
	CHECK(mkdir(work_path(".build-id"), 0700) == 0);
	CHECK(mkdir(work_path(".build-id/ab"), 0700) == 0);
	n = (size_t)snprintf(path, sizeof(path), "%s/.build-id/ab/", dir);
	for (size_t i = 1; i < sizeof(id); i++)
		n += (size_t)snprintf(path + n, sizeof(path) - n, "%02x",
		    id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	write_debug(path, false);
	look(reader, dir, true);
	write_debug(path, true);
	look(reader, dir, false);
	prof_reader_close(reader);
	printf("ok: the names of the file, or none\n");
	return (0);
}
