/* SPDX-License-Identifier: ISC */
/*
 * What the files of dtprof bench share.
 *
 *	cmd_bench.c	options and whether they make sense
 *	bench.c		the plan, the loop, progress, going on after a stop
 *	bench_run.c	one run of one command
 *	bench_count.c	the same, with what counters of the CPU say
 *	bench_file.c	the directory: description and results
 *	bench_baseline.c where benches are that are kept under a name
 *	bench_env.c	the machine, and what disturbs it
 */
#ifndef BENCH_H
#define BENCH_H

#include <sys/types.h>

#include "../cmd.h"
#include "../ui/emit.h"

#define BENCH_ABOUT	"bench.json"	/* the description */
#define BENCH_RUNS	"runs.jsonl"	/* a line for each run */
#define BENCH_BASELINES	".dtprof"	/* a directory for each baseline */
#define BENCH_BISECT	".bisect"	/* behind its name: --bisect's runs */
#define BENCH_NAME_MAX	100
/*
 * Runs of each command in a block.  Up to five in all are one block: of five
 * and five there are 252 orders, of blocks of two and two just 72.
 */
#define BENCH_IN_BLOCK	2
#define BENCH_ONE_BLOCK	5
#define BENCH_COMMANDS	26

/* What a run is measured by. */
enum bench_metric {
	BENCH_WALL, BENCH_CPU, BENCH_USER, BENCH_SYSTEM, BENCH_MAX_RSS,
	BENCH_MINOR_FAULTS, BENCH_MAJOR_FAULTS, BENCH_VOLUNTARY_SWITCHES,
	BENCH_INVOLUNTARY_SWITCHES,
	/* Where a PMU counts: bench_counters in this order. */
	BENCH_CYCLES, BENCH_INSTRUCTIONS, BENCH_BRANCH_MISSES,
	BENCH_CACHE_MISSES, BENCH_NMETRICS
};
#define BENCH_COUNTERS	(BENCH_NMETRICS - BENCH_CYCLES)

struct bench_metric_name {
	const char	*mn_name;	/* in files */
	const char	*mn_title;	/* for people */
	const char	*mn_unit;
};
extern const struct bench_metric_name bench_metrics[BENCH_NMETRICS];

struct bench_options {
	struct opt_strings be_names;
	struct opt_number be_runs;
	struct opt_number be_warmups;
	struct opt_number be_seed;
	struct opt_number be_threshold;
	const char	*be_output;
	const char	*be_save;
	const char	*be_bisect;
	const char	*be_prepare;
	bool		 be_ignore;
	bool		 be_off_cpu;
	bool		 be_record;
	bool		 be_shell;
};

struct bench_command {
	char		*bc_text;	/* as the user wrote it */
	char		*bc_name;
	char		**bc_argv;
	char		 bc_build_id[41]; /* of the program; "": not known */
	struct prof_counting *bc_counting; /* NULL: no counters here */
	int		 bc_counter[BENCH_COUNTERS]; /* by its event */
};

struct bench_result {
	unsigned	 br_command;
	uint32_t	 br_block;
	uint32_t	 br_of;		/* runs of each command in the block */
	int		 br_status;	/* 128 + signal when killed */
	double		 br_value[BENCH_NMETRICS];
	double		 br_steal_s;	/* of all CPUs, meanwhile */
	double		 br_load;	/* before */
	uint64_t	 br_throttled;	/* times, meanwhile */
	char		 br_profile[64]; /* "": none */
};

/* A bench: what was asked for, and what there is of it. */
struct bench {
	const struct bench_options *be_options;
	const char	*be_directory;
	char		*be_kept_in;	/* owned: the directory of a baseline */
	struct bench_command *be_command;
	size_t		 be_ncommands;
	uint64_t	 be_seed;
	uint64_t	 be_runs;	/* of each command */
	uint64_t	 be_warmups;
	uint32_t	 be_nth;	/* run of a command, now */
	bool		 be_shell;
	bool		 be_record;
	bool		 be_off_cpu;	/* waits, too */
	bool		 be_has_files;	/* in the directory */
	bool		 be_is_again;	/* programs may be other builds */
	char		*be_prepare;
	struct bench_result *be_result;
	size_t		 be_nresults;
	int		 be_words_fd;	/* what a command says on stderr */
	int		 be_null_fd;
};

