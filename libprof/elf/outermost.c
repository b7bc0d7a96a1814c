/* SPDX-License-Identifier: ISC */
/*
 * Finds where stacks begin in C libraries whose frame information does not
 * say so: musl has none at all, that of the GNU library does not say that
 * nobody called the code on which a context of makecontext(3) returns, and
 * that of Go on x86-64 not that nobody called what goroutines return to.
 * Without this every stack of a program that uses musl would look cut.
 *
 * Called by unwind_table.c and stacks/objects.c.  Looks, byte by byte, for a
 * few sequences that only such code has: "exit(main(...))", the same for
 * threads (x86-64 only), what contexts return to, and the return from a signal
 * handler.  Only the vDSO, C libraries and static programs are looked into.
 */
#include <string.h>

#include "abi/dtp_unwind.h"
#include "outermost.h"

#define MAX_TEXT	(4U << 20)	/* C libraries are smaller */
#define MAX_VDSO	16384
#define ENTRY_BYTES	56		/* up to the program's own _start */

/* Does the file itself offer what every program's entry calls? */
static bool
is_c_library(struct prof_elf *elf)
{
	static const char name[] = "__libc_start_main";
	struct prof_elf_part symbols, strings;
	Elf64_Sym symbol;
	size_t n;

	if (!prof_elf_section_named(elf, ".dynsym", &symbols) ||
	    !prof_elf_section(elf, symbols.pp_link, &strings) ||
	    !prof_elf_load(elf, &symbols) || !prof_elf_load(elf, &strings))
		return (false);
	for (n = 0; n < symbols.pp_size / sizeof(symbol); n++) {
		memcpy(&symbol, symbols.pp_bytes + n * sizeof(symbol),
		    sizeof(symbol));
		if (symbol.st_shndx != SHN_UNDEF &&
		    symbol.st_name < strings.pp_size &&
		    strings.pp_size - symbol.st_name >= sizeof(name) &&
		    memcmp(strings.pp_bytes + symbol.st_name, name,
		    sizeof(name)) == 0)
			return (true);
	}
	return (false);
}

/* A program that needs no loader has the C library in itself. */
static bool
is_static(const struct prof_elf *elf)
{
	Elf64_Phdr ph;
	size_t n;

	if (elf->el_entry == 0)
		return (false);		/* a library */
	for (n = 0; prof_elf_segment(elf, n, &ph); n++)
		if (ph.p_type == PT_INTERP)
			return (false);
	return (true);
}

/* Is it, up to here, a call through a register or through memory? */
static bool
is_call_through(const uint8_t *end)
{
	if (end[-2] == 0xff && ((end[-1] & 0xf8) == 0xd0 ||
	    ((end[-1] & 0xf8) == 0x10 && end[-1] != 0x14 && end[-1] != 0x15)))
		return (true);
	return (end[-3] == 0xff && (end[-2] & 0xf8) == 0x50 &&
	    end[-2] != 0x54);
}

/*
 * A call whose result goes to one that does not return: bytes of the code
 * behind the first call, up to the end of the second; 0: it is none.
 */
static size_t
ends_thread(const uint8_t *at)
{
	static const uint8_t exit_of[] = { 0x89, 0xc7, 0xe8 };
	static const uint8_t pthread_exit_of[] = { 0x48, 0x89, 0xc7, 0xe8 };
	static const uint8_t exit_call[] = { 0x89, 0xc7, 0x31, 0xc0, 0xb0,
	    0x3c, 0x0f, 0x05 };
	size_t size = 0;

	if (memcmp(at, exit_of, sizeof(exit_of)) == 0)
		size = sizeof(exit_of) + 4;
	else if (memcmp(at, pthread_exit_of, sizeof(pthread_exit_of)) == 0)
		size = sizeof(pthread_exit_of) + 4;
	else if (memcmp(at, exit_call, sizeof(exit_call)) == 0)
		size = sizeof(exit_call);
	return (size != 0 && is_call_through(at) ? size : 0);
}

/* What begins at these bytes; there are 16 more on either side. */
static bool
code_recognize(const uint8_t *at, uint64_t address, struct prof_outermost *is)
{
	static const uint8_t sigreturn[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0,
	    0x0f, 0x05 };
	size_t size;

	if (*at != 0x48 && *at != 0x89)
		return (false);
	memset(is, 0, sizeof(*is));
	if (memcmp(at, sigreturn, sizeof(sigreturn)) == 0) {
		size = sizeof(sigreturn);
		is->ou_rule = DTP_UW_SIGNAL;
	} else if ((size = ends_thread(at)) != 0)
		is->ou_rule = DTP_UW_STOP;
	else
		return (false);
	/* Who returns to it is looked for a byte before. */
	is->ou_from = address - 1;
	is->ou_to = address + size;
	return (true);
}

/*
 * The next place from there on that may be one: all of them have 0xc7, which
 * is rare, as their second or third byte.
 */
static size_t
code_next(const struct prof_elf_part *text, size_t at)
{
	const uint8_t *byte = at + 1 >= text->pp_size ? NULL :
	    memchr(text->pp_bytes + at + 1, 0xc7, text->pp_size - at - 1);
	const size_t found = byte == NULL ? text->pp_size :
	    (size_t)(byte - text->pp_bytes) - 2;

	return (byte == NULL || found > at ? found : at);
}

/* A piece of code that is known by its bytes; one of each in a file. */
struct code {
	uint16_t	 cd_machine;
	uint16_t	 cd_rule;
	uint16_t	 cd_when;	/* enum prof_outer_when */
	uint8_t		 cd_covers;	/* bytes for which the rule holds */
	uint8_t		 cd_size;
	uint8_t		 cd_bytes[11];
	uint64_t	 cd_mask;	/* of the next 8 bytes these bits ... */
	uint64_t	 cd_value;	/* ... are these */
};

