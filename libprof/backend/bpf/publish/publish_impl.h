/* SPDX-License-Identifier: ISC */
/*
 * What the files that feed the walk in the kernel share: publish.c (processes
 * and their mappings), modules.c (files, threads that make tables),
 * tables.c (tables for the programs), files.c (how the kernel knows files),
 * chains.c (interpreters), memory.c (slabs and where things lie in them).
 */
#ifndef PROF_PUBLISH_IMPL_H
#define PROF_PUBLISH_IMPL_H

#include <pthread.h>

#include "base/record.h"
#include "abi/dtp_chain.h"
#include "abi/dtp_unwind.h"
#include "elf/unwind_table.h"
#include "process/languages/language.h"
#include "publish.h"

/* ----------------------------------------------------------- memory.c */

/* A run of words in a slab. */
struct prof_words {
	uint32_t	wd_slab;
	uint32_t	wd_at;
	uint32_t	wd_n;
};

/* The tables that programs read, mapped, and who has which words of slabs. */
struct prof_unwind_memory {
	int		 um_slabs_fd;	/* array of maps */
	int		 um_slab_fd[DTP_UW_SLABS];
	uint32_t	*um_slab[DTP_UW_SLABS];
	uint32_t	 um_nslabs;
	uint32_t	 um_max_slabs;
	struct dtp_uw_proc *um_procs;
	struct dtp_uw_number *um_numbers;
	struct dtp_uw_module *um_modules;
	struct dtp_uw_entry *um_entries;
	struct dtp_uw_file *um_files;
	struct dtp_chain *um_chains;
	uint32_t	 um_nentries;
	uint16_t	 um_entry_slot[2 * DTP_UW_ENTRIES]; /* entry + 1 */
	uint64_t	*um_cache;
	size_t		 um_cache_bytes;
	struct extent	*um_free;	/* by slab and place */
	struct extent	*um_resting;	/* just given back, oldest first */
	struct extent	**um_resting_last;
	uint64_t	 um_nresting;	/* words */
	uint64_t	 um_used;	/* words */
	uint64_t	 um_calls;	/* of bpf(2) */
};

/* Descriptors as prof_unwind_new takes them. */
int	prof_unwind_memory_init(struct prof_unwind_memory *memory,
	    const int fds[PROF_UNWIND_FDS], size_t ncpus, uint64_t max_bytes,
	    struct prof_err *error);
void	prof_unwind_memory_fini(struct prof_unwind_memory *memory);
/* -1: the limit is reached, or what is free lies in pieces. */
int	prof_words_get(struct prof_unwind_memory *memory, uint32_t n,
	    struct prof_words *words);
void	prof_words_put(struct prof_unwind_memory *memory,
	    const struct prof_words *words);
uint32_t *prof_words_at(const struct prof_unwind_memory *memory,
	    const struct prof_words *words);
/* The rule that names this entry of everybody's dictionary; USER: full. */
uint16_t prof_entry_shared(struct prof_unwind_memory *memory,
	    const struct dtp_uw_entry *entry);

/* ---------------------------------------------------------- modules.c */

#define PROF_MODULE_BUCKETS	4096
#define PROF_MODULE_SEGMENTS	4
#define PROF_MODULE_MAKERS	8
#define PROF_MODULE_TRIES	8	/* for want of memory */
#define PROF_MODULE_LOST	DTP_UW_LOST

/* A process that shows the file, and where. */
struct prof_shown {
	uint32_t	sh_pid;
	uint64_t	sh_addr;
	uint64_t	sh_len;
};

/* What came of making a table. */
enum prof_made {
	PROF_MADE,		/* it, or certainty that there is none */
	PROF_MADE_NOTHING,	/* nobody shows the file now */
	PROF_MADE_TOO_LITTLE,	/* no memory */
	PROF_MADE_NEVER,	/* too large, or the file cost a parser */
};

/*
 * One file.  fd, table and made pass to the thread and back.
 * [m] under ms_mutex
 */
struct prof_module {
	struct prof_module *mo_next;	/* in its bucket */
	struct prof_module *mo_link;	/* in the queue, or among the made */
	uint32_t	 mo_number;
	uint64_t	 mo_dev;
	uint64_t	 mo_ino;
	uint32_t	 mo_id_len;
	uint8_t		 mo_id[20];
	char		*mo_path;	/* NULL: the vDSO, in our memory ... */
	size_t		 mo_vdso_bytes;	/* ... which is so long */
	struct prof_shown mo_first;	/* by whom it came to be known */
	struct prof_shown mo_last;	/* [m] by whom it was mapped last */
	uint64_t	 mo_written_ns;	/* its file, last; 0: not known */
	int		 mo_fd;		/* -1: to be opened again */
	bool		 mo_is_shown;	/* it is among um_files */
	Elf64_Phdr	 mo_text[PROF_MODULE_SEGMENTS];
	unsigned	 mo_ntext;
	struct prof_unwind_table *mo_table;
	enum prof_made	 mo_made;
	struct prof_runtime mo_runtime;	/* comes with the table, or without */
	uint64_t	 mo_samples;	/* that executed scripts ... */
	uint64_t	 mo_missing;	/* ... of which no frame was found */
	bool		 mo_was_used;	/* a walk met its code */
	struct prof_words mo_words;	/* published there */
	uint64_t	 mo_needed_ns;
	bool		 mo_is_evicted;	/* to be made again when wanted ... */
	uint64_t	 mo_again_ns;	/* ... not before */
	unsigned	 mo_failed;	/* so often for want of memory */
	bool		 mo_is_busy;	/* from being queued to published */
	uint64_t	 mo_unmapped_ns; /* nobody maps it since; 0: somebody */
};