/* ------------------------------------------------------------ bench.c */

/* Runs that are still to be made. */
size_t	bench_missing(const struct bench *bench);
/* 0: all runs were made; else the exit status. */
int	bench_go(struct bench *bench);

/* -------------------------------------------------------- bench_run.c */

enum bench_end {
	BENCH_DONE,		/* it ran; br_status says how it ended */
	BENCH_INTERRUPTED,	/* by the user: no result */
	BENCH_NOT_FOUND,
	BENCH_NOT_EXECUTABLE,
	BENCH_FAILED		/* a message has been printed */
};
/*
 * Under sudo, be who called it: for good, or by the real ids alone, so that
 * we can record and what we run is the caller's.
 */
int	bench_become_caller(bool for_good);
/*
 * profile: where to record to, or NULL.  counted: the command whose counters
 * are to be read, or NULL.
 */
enum bench_end bench_run(const struct bench *bench, char *const *argv,
	    const char *profile, struct bench_command *counted,
	    struct bench_result *result);
/* What bench_count.c needs of it. */
void	bench_lend(const struct bench *bench, int saved[3]);
void	bench_take_back(const int saved[3]);
bool	bench_heed_signals(pid_t pid, bool interrupted);
bool	bench_were_signals(void);
enum bench_end bench_failure(const struct prof_err *error);
struct rusage;
void	bench_fill_since(struct bench_result *result,
	    const struct rusage *before);
/* The last line that the last run wrote to standard error; owned. */
char	*bench_last_words(const struct bench *bench);

/* ------------------------------------------------------ bench_count.c */

/* Counters for a command, if this machine has any; argv: what is run. */
void	bench_count_open(struct bench_command *command, char *const *argv);
void	bench_count_close(struct bench_command *command);
enum bench_end bench_count_run(const struct bench *bench,
	    struct bench_command *command, struct bench_result *result);

/* ------------------------------------------------------- bench_file.c */

/*
 * Take from the directory what is there of the same bench: description and
 * results.  1: there was some, 0: nothing, or another bench (be_has_files),
 * -1: a message has been printed.
 */
int	bench_load(struct bench *bench);
/* Is there a description of some bench? */
bool	bench_is_there(const struct bench *bench);
/* Rename the directory to DIR.old; -1: as above. */
int	bench_keep_old(const struct bench *bench);
int	bench_make_directory(const struct bench *bench);
/* The directory that baselines are in; -1: as above. */
int	bench_make_baselines(void);
/* Append a result and see that it is on the disk; -1: as above. */
int	bench_append(struct bench *bench, const struct bench_result *result);
void	bench_free(struct bench *bench);

/* --------------------------------------------------- bench_baseline.c */

/* Is it a name, and for one that is_new, free?  -1: a message was printed. */
int	bench_baseline_check(const char *command, const char *option,
	    const char *name, bool is_new);
/* Its directory, end behind its name; owned; NULL: no memory. */
char	*bench_baseline_path(const char *name, const char *end);

/* -------------------------------------------------------- bench_env.c */

/* Which build of its program a command runs; through a shell: "". */
void	bench_program(struct bench_command *command);
/* The machine as members of a JSON object. */
void	bench_environment(struct emit *emit);
/* What disturbs, as it stands now. */
struct bench_noise {
	double		 no_steal_s;
	double		 no_load;
	uint64_t	 no_throttled;
};
void	bench_noise(struct bench_noise *noise);
/* Say what makes one doubt this machine, before and after. */
void	bench_warn_before(void);
void	bench_warn_after(const struct bench *bench);

#endif /* BENCH_H */
