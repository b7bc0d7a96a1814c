/* SPDX-License-Identifier: ISC */
/*
 * What the files of the command offer each other, grouped by file.
 *
 * A command is one const struct prof_cmd: its table of options drives the
 * parser, the usage line, --help and the check of the manual.  The options
 * land in a struct of the command's own, at the offsets that the table names.
 */
#ifndef CMD_H
#define CMD_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "prof_command.h"

/* Exit statuses (dtprof(1)). */
#define EXIT_FAILED		1
#define EXIT_USAGE		2
#define EXIT_LOSS		124
#define EXIT_DTPROF		125
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND		127

#define DEFAULT_RECORDING	"dtprof.dtp"
#define OPT_MAX_PID		4194304		/* the kernel's PID_MAX_LIMIT */

/* -------------------------------------------------------------- opt.c */

/* The type of an option says what stands at its offset. */
enum opt_type {
	OPT_END,	/* ends a table */
	OPT_FLAG,	/* bool */
	OPT_STRING,	/* const char * */
	OPT_STRINGS,	/* struct opt_strings; may be repeated */
	OPT_CHOICE,	/* int: which of the words in op_words */
	OPT_WORDS,	/* const char *: words, of op_words or not: a,b */
	OPT_SET,	/* unsigned: bit n for the n-th of op_words */
	OPT_COUNT,	/* struct opt_number; a word of op_words: the largest */
	OPT_SIZE,	/* struct opt_number, bytes: 64K, 8M */
	/* struct opt_number, nanoseconds: 10s, 5m, 500ms; op_words: -5m */
	OPT_TIME,
	OPT_PERCENT,	/* struct opt_number, thousandths of a percent */
	OPT_IDS		/* struct opt_ids: 1,2,5-7; may be repeated */
};

struct opt_number {
	uint64_t	 on_value;
	bool		 on_set;
	bool		 on_from_end;	/* TIME: so long before the end */
};

/* Owned by the options; the strings are the argument vector's. */
struct opt_strings {
	const char	**os_text;
	size_t		 os_n;
};

struct opt_ids {
	int		*oi_id;
	size_t		 oi_n;
};

struct opt_row {
	char		 op_letter;	/* 0: none */
	const char	*op_name;	/* long name */
	const char	*op_arg;	/* name of its argument; NULL: none */
	enum opt_type	 op_type;
	uint64_t	 op_min;
	uint64_t	 op_max;
	const char	*op_default;	/* as one would write it; NULL: none */
	const char	*op_help;
	size_t		 op_at;		/* offset in the command's struct */
	const char	*op_words;	/* CHOICE, SET, COUNT, STRING: a,b,c */
};

struct prof_cmd {
	const char	*cm_name;
	const char	*cm_summary;
	const char	*cm_operands;	/* as the synopsis shows them */
	const struct opt_row *cm_options;
	size_t		 cm_size;	/* of the command's struct of options */
	int		 cm_min;	/* operands */
	int		 cm_max;	/* -1: any number */
	bool		 cm_stop_early;	/* the first operand ends the options */
	bool		 cm_sides;	/* a "--" between operands is one */
	bool		 cm_reads;	/* files of others, confined */
	const char	*cm_output;	/* without -o, or NULL */
	/* Files and directories read without being named, NULL-ended. */
	const char	*const *cm_inputs;
	/* A file that the environment names and it writes; NULL: none. */
	const char	*(*cm_writes)(const void *options);
	int		 cm_usage_status;
	/* The same where it depends on what was asked for; or NULL. */
	int		(*cm_misused)(int argc, char *const *argv);
	const char	*const *cm_examples; /* command, what; NULL-ended */
	const char	*cm_notes;	/* a paragraph for --help, or NULL */
	/*
	 * What may not stand together, before anything is opened; or NULL.
	 * 0, or -1 with a message printed: wrong use.
	 */
	int		(*cm_check)(const void *options, int n,
			    char *const *operands);
	/*
	 * With all rights, before a command that reads gives them up; or NULL.
	 * 0, or -1 with a message printed.
	 */
	int		(*cm_begin)(const struct prof_cmd *cmd, void *options,
			    int n, char *const *operands);
	int		(*cm_run)(void *options, int n, char **operands);
};