struct prof_unwind_modules {
	struct prof_unwind_memory *ms_memory;
	struct prof_broker *ms_broker;
	struct prof_module *ms_bucket[PROF_MODULE_BUCKETS];
	struct prof_module *ms_module[DTP_UW_MODULES]; /* by number */
	uint32_t	 ms_n;		/* numbers given out; 0 is nobody ... */
	uint16_t	 ms_free[DTP_UW_MODULES]; /* ... taken back ... */
	uint32_t	 ms_nfree;
	bool		 ms_is_mapped[DTP_UW_MODULES];
	bool		 ms_must_go[DTP_UW_MODULES];
	bool		 ms_some_must_go;
	bool		 ms_some_unknown; /* walks met a file not shown */
	bool		 ms_has_runtime; /* one came; to be published */
	uint64_t	 ms_swept_ns;
	uint64_t	 ms_nfiles;	/* that ever had a number */
	uint64_t	 ms_nrefused;	/* mappings for which there was none */
	struct prof_module *ms_ready;	/* made; wait for room, in order */
	uint64_t	 ms_looked_ns;
	uint64_t	 ms_short_ns;	/* memory is short since; 0: no */
	uint64_t	 ms_ntables;
	uint64_t	 ms_nevicted;
	unsigned	 ms_max_threads;
	/* [m] all below: shared with the makers */
	pthread_mutex_t	 ms_mutex;
	pthread_cond_t	 ms_more;
	struct prof_module *ms_queue;
	unsigned	 ms_nqueued;
	struct prof_module *ms_made;
	unsigned	 ms_pending;	/* queued, being made, or made */
	pthread_t	 ms_thread[PROF_MODULE_MAKERS];
	unsigned	 ms_nthreads;
	unsigned	 ms_nidle;
	bool		 ms_quit;
};

struct prof_unwind_modules *prof_unwind_modules_new(
	    struct prof_unwind_memory *memory, struct prof_broker *broker);
void	prof_unwind_modules_free(struct prof_unwind_modules *modules);
/*
 * The module of a mapping, made and queued when it is new; 0: one without a
 * table, LOST: whether it has one cannot be known.  The bias takes an address
 * in memory to one in the file.
 */
uint32_t prof_unwind_modules_get(struct prof_unwind_modules *modules,
	    const struct prof_record *mapping, uint64_t *bias);
/* The list that it is in. */
struct prof_module **prof_module_bucket(struct prof_unwind_modules *modules,
	    const struct prof_module *module);
/* Queue it for a thread that makes its table. */
void	prof_module_make(struct prof_unwind_modules *modules,
	    struct prof_module *module);
/* Nothing is queued, nothing waits to be published. */
bool	prof_unwind_modules_idle(struct prof_unwind_modules *modules);

/* ------------------------------------------------------------ files.c */

/* Who maps this file, which is open, has its module from now on. */
void	prof_file_show(struct prof_unwind_memory *memory,
	    struct prof_module *module, int fd);
/* Not any more, nor whoever maps a copy. */
void	prof_file_hide(struct prof_unwind_memory *memory,
	    struct prof_module *module);

/* ---------------------------------------------------------- numbers.c */

/* One that nothing leads to; 0: none is left. */
uint32_t prof_module_number(struct prof_unwind_modules *modules);
/* Few numbers are left: it matters who is needed. */
bool	prof_modules_are_many(const struct prof_unwind_modules *modules);
/*
 * Take numbers back.  false: it is not time for it.  Else ms_is_mapped is to
 * be set for each module that processes map, all of which are published; then
 * after the end, mappings of those of ms_must_go are to be given up.
 */
bool	prof_modules_is_time(const struct prof_unwind_modules *modules);
bool	prof_modules_sweep_begin(struct prof_unwind_modules *modules);
void	prof_modules_sweep_end(struct prof_unwind_modules *modules);

/* ----------------------------------------------------------- chains.c */

/* Numbers of um_chains. */
struct prof_chains {
	uint64_t	cs_free_ns[DTP_CHAINS];	/* from then on */
	uint32_t	cs_module[DTP_CHAINS];	/* of the interpreter */
	uint64_t	cs_runs[DTP_CHAINS];	/* its loop: the address */
	uint32_t	cs_last;
	uint64_t	cs_refused;	/* processes: there was none left */
};

/*
 * The number of what a process with these mappings runs, which had one before,
 * or 0; 0: nothing that is known.
 */
uint32_t prof_chain_get(struct prof_chains *chains,
	    const struct prof_unwind_modules *modules,
	    const struct dtp_uw_map *map, uint32_t n, uint32_t before);
void	prof_chain_put(struct prof_chains *chains, uint32_t number);
/* As prof_unwind_fails. */
bool	prof_chain_fails(const struct prof_chains *chains,
	    const struct prof_unwind_modules *modules, uint32_t number,
	    const struct prof_record *sample);

/* ----------------------------------------------------------- tables.c */

/* It has no table from now on; what it had is given back. */
void	prof_module_withdraw(struct prof_unwind_modules *modules,
	    struct prof_module *module);
/* Certainly it has none, and never will have. */
void	prof_module_has_none(struct prof_unwind_modules *modules,
	    struct prof_module *module);
/* Hand tables that are ready to the programs. */
void	prof_unwind_modules_publish(struct prof_unwind_modules *modules);
void	prof_unwind_modules_stats(struct prof_unwind_modules *modules,
	    struct prof_unwind_stats *stats);

#endif /* PROF_PUBLISH_IMPL_H */
