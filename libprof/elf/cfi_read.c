/* SPDX-License-Identifier: ISC */
/*
 * Reads the entries of .eh_frame or .debug_frame: what is common to many
 * functions (CIE), and for each function where it lies and where its program
 * is (FDE).  Called by cfi.c; the programs are run by cfi_run.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/search.h"
#include "cfi_impl.h"

/* Encodings of pointers, DW_EH_PE_*. */
#define ENC_OMIT	0xff
#define ENC_FORMAT	0x0f
#define ENC_RELATIVE	0x70
#define ENC_PCREL	0x10

uint64_t
prof_cfi_pointer(const struct compiler *co, struct cursor *cu, uint8_t encoding)
{
	uint64_t value, here = co->co_in->ci_address +
	    (uint64_t)(cu->cu_at - co->co_in->ci_bytes);

	switch (encoding & ENC_FORMAT) {
	case 0x0: case 0x4: case 0xc:
		value = cursor_fixed(cu, 8);
		break;
	case 0x1:
		value = cursor_uleb(cu);
		break;
	case 0x2:
		value = cursor_fixed(cu, 2);
		break;
	case 0x3:
		value = cursor_fixed(cu, 4);
		break;
	case 0x9:
		value = (uint64_t)cursor_sleb(cu);
		break;
	case 0xa:
		value = (uint64_t)(int16_t)cursor_fixed(cu, 2);
		break;
	case 0xb:
		value = (uint64_t)(int32_t)cursor_fixed(cu, 4);
		break;
	default:
		cu->cu_over = true;
		return (0);
	}
	if ((encoding & ENC_RELATIVE) == ENC_PCREL)
		value += here;
	else if ((encoding & ENC_RELATIVE) != 0)
		cu->cu_over = true;
	return (value);
}

/* The letters of an augmentation that starts with z, and their data. */
static void
augmentation_read(struct compiler *co, struct cie *cie, struct cursor *cu,
    const uint8_t *letters)
{
	struct cursor data = *cu;
	uint64_t length = cursor_uleb(&data);
	struct cursor end = data;

	cursor_skip(&end, length);
	for (letters++; *letters != '\0'; letters++)
		if (*letters == 'R')
			cie->ce_encoding = (uint8_t)cursor_fixed(&data, 1);
		else if (*letters == 'L')
			cursor_fixed(&data, 1);
		else if (*letters == 'P')
			prof_cfi_pointer(co, &data, cursor_fixed(&data, 1) &
			    ENC_FORMAT);
		else if (*letters == 'S')
			cie->ce_signal = true;
	cie->ce_augmented = true;
	end.cu_over |= data.cu_over;
	*cu = end;
}

static int
read_cie(struct compiler *co, struct cie *cie, struct cursor *cu, size_t at)
{
	const uint8_t *letters;
	uint64_t version, ra;

	memset(cie, 0, sizeof(*cie));
	cie->ce_at = at;
	version = cursor_fixed(cu, 1);
	letters = cu->cu_at;
	while (cursor_fixed(cu, 1) != 0)
		continue;
	if (cu->cu_over || (version != 1 && version != 3 && version != 4) ||
	    (letters[0] != '\0' && letters[0] != 'z'))
		return (-1);
	/* Addresses of 8 bytes, segments of none: a byte each. */
	if (version == 4 && cursor_fixed(cu, 2) != 8)
		return (-1);
	cie->ce_code_align = cursor_uleb(cu);
	cie->ce_data_align = cursor_sleb(cu);
	ra = version == 1 ? cursor_fixed(cu, 1) : cursor_uleb(cu);
	if (ra != (uint64_t)co->co_ra)
		return (-1);
	if (letters[0] == 'z')
		augmentation_read(co, cie, cu, letters);
	cie->ce_program = (uint32_t)(cu->cu_at - co->co_in->ci_bytes);
	cie->ce_program_end = (uint32_t)(cu->cu_end - co->co_in->ci_bytes);
	cie->ce_initial.sa_reg = -1;
	if (co->co_in->ci_machine == PROF_MACHINE_AARCH64)
		cie->ce_initial.sa_reg = co->co_sp;
	return (cu->cu_over ? -1 : prof_cfi_run(co, cie, cu, &cie->ce_initial,
	    NULL, 0));
}

