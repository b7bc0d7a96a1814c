/* SPDX-License-Identifier: ISC */
/*
 * Regions of a program that dtprof records as spans, without a library: each
 * begin and end is a static probe, an instruction that does nothing until a
 * recorder is attached.
 *
 *	PROF_REGION_BEGIN(parse);
 *	...
 *	PROF_REGION_END(parse);
 *
 *	dtprof record -p PID --span \
 *	    parse=usdt:FILE:region:parse_begin,usdt:FILE:region:parse_end
 *
 * NAME is an identifier.  A region may begin and end in several places, be
 * nested, and call itself.  Needs x86-64 or arm64, and a compiler with the
 * inline assembly of GNU C.
 */
#ifndef PROF_REGION_H
#define PROF_REGION_H

#define PROF_REGION_BEGIN(name)	PROF_PROBE("region", #name "_begin", "0", "")
#define PROF_REGION_END(name)	PROF_PROBE("region", #name "_end", "0", "")

#define PROF_PROBE(provider, name, semaphore, arguments)		\
	__asm__ __volatile__ (						\
	    PROF_PROBE_NOTE(provider, name, semaphore, arguments)	\
	    ::: "memory")

/* A note as SystemTap's sys/sdt.h writes it, of a probe that is a nop. */
#define PROF_PROBE_NOTE(provider, name, semaphore, arguments)		\
	"990:	nop\n"							\
	"	.pushsection .note.stapsdt,\"\",\"note\"\n"		\
	"	.balign 4\n"						\
	"	.4byte 992f-991f, 994f-993f, 3\n"			\
	"991:	.asciz \"stapsdt\"\n"					\
	"992:	.balign 4\n"						\
	"993:	.8byte 990b\n"						\
	"	.8byte _.stapsdt.base\n"				\
	"	.8byte " semaphore "\n"					\
	"	.asciz \"" provider "\"\n"				\
	"	.asciz \"" name "\"\n"					\
	"	.asciz \"" arguments "\"\n"				\
	"994:	.balign 4\n"						\
	"	.popsection\n"						\
	"	.ifndef _.stapsdt.base\n"				\
	"	.pushsection .stapsdt.base,\"aG\",\"progbits\","	\
	".stapsdt.base,comdat\n"					\
	"	.weak _.stapsdt.base\n"					\
	"	.hidden _.stapsdt.base\n"				\
	"_.stapsdt.base: .space 1\n"					\
	"	.size _.stapsdt.base, 1\n"				\
	"	.popsection\n"						\
	"	.endif\n"

#endif /* PROF_REGION_H */