/* An option of perf's, as habits.c has them. */
struct opt_habit {
	const char	*oh_commands;	/* separated by spaces */
	const char	*oh_options;	/* the same, without dashes */
	const char	*oh_arg;	/* NULL: it takes no value */
	const char	*oh_only;	/* the one value accepted; NULL: any */
	const char	*oh_same;	/* our option; NULL: nothing to do */
	const char	*oh_cure;	/* NULL: accepted */
};

struct opt_error {
	char		 oe_text[256];
	char		 oe_cure[256];
};

/*
 * All or nothing: fills in options and returns the index of the first
 * operand; or returns -1 with error set and options all zero; or -2 when
 * --help was asked for.  "--" ends the options.  Operands after options are
 * moved behind them unless cm_stop_early says that they begin a command.
 */
int	opt_parse(const struct prof_cmd *cmd, int argc, char **argv,
	    void *options, struct opt_error *error);
void	opt_free(const struct prof_cmd *cmd, void *options);
/* The nearest of NULL-ended names, or NULL when none is near; borrowed. */
const char *opt_nearest(const char *name, const char *const *names);

/* ------------------------------------------------------------ habits.c */

/* Borrowed for ever; NULL: perf has no such option, or nothing to say. */
const struct opt_habit *habit_of_option(const char *command,
	    const char *option, size_t length);
/* What to type instead of a command of perf's and its operand, or NULL. */
const char *habit_of_command(const char *name, const char *second);

/* -------------------------------------------------------- opt_value.c */

/* 0, or -1: not written like one. */
int	opt_number(const char *text, uint64_t *value);
int	opt_size(const char *text, uint64_t *bytes);
int	opt_time(const char *text, uint64_t *ns);
int	opt_percent(const char *text, uint64_t *thousandths);
/* Append 1,2,5-7; 0, -1: not a list, -2: out of range, -3: no memory. */
int	opt_ids(const char *text, uint64_t min, uint64_t max,
	    struct opt_ids *ids);
/* The number of a word in a,b,c; -1: none of them. */
int	opt_word(const char *text, size_t length, const char *words);
/*
 * Split at commas that do not stand inside braces, brackets or slashes; each
 * part is appended, its memory owned by parts.  0, or -1: no memory.
 */
int	opt_split_events(const char *text, struct opt_strings *parts);

/* --------------------------------------------------------- opt_help.c */

struct out;
void	opt_usage(const struct prof_cmd *cmd, struct out *out);
void	opt_help(const struct prof_cmd *cmd, struct out *out);
/*
 * Words within 79 columns, from column on, lines after the first indented,
 * and the end of a line.
 */
void	out_wrapped(struct out *out, const char *text, unsigned indent,
	    unsigned column);

/* -------------------------------------------------------------- out.c */

/* Buffered output to a descriptor: no format strings in the hot path. */
struct out {
	int		 ou_fd;
	const char	*ou_name;	/* in messages */
	int		 ou_errno;	/* first failure; nothing goes on */
	size_t		 ou_n;
	char		 ou_buf[1 << 16];
};

void	out_init(struct out *out, int fd);
void	out_flush(struct out *out);
void	out_mem(struct out *out, const char *bytes, size_t n);

/* Where the next n bytes go, of which there are few. */
static inline char *
out_room(struct out *out, size_t n)
{
	if (sizeof(out->ou_buf) - out->ou_n < n)
		out_flush(out);
	return (out->ou_buf + out->ou_n);
}

static inline void
out_char(struct out *out, char c)
{
	*out_room(out, 1) = c;
	out->ou_n++;
}

static inline void
out_str(struct out *out, const char *text)
{
	out_mem(out, text, strlen(text));
}

void	out_u64(struct out *out, uint64_t value);
void	out_i64(struct out *out, int64_t value);
void	out_hex(struct out *out, uint64_t value);
/* With leading zeros. */
void	out_digits(struct out *out, uint64_t value, unsigned width);
void	out_fmt(struct out *out, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* Hostile text: control characters and broken UTF-8 as \x1b. */
void	out_text(struct out *out, const char *text);
/* Texts in turn: ours, hostile, ours ...; of lines that are few. */
#define OUT(out, ...) out_texts((out), (const char *const[]){ __VA_ARGS__, \
	    NULL })
void	out_texts(struct out *out, const char *const *texts);
/* A hostile one in a page: what is markup there as entities. */
void	out_html(struct out *out, const char *text);
/* And in Markdown: after a backslash. */
void	out_markdown(struct out *out, const char *text);
/* A JSON string, with its quotes; broken UTF-8 as U+FFFD.  NULL: null. */
void	out_json(struct out *out, const char *text);
/*
 * A field of CSV, quoted and harmless; what a table program would take for a
 * formula has an apostrophe in front.
 */
