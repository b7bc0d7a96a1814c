/* SPDX-License-Identifier: ISC */
/*
 * See decode.h.  Called by returns.c.
 *
 * x86-64: prefixes, opcode of one of four maps, ModRM with SIB and
 * displacement, immediate.  Which opcodes have which parts is a string for each
 * map, a letter for each opcode:
 *
 *	.	nothing more		m	ModRM
 *	b	1 byte			M	ModRM, 1 byte
 *	z	2 or 4 bytes		Z	ModRM, 2 or 4 bytes
 *	w	2 bytes			e	3 bytes
 *	v	2, 4 or 8 bytes		a	an address of 4 or 8 bytes
 *	r	a branch of 1 byte	R	a branch of 4 bytes
 *	t	ModRM; 1 byte if its reg is 0 or 1	T	the same, 2 or 4
 *	-	invalid, a prefix, or another map
 */
#include <string.h>

#include <elf.h>

#include "decode.h"

#define REX_W		0x8

static const char map_one[] =
    "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--" "mmmmbz--mmmmbz--"
    "mmmmbz--mmmmbz--" "----------------" "................"
    "---m----zZbM...." "rrrrrrrrrrrrrrrr" "MZ-Mmmmmmmmmmmmm"
    "..........-....." "aaaa....bz......" "bbbbbbbbvvvvvvvv"
    "MMw.--MZe.w..b-." "mmmm---.mmmmmmmm" "rrrrbbbbRR-r...."
    "-.--..tT......mm";

static const char map_0f[] =
    "mmmm-.....-.-m.M" "mmmmmmmmmmmmmmmm" "mmmm----mmmmmmmm"
    "......-.--------" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm" "MMMMmmm.mm--mmmm" "RRRRRRRRRRRRRRRR"
    "mmmmmmmmmmmmmmmm" "...mMm--...mMmmm" "mmmmmmmmmmMmmmmm"
    "mmMmMMMm........" "mmmmmmmmmmmmmmmm" "mmmmmmmmmmmmmmmm"
    "mmmmmmmmmmmmmmmm";

struct decoding {
	const uint8_t	*de_code;
	size_t		 de_size;
	size_t		 de_at;
	unsigned	 de_rex;
	bool		 de_is_short;	/* prefix 66 */
	bool		 de_is_32;	/* prefix 67 */
	bool		 de_is_vex;
	int		 de_map;	/* 1: one byte, 0x0f, 0x38, 0x3a */
	uint8_t		 de_opcode;
	uint8_t		 de_modrm;
};

static bool
byte_take(struct decoding *de, uint8_t *byte)
{
	if (de->de_at >= de->de_size)
		return (false);
	*byte = de->de_code[de->de_at++];
	return (true);
}

static bool
is_prefix(uint8_t byte)
{
	return (memchr("\x26\x2e\x36\x3e\x64\x65\x66\x67\xf0\xf2\xf3", byte,
	    11) != NULL);
}

static int
map_of(unsigned number)
{
	/* 5 and 6 are like the first two, of half precision. */
	static const int maps[8] = { 0, 0x0f, 0x38, 0x3a, 0, 0x0f, 0x38, 0 };

	return (maps[number & 7]);
}

/* VEX and EVEX; what is behind them is the opcode. */
static bool
vex_take(struct decoding *de, uint8_t first)
{
	uint8_t byte, more;

	if (!byte_take(de, &byte))
		return (false);
	de->de_is_vex = true;
	de->de_map = first == 0xc5 ? 0x0f : map_of(first == 0x62 ?
	    byte & 0x07 : (byte & 0x1f) < 4 ? byte & 0x1f : 0);
	for (int n = 0; n < (first == 0x62 ? 2 : first == 0xc4 ? 1 : 0); n++)
		if (!byte_take(de, &more))
			return (false);
	return (de->de_map != 0 && byte_take(de, &de->de_opcode));
}