static const struct cie *
find_cie(const struct compiler *co, size_t at)
{
	const size_t n = PROF_BEFORE(i, co->co_ncies,
	    co->co_cies[i].ce_at < at);

	return (n < co->co_ncies && co->co_cies[n].ce_at == at ?
	    &co->co_cies[n] : NULL);
}

static int
read_fde(struct compiler *co, struct fde *fde, struct cursor *cu,
    size_t cie_at)
{
	const struct cie *cie = find_cie(co, cie_at);
	uint64_t length;

	if (cie == NULL)
		return (-1);
	fde->fd_cie = (uint32_t)(cie - co->co_cies);
	fde->fd_start = prof_cfi_pointer(co, cu, cie->ce_encoding);
	length = prof_cfi_pointer(co, cu, cie->ce_encoding & ENC_FORMAT);
	if (cie->ce_augmented)
		cursor_skip(cu, cursor_uleb(cu));
	fde->fd_end = fde->fd_start + length;
	fde->fd_program = (uint32_t)(cu->cu_at - co->co_in->ci_bytes);
	fde->fd_program_end = (uint32_t)(cu->cu_end - co->co_in->ci_bytes);
	/* A function of a section that the linker dropped starts at 0. */
	return (cu->cu_over || length == 0 || fde->fd_start == 0 ||
	    fde->fd_end < fde->fd_start ? -1 : 0);
}

/* One entry: a CIE, an FDE, or neither. */
static int
read_entry(struct compiler *co, struct cursor *cu, size_t at, size_t id_at)
{
	const bool debug = at >= co->co_in->ci_debug;
	uint64_t id = cursor_fixed(cu, 4);

	if (debug ? id == 0xffffffff : id == 0) {
		if (!prof_room(&co->co_cies, &co->co_cap_cies,
		    co->co_ncies + 1, sizeof(*co->co_cies)))
			return (-1);
		if (read_cie(co, &co->co_cies[co->co_ncies], cu, at) == 0)
			co->co_ncies++;
		return (0);
	}
	if (!prof_room(&co->co_fdes, &co->co_cap_fdes, co->co_nfdes + 1,
	    sizeof(*co->co_fdes)))
		return (-1);
	if ((!debug && id > id_at) || read_fde(co,
	    &co->co_fdes[co->co_nfdes], cu, debug ? co->co_in->ci_debug + id :
	    id_at - id) == -1)
		co->co_stats->cs_bad++;
	else
		co->co_nfdes++;
	return (0);
}

/* One section, of these bytes. */
static int
read_section(struct compiler *co, size_t from, size_t to, bool to_zero)
{
	const uint8_t *bytes = co->co_in->ci_bytes;
	struct cursor all = { bytes + from, bytes + to, false };

	while (all.cu_end - all.cu_at >= 8) {
		size_t at = (size_t)(all.cu_at - bytes);
		uint64_t length = cursor_fixed(&all, 4);
		struct cursor entry = all;

		if (length == 0 && to_zero)
			break;
		if (length == 0)
			continue;	/* crti and crtn leave these behind */
		if (length > (uint64_t)(all.cu_end - all.cu_at))
			break;		/* 64-bit DWARF, or nonsense */
		entry.cu_end = all.cu_at + length;
		if (read_entry(co, &entry, at, at + 4) == -1)
			return (-1);
		all.cu_at = entry.cu_end;
	}
	return (0);
}

int
prof_cfi_read(struct compiler *co)
{
	const struct prof_cfi_input *in = co->co_in;

	if (read_section(co, 0, in->ci_debug, in->ci_to_zero) == -1)
		return (-1);
	return (read_section(co, in->ci_debug, in->ci_size, false));
}