void	out_csv(struct out *out, const char *text);
/*
 * Flush; the exit status: 0 also when the reader has gone away, which is
 * how head ends a pipeline, EXIT_FAILED with a message otherwise.
 */
int	out_end(struct out *out, const char *command);

/* -------------------------------------------------------------- msg.c */

/*
 * On standard error: "dtprof: command: text", then a hint, one line each.  -1,
 * to be returned.
 */
int	msg_error(const char *command, const char *text, const char *cure);
int	msg_fail(const char *command, const char *cure, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
int	msg_prof(const char *command, const struct prof_err *error);
/* A condition that makes the result less reliable. */
void	msg_warning(const char *command, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* From now on long notes end early, and name -v, which must show them. */
void	msg_shorten_notes(void);
void	msg_note(const char *command, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------- term.c */

/* The line that shows a recording's progress, on a terminal only. */
struct term_status {
	bool		 ts_on;
	bool		 ts_shown;
	uint64_t	 ts_next_ns;
	uint64_t	 ts_last_samples;
	uint64_t	 ts_last_ns;
};

void	term_status_init(struct term_status *status, bool wanted);
/* At most five times a second. */
void	term_status_show(struct term_status *status,
	    const struct prof_status *now);
/* The same for a line of words. */
void	term_status_line(struct term_status *status, const char *text);
void	term_status_erase(struct term_status *status);
/* "1.2 MB"; buffer of at least 16 bytes. */
void	term_bytes(char *buffer, size_t size, uint64_t bytes);
uint64_t term_now_ns(void);

/* ---------------------------------------------------------- signals.c */

/* Keep SIGINT, SIGTERM and SIGHUP for signals_take; 0, or -1. */
int	signals_open(void);
/* The next that came in, and whether a process sent it; 0: none. */
int	signals_take(bool *by_process);
/* Has there been a SIGUSR2 since the last call? */
bool	signals_dump(void);
void	signals_close(void);

/* ----------------------------------------------------------- divert.c */

/* Standard output as it was, for divert_end; -1: it is not changed. */
int	divert_begin(bool is_wanted);
void	divert_end(int saved);

/* ------------------------------------------------------- error_name.c */

/* "ENOENT" of -2; NULL: no error, or one without a name. */
const char *error_name(int64_t value);

/* ----------------------------------------------------------- ending.c */

struct ending {
	uint64_t	 en_end_ns;	/* --duration; 0: none */
	uint64_t	 en_give_up_ns;	/* after SIGTERM; 0: not sent */
	int		 en_interrupts;
	bool		 en_signalled;
};

/* Does it end now?  command: ours that runs; 0: there is none. */
bool	ending_by_signal(struct ending *ending, pid_t command, bool is_done);
bool	ending_by_time(struct ending *ending, pid_t command, bool is_done);
/* Milliseconds to wait at most: to its end, or what is due; 0: nothing is. */
int	ending_wait_ms(const struct ending *ending, uint64_t due_ns);
/* The exit status of what could not begin. */
int	ending_status(const struct prof_err *error);

/* ---------------------------------------------------------- session.c */

/* A session with these events; NULL with a message printed. */
struct prof_session *session_open(const char *command,
	    const struct prof_options *po, const struct opt_strings *events);
/* prof_session_arm; diverts: what the command prints goes to stderr. */
int	session_arm_diverted(struct prof_session *session, bool diverts);
/* The command's own; as if interrupted if we did not wait for its end. */
int	session_status(const char *command, const struct prof_status *ps,
	    const struct ending *ending);

/* ------------------------------------------------------------ input.c */

/* An operand, or -i FILE; 0, or -1 with a message printed: there are both. */
int	input_check(const char *command, const char *option, int n);
/* The file that a reading command works on: operand, -i, or the default. */
struct prof_reader *input_open(const char *command, const char *option,
	    int n, char **operands, const char **path);
/*
 * A recording, or what import reads, whose notes are printed; "-": standard
 * input.  NULL: error says why.
 */
struct prof_reader *input_read(const char *command, const char *path,
	    struct prof_err *error);
/* Say on standard error that a recording was cut short, if it was. */
void	input_say_cut(const char *command, const struct prof_reader *reader);
/* What has no names, and the cure; symbols may be NULL. */
void	input_say_names(const char *command, struct prof_symbols *symbols);
/* Only which limits were reached: a quality says the rest. */
void	input_say_limits(const char *command, struct prof_symbols *symbols);

/* ------------------------------------------------------- input_store.c */

/*
 * For cm_begin of commands that read a store: of an operand that is one, ask
 * for what --filter, --from and --to want; these are then used up.  by: what
 * samples have to be told apart by (PROF_STORE_TIMES, ...).
 */
int	input_store_begin(const struct prof_cmd *cmd, void *options, int n,
	    char *const *operands, unsigned by);
/*
 * The same for compare, of what --base-filter and --filter want: an answer of
 * each host and side, or of each recording where all are of one host.
 */
int	input_store_sides(const struct prof_cmd *cmd, void *options,
	    const char *url);
/* The n-th of a side, to be read like a file; NULL: there are no more. */
const char *input_store_answer(int side, size_t n);
/* "checkout 1.42" */
const char *input_store_side(int side);
/* What it got, and reads; NULL: error says why. */
struct prof_reader *input_store_read(const char *url,
	    struct prof_import **import, struct prof_err *error);

/* ------------------------------------------------------------- file.c */

/* A new directory in TMPDIR, which the caller removes; "" and -1: said why. */
#define FILE_SCRATCH	448
int	file_scratch(const char *command, char path[FILE_SCRATCH]);
/* All of a file or the old one; 0, or -1 with a message printed. */
int	file_replace(const char *command, const char *path,
	    const char *bytes, size_t length);
/* The same; "-": standard output, whose reader may go away early. */
int	file_write(const char *command, const char *path,
	    const char *bytes, size_t length);
/* The same with what is put out, in memory first. */
int	file_replace_by(const char *command, const char *path,
	    void (*put)(const void *arg, struct out *out), const void *arg);
/*
 * At the end of what is there, a regular file and no link, or in a new one.
 * 0, or -1 with a message printed.
 */
int	file_append(const char *command, const char *path,
	    const char *bytes, size_t length);
int	file_append_by(const char *command, const char *path,
	    void (*put)(const void *arg, struct out *out), const void *arg);
/* A program as posix_spawnp would find it; false: there is none. */
bool	file_find_program(const char *name, char *path, size_t size);
/* A number that sudo left in the environment; 0: none. */
unsigned file_sudo_id(const char *name);
/* Under sudo what we have just made belongs to who called it. */
void	file_give(int fd);
struct stat;
/* Of what the command line names. */
int	file_stat(const char *path, struct stat *st);
/* A path without its directories. */
const char *file_name(const char *path);
/* A regular file, for reading; of anything else nothing is opened. */
int	file_open_regular(const char *path);
/* An input: what is written is for no more people than may read this. */
void	file_narrow(const char *path);
/*
 * Open, made and given where it is not there, as made says where it is not
 * NULL; -1: errno says why.
 */
int	file_create(const char *path, int flags, bool *made);

/* ------------------------------------------------------- cmd_*.c, main */

extern const struct prof_cmd cmd_record;
extern const struct prof_cmd cmd_stat;
extern const struct prof_cmd cmd_stacks;
extern const struct prof_cmd cmd_trace;
extern const struct prof_cmd cmd_bench;
extern const struct prof_cmd cmd_compare;
extern const struct prof_cmd cmd_script;
extern const struct prof_cmd cmd_export;
extern const struct prof_cmd cmd_import;
extern const struct prof_cmd cmd_merge;
extern const struct prof_cmd cmd_list;
extern const struct prof_cmd cmd_report;
extern const struct prof_cmd cmd_flamegraph;
extern const struct prof_cmd cmd_annotate;
extern const struct prof_cmd cmd_doctor;
extern const struct prof_cmd cmd_mark;
extern const struct prof_cmd cmd_ctl;
extern const struct prof_cmd cmd_push;
extern const struct prof_cmd cmd_store;
extern const struct prof_cmd cmd_completion;
extern const struct prof_cmd cmd_help;

/* All commands, NULL-ended, in the order in which help shows them. */
extern const struct prof_cmd *const cmd_all[];
/*
 * By its name and what follows, NULL if nothing does.  NULL: there is none;
 * then the message has been printed.
 */
const struct prof_cmd *cmd_find(const char *name, const char *second);
int	cmd_run(const struct prof_cmd *cmd, int argc, char **argv);

#endif /* CMD_H */