static bool
opcode_take(struct decoding *de)
{
	uint8_t byte;

	do {
		if (!byte_take(de, &byte))
			return (false);
		de->de_is_short |= byte == 0x66;
		de->de_is_32 |= byte == 0x67;
	} while (is_prefix(byte));
	if ((byte & 0xf0) == 0x40) {
		de->de_rex = byte & 0x0f;
		if (!byte_take(de, &byte) || is_prefix(byte))
			return (false);
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return (vex_take(de, byte));
	de->de_map = 1;
	if (byte == 0x0f) {
		de->de_map = 0x0f;
		if (!byte_take(de, &byte))
			return (false);
		if (byte == 0x38 || byte == 0x3a) {
			de->de_map = byte;
			if (!byte_take(de, &byte))
				return (false);
		}
	}
	de->de_opcode = byte;
	return (true);
}

/* Which parts follow. */
static char
parts_of(const struct decoding *de)
{
	char parts;

	switch (de->de_map) {
	case 1:
		return (map_one[de->de_opcode]);
	case 0x0f:
		parts = map_0f[de->de_opcode];
		/* Those that are no vectors are not of VEX, but masks are. */
		if (de->de_is_vex && (parts == 'R' || parts == '-'))
			return ('m');
		return (parts);
	case 0x38:
		return ('m');
	default:
		return ('M');
	}
}

static bool
modrm_take(struct decoding *de)
{
	uint8_t sib = 0;
	unsigned mod, more = 0;

	if (!byte_take(de, &de->de_modrm))
		return (false);
	mod = de->de_modrm >> 6;
	if (mod == 3)
		return (true);
	if ((de->de_modrm & 7) == 4 && !byte_take(de, &sib))
		return (false);
	if (mod == 1)
		more = 1;
	else if (mod == 2 || (de->de_modrm & 7) == 5 ||
	    ((de->de_modrm & 7) == 4 && (sib & 7) == 5))
		more = 4;
	de->de_at += more;
	return (de->de_at <= de->de_size);
}

static unsigned
immediate_size(const struct decoding *de, char parts)
{
	const unsigned word = de->de_is_short && (de->de_rex & REX_W) == 0 ?
	    2 : 4;

	switch (parts) {
	case 'b': case 'M': case 'r':
		return (1);
	case 'z': case 'Z':
		return (word);
	case 'w':
		return (2);
	case 'e':
		return (3);
	case 'v':
		return (de->de_rex & REX_W ? 8 : word);
	case 'a':
		return (de->de_is_32 ? 4 : 8);
	case 'R':
		return (4);
	case 't':
		return ((de->de_modrm >> 3 & 7) < 2 ? 1 : 0);
	case 'T':
		return ((de->de_modrm >> 3 & 7) < 2 ? word : 0);
	default:
		return (0);
	}
}

/* Of what is decoded. */
static void
x86_flow(const struct decoding *de, char parts, struct prof_insn *insn)
{
	const uint8_t *end = de->de_code + de->de_at;
	const uint8_t op = de->de_opcode;
	int32_t wide;

	if (de->de_is_vex || (de->de_map != 1 && de->de_map != 0x0f))
		return;
	if (parts == 'r')
		insn->in_target = (int8_t)end[-1] + (int64_t)de->de_at;
	if (parts == 'R') {
		memcpy(&wide, end - sizeof(wide), sizeof(wide));
		insn->in_target = wide + (int64_t)de->de_at;
	}
	if (de->de_map == 0x0f)
		insn->in_flow = parts == 'R' ? PROF_FLOW_BRANCH :
		    op == 0x0b || op == 0xb9 || op == 0xff ? PROF_FLOW_END :
		    PROF_FLOW_NEXT;
	else if (op == 0xc2 || op == 0xc3)
		insn->in_flow = PROF_FLOW_RETURN;
	else if (op == 0xe9 || op == 0xeb)
		insn->in_flow = PROF_FLOW_JUMP;
	else if (parts == 'r')
		insn->in_flow = PROF_FLOW_BRANCH;
	else if (op == 0xf4)
		insn->in_flow = PROF_FLOW_END;
	/* Far returns and jumps are nothing that a compiler makes. */
	else if ((op == 0xff && ((de->de_modrm >> 3 & 7) == 4 ||
	    (de->de_modrm >> 3 & 7) == 5)) || op == 0xca || op == 0xcb ||
	    op == 0xcf)
		insn->in_flow = PROF_FLOW_INDIRECT;
}

static void
x86_decode(const uint8_t *code, size_t size, struct prof_insn *insn)
{
	struct decoding de = { .de_code = code,
	    .de_size = size < 15 ? size : 15 };
	char parts;

	if (!opcode_take(&de) || (parts = parts_of(&de)) == '-')
		return;
	/* A branch of 16 bits is another one on each maker's processors. */
	if ((parts == 'r' || parts == 'R') && de.de_is_short &&
	    !de.de_is_vex)
		return;
	if (strchr("mMZtT", parts) != NULL && !modrm_take(&de))
		return;
	/* pop; the rest is XOP, of which no processor is made any more. */
	if (de.de_map == 1 && de.de_opcode == 0x8f && !de.de_is_vex &&
	    (de.de_modrm & 0x38) != 0)
		return;
	de.de_at += immediate_size(&de, parts);
	if (de.de_at > de.de_size)
		return;
	insn->in_size = (unsigned)de.de_at;
	x86_flow(&de, parts, insn);
}

/* ----------------------------------------------------------------- arm64 */

/* The bits of a word from one on, as a number with a sign, in instructions. */
static int64_t
arm_offset(uint32_t word, unsigned from, unsigned bits)
{
	const uint64_t high = (uint64_t)word << (64 - from - bits);

	return (((int64_t)high >> (64 - bits)) * 4);
}

static void
arm_decode(const uint8_t *code, size_t size, struct prof_insn *insn)
{
	uint32_t word;

	if (size < sizeof(word))
		return;
	memcpy(&word, code, sizeof(word));
	insn->in_size = sizeof(word);
	if ((word & 0xfffffc1f) == 0xd65f0000 || (word | 0x400) == 0xd65f0fff)
		insn->in_flow = PROF_FLOW_RETURN;	/* ret, retaa, retab */
	else if ((word & 0xfc000000) == 0x14000000) {
		insn->in_flow = PROF_FLOW_JUMP;
		insn->in_target = arm_offset(word, 0, 26);
	} else if ((word & 0xff000000) == 0x54000000 ||
	    (word & 0x7e000000) == 0x34000000) {	/* b.cond, cbz */
		insn->in_flow = PROF_FLOW_BRANCH;
		insn->in_target = arm_offset(word, 5, 19);
	} else if ((word & 0x7e000000) == 0x36000000) {	/* tbz */
		insn->in_flow = PROF_FLOW_BRANCH;
		insn->in_target = arm_offset(word, 5, 14);
	} else if ((word & 0xfe9ff000) == 0xd61f0000 ||
	    (word & 0xfedff000) == 0xd61f0000)
		insn->in_flow = PROF_FLOW_INDIRECT;	/* br and its kin */
	else if ((word & 0xffe0001f) == 0xd4200000 || (word >> 16) == 0)
		insn->in_flow = PROF_FLOW_END;		/* brk, udf */
}

void
prof_insn_decode(uint16_t machine, const uint8_t *code, size_t size,
    struct prof_insn *insn)
{
	memset(insn, 0, sizeof(*insn));
	if (machine == EM_AARCH64)
		arm_decode(code, size, insn);
	else
		x86_decode(code, size, insn);
}