/*
 * Where contexts return to, whose frame information is that of a function;
 * the return from a signal in the vDSO of arm64, which has none; Go's goexit,
 * which is what the first function of a goroutine returns to; and how clone
 * and clone3 go on behind their system call, in the parent and in the thread
 * that has just begun, which has no caller there.
 */
static const struct code codes[] = {
	/* mov rsp, rbx; mov rdi, [rsp]; test rdi, rdi; jz; ... hlt */
	{ EM_X86_64, DTP_UW_STOP, PROF_OUTER_ALWAYS, 25, 11, { 0x48, 0x89,
	    0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48, 0x85, 0xff, 0x74 }, 0, 0 },
	/* nop; mov x0, x19; cbnz x0; b exit */
	{ EM_AARCH64, DTP_UW_STOP, PROF_OUTER_ALWAYS, 16, 8, { 0x1f, 0x20,
	    0x03, 0xd5, 0xe0, 0x03, 0x13, 0xaa }, 0xfc000000ff00001f,
	    0x14000000b5000000 },
	/* mov x8, 139; svc 0 */
	{ EM_AARCH64, DTP_UW_SIGNAL, PROF_OUTER_ALWAYS, 8, 8, { 0x68, 0x11,
	    0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 }, 0, 0 },
	/* int3; nop; call goexit1; nop; int3 ... */
	{ EM_X86_64, DTP_UW_STOP, PROF_OUTER_DESCRIBED, 8, 3, { 0xcc, 0x90,
	    0xe8 }, 0xffffffff00000000, 0xcccccc9000000000 },
	/* syscall; test rax, rax; jl; jz 1f; ret; 1: xor ebp, ebp ... */
	{ EM_X86_64, DTP_UW_CHILD, PROF_OUTER_ALWAYS, 8, 5, { 0x05, 0x48,
	    0x85, 0xc0, 0x7c }, 0xffffffffffffff00, 0x5f58ed31c3017400 },
	{ EM_X86_64, DTP_UW_CHILD, PROF_OUTER_ALWAYS, 8, 5, { 0x05, 0x48,
	    0x85, 0xc0, 0x7c }, 0xffffffffffffff00, 0x8348ed31c3017400 },
};

static bool
find_code(const struct prof_elf_part *text, const struct code *code,
    struct prof_outermost *is)
{
	const uint8_t *at = text->pp_bytes;
	const uint8_t *end = at + text->pp_size;
	uint64_t next = 0;

	for (;; at++) {
		at = memmem(at, (size_t)(end - at), code->cd_bytes,
		    code->cd_size);
		if (at == NULL || (size_t)(end - at) < code->cd_size + 8U)
			return (false);
		memcpy(&next, at + code->cd_size, sizeof(next));
		if ((next & code->cd_mask) == code->cd_value)
			break;
	}
	is->ou_from = text->pp_address + (uint64_t)(at - text->pp_bytes) - 1;
	is->ou_to = is->ou_from + 1 + code->cd_covers;
	is->ou_rule = code->cd_rule;
	is->ou_when = code->cd_when;
	return (true);
}

/*
 * The bytes of a segment of code; what is read is taken from "left".  Segments
 * may lie over each other, so all of them may be far more than the text is.
 */
static bool
read_code(struct prof_elf *elf, const Elf64_Phdr *ph, uint64_t *left,
    struct prof_elf_part *text)
{
	if (ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) ||
	    ph->p_filesz > *left)
		return (false);
	*left -= ph->p_filesz;
	memset(text, 0, sizeof(*text));
	text->pp_offset = ph->p_offset;
	text->pp_size = ph->p_filesz;
	text->pp_address = ph->p_vaddr;
	return (prof_elf_load(elf, text));
}

size_t
prof_outermost_find(struct prof_elf *elf, bool is_bare,
    struct prof_outermost *found, size_t max)
{
	struct prof_outermost is;
	struct prof_elf_part text;
	uint64_t low, high, left = MAX_TEXT;
	size_t n, at, count = 0;
	Elf64_Phdr ph;

	if (!prof_elf_text(elf, &low, &high) || high - low > MAX_TEXT ||
	    (high - low > MAX_VDSO && !is_static(elf) && !is_c_library(elf)))
		return (0);
	is_bare = is_bare && elf->el_machine == EM_X86_64;
	for (n = 0; prof_elf_segment(elf, n, &ph); n++) {
		if (!read_code(elf, &ph, &left, &text))
			continue;
		for (at = 0; at < sizeof(codes) / sizeof(codes[0]); at++)
			if (codes[at].cd_machine == elf->el_machine &&
			    find_code(&text, &codes[at], &is) && count++ < max)
				found[count - 1] = is;
		for (at = 16; is_bare && (at = code_next(&text, at)) + 16 <
		    text.pp_size; at++)
			if (code_recognize(text.pp_bytes + at, ph.p_vaddr + at,
			    &is) && count++ < max)
				found[count - 1] = is;
	}
	/* The first code of all, of the loader too; it may be bare as well. */
	if (is_static(elf) && elf->el_entry >= low &&
	    high - elf->el_entry > ENTRY_BYTES && count++ < max)
		found[count - 1] = (struct prof_outermost){ elf->el_entry,
		    elf->el_entry + ENTRY_BYTES, DTP_UW_STOP, PROF_OUTER_BARE };
	return (count < max ? count : max);
}
