/* SPDX-License-Identifier: ISC */
/*
 * One line of what perf script prints.  A sample's first line, by default
 *
 *	my prog 4711/4712 [003] K 1234.567890: 1003009 cpu-clock:  rest
 *	comm    pid/tid   cpu  mode time       period  event
 *
 * has any of these fields.  comm may hold blanks and numbers, so the line is
 * read from the time outwards, or without one from the event.  The rest is a
 * frame where no stack was recorded, or text of a tracepoint.
 */
#include <string.h>

#include "perf_script.h"

#define MAX_WORDS	64
#define MAX_DIGITS	16	/* of an address */
#define US_DIGITS	6
#define NS_DIGITS	9
#define MAX_MODE	4

/* Where the words of a line are. */
struct words {
	struct prof_places_text wd_line;
	struct prof_places_text wd_word[MAX_WORDS];
	int		 wd_n;
};

static bool
is_blank(char c)
{
	return (c == ' ' || c == '\t');
}

static bool
is_digit(char c)
{
	return (c >= '0' && c <= '9');
}

static const char *
text_of(struct prof_places_text text)
{
	return (text.px_at);
}

/* Names are made strings of. */
static bool
has_nul(struct prof_places_text text)
{
	return (memchr(text.px_at, '\0', text.px_length) != NULL);
}

static struct prof_places_text
part_take(const char *begin, const char *end)
{
	return ((struct prof_places_text){ begin, (size_t)(end - begin) });
}

/* ---------------------------------------------------------------- words */

/* A number alone; false: it is none, or too large. */
static bool
read_number(struct prof_places_text text, uint64_t *value)
{
	const char *at = text_of(text);

	*value = 0;
	for (size_t n = 0; n < text.px_length; n++)
		if (!is_digit(at[n]) || __builtin_mul_overflow(*value, 10,
		    value) || __builtin_add_overflow(*value,
		    (uint64_t)(at[n] - '0'), value))
			return (false);
	return (text.px_length > 0);
}

static bool
read_hex(struct prof_places_text text, uint64_t *value)
{
	const char *at = text_of(text);
	int digit;

	*value = 0;
	if (text.px_length == 0 || text.px_length > MAX_DIGITS)
		return (false);
	for (size_t n = 0; n < text.px_length; n++) {
		if (is_digit(at[n]))
			digit = at[n] - '0';
		else if (at[n] >= 'a' && at[n] <= 'f')
			digit = at[n] - 'a' + 10;
		else
			return (false);
		*value = *value << 4 | (unsigned)digit;
	}
	return (true);
}

/* "1234.567890:", of 6 digits or 9 behind the point. */
static bool
read_time(struct prof_places_text text, uint64_t *ns)
{
	const char *at = text_of(text), *end = at + text.px_length - 1;
	const char *point = memchr(at, '.', text.px_length);
	uint64_t seconds, fraction = 0;
	int digits = 0;

	if (text.px_length < US_DIGITS + 3 || *end != ':' || point == NULL ||
	    end - point <= US_DIGITS || !read_number(part_take(at, point),
	    &seconds))
		return (false);
	for (const char *d = point + 1; d < end; d++) {
		if (!is_digit(*d))
			return (false);
		if (digits < NS_DIGITS) {
			fraction = fraction * 10 + (uint64_t)(*d - '0');
			digits++;
		}
	}
	for (; digits < NS_DIGITS; digits++)
		fraction *= 10;
	return (!__builtin_mul_overflow(seconds, 1000000000, ns) &&
	    !__builtin_add_overflow(*ns, fraction, ns) &&
	    *ns < UINT64_MAX / 2);
}

/* "[003]" */
static bool
read_cpu(struct prof_places_text text, uint32_t *cpu)
{
	const char *at = text_of(text);
	uint64_t value;

	if (text.px_length < 3 || at[0] != '[' ||
	    at[text.px_length - 1] != ']' || !read_number(part_take(at + 1,
	    at + text.px_length - 1), &value) || value > UINT32_MAX)
		return (false);
	*cpu = (uint32_t)value;
	return (true);
}

/* A thread that perf does not know is -1. */
static bool
read_id(struct prof_places_text text, uint32_t *id)
{
	uint64_t value;

	if (text.px_length == 2 && memcmp(text.px_at, "-1", 2) == 0) {
		*id = PERF_NOBODY;
		return (true);
	}
	if (!read_number(text, &value) || value > INT32_MAX)
		return (false);
	*id = (uint32_t)value;
	return (true);
}

/* "4712", or "4711/4712" */
static bool
read_task(struct prof_places_text text, struct perf_head *head)
{
	const char *at = text_of(text);
	const char *slash = memchr(at, '/', text.px_length);

	if (slash == NULL) {
		if (!read_id(text, &head->he_tid))
			return (false);
		head->he_pid = head->he_tid;
		head->he_has_pid = false;
		return (true);
	}
	head->he_has_pid = true;
	return (read_id(part_take(at, slash), &head->he_pid) &&
	    read_id(part_take(slash + 1, at + text.px_length), &head->he_tid));
}

/* What the CPU did: "K", "U", "KH". */
static bool
is_mode(struct prof_places_text text)
{
	const char *at = text_of(text);

	for (size_t n = 0; n < text.px_length; n++)
		if (at[n] < 'A' || at[n] > 'Z')
			return (false);
	return (text.px_length <= MAX_MODE);
}

static bool
is_event(struct prof_places_text text)
{
	return (text.px_length > 1 &&
	    text_of(text)[text.px_length - 1] == ':');
}

static bool
is_record(struct prof_places_text text)
{
	static const char begin[] = "PERF_RECORD_";

	return (text.px_length >= sizeof(begin) - 1 &&
	    memcmp(text.px_at, begin, sizeof(begin) - 1) == 0);
}

static void
line_split(struct prof_places_text line, struct words *words)
{
	const char *at = text_of(line), *end = at + line.px_length, *begin;

	words->wd_line = line;
	words->wd_n = 0;
	while (words->wd_n < MAX_WORDS) {
		while (at < end && is_blank(*at))
			at++;
		if (at == end)
			return;
		for (begin = at; at < end && !is_blank(*at); at++)
			continue;
		words->wd_word[words->wd_n++] = part_take(begin, at);
	}
}

/* --------------------------------------------------------------- frames */

/* Where the last part in parentheses begins that ends the text; NULL. */
static const char *
parentheses_find(const char *begin, const char *end)
{
	int depth = 0;

	if (begin == end || end[-1] != ')')
		return (NULL);
	while (end > begin) {
		end--;
		depth += *end == ')' ? 1 : *end == '(' ? -1 : 0;
		if (depth == 0)
			return (end);
	}
	return (NULL);
}

/* Without "+0x1f" at its end. */
static const char *
cut_offset(const char *begin, const char *end)
{
	const char *at = end;
	uint64_t value;

	while (at > begin && at[-1] != '+')
		at--;
	return (at > begin && end - at > 2 && at[0] == '0' && at[1] == 'x' &&
	    read_hex(part_take(at + 2, end), &value) ? at - 1 : end);
}

static bool
is_text(struct prof_places_text text, const char *wanted)
{
	return (text.px_length == strlen(wanted) &&
	    memcmp(text.px_at, wanted, text.px_length) == 0);
}

/* The number of a process stands in it; JITs' names are not of a file. */
static bool
is_perf_map(struct prof_places_text file)
{
	static const char begin[] = "perf-", ending[] = ".map";
	const char *at = text_of(file), *end = at + file.px_length, *base;

	for (base = end; base > at && base[-1] != '/'; base--)
		continue;
	if (end - base < (ptrdiff_t)(sizeof(begin) + sizeof(ending)) ||
	    memcmp(base, begin, sizeof(begin) - 1) != 0 ||
	    memcmp(end - sizeof(ending) + 1, ending, sizeof(ending) - 1) != 0)
		return (false);
	for (base += sizeof(begin) - 1; is_digit(*base); base++)
		continue;
	return (base == end - sizeof(ending) + 1);
}

static struct prof_places_text
file_of(struct prof_places_text file)
{
	const char *at = text_of(file);

	file.px_length = (size_t)(cut_offset(at, at + file.px_length) - at);
	if (is_text(file, "[unknown]"))
		file.px_length = 0;
	else if (is_text(file, "//anon"))
		file = (struct prof_places_text){ "[anon]", 6 };
	else if (is_perf_map(file) || (file.px_length > 5 &&
	    memcmp(at, "[JIT]", 5) == 0))
		file = (struct prof_places_text){ "[jit]", 5 };
	return (file);
}

/* Behind the address: "name+0x2 (/lib/x.so)". */
static void
read_name(const char *at, const char *end, struct perf_frame *frame)
{
	const char *file;

	while (at < end && is_blank(*at))
		at++;
	while (end > at && is_blank(end[-1]))
		end--;
	file = parentheses_find(at, end);
	/* "f(int)" is a name, and so is "operator ()" */
	if (file != NULL && file > at && !is_blank(file[-1]))
		file = NULL;
	if (file != NULL && end - file > 2) {
		frame->fr_file = part_take(file + 1, end - 1);
		frame->fr_is_inlined = is_text(frame->fr_file, "inlined");
		frame->fr_file = frame->fr_is_inlined ? part_take(file, file) :
		    file_of(frame->fr_file);
		for (end = file; end > at && is_blank(end[-1]); end--)
			continue;
	}
	frame->fr_name = part_take(at, cut_offset(at, end));
	if (is_text(frame->fr_name, "[unknown]"))
		frame->fr_name.px_length = 0;
}

bool
perf_script_frame(struct prof_places_text line, struct perf_frame *frame)
{
	const char *at = text_of(line), *end = at + line.px_length, *word;

	memset(frame, 0, sizeof(*frame));
	frame->fr_name.px_at = frame->fr_file.px_at = "";
	if (line.px_length == 0 || !is_blank(*at) || has_nul(line))
		return (false);
	while (at < end && is_blank(*at))
		at++;
	for (word = at; at < end && !is_blank(*at); at++)
		continue;
	if (!read_hex(part_take(word, at), &frame->fr_ip))
		return (false);
	read_name(at, end, frame);
	return (true);
}

/* ----------------------------------------------------------- first lines */

/*
 * Behind the event: the address that was sampled, maybe behind others.  A name
 * may look like an address too: then parentheses follow, or nothing.
 */
static void
read_rest(const struct words *words, int at, struct perf_head *head)
{
	const char *end = text_of(words->wd_line) + words->wd_line.px_length;
	struct prof_places_text word;
	uint64_t value;

	if (at >= words->wd_n ||
	    !read_hex(words->wd_word[at], &head->he_frame.fr_ip))
		return;
	while (at + 2 < words->wd_n && read_hex(words->wd_word[at + 1],
	    &value) && text_of(words->wd_word[at + 2])[0] != '(') {
		head->he_frame.fr_ip = value;
		at++;
	}
	word = words->wd_word[at];
	read_name(text_of(word) + word.px_length, end, &head->he_frame);
	head->he_has_frame = true;
}

/* "sched:sched_switch" has text behind it, "cycles:u" has none. */
bool
perf_script_is_tracepoint(struct prof_places_text event)
{
	static const char modifiers[] = "ukhGHpPSDeWIb";
	const char *at = text_of(event), *end = at + event.px_length;
	const char *colon = memchr(at, ':', event.px_length);

	if (colon == NULL || memchr(at, '/', event.px_length) != NULL)
		return (false);
	for (colon++; colon < end; colon++)
		if (strchr(modifiers, *colon) == NULL)
			return (true);
	return (false);
}

static void
take_event(const struct words *words, int at, struct perf_head *head)
{
	head->he_event = words->wd_word[at];
	head->he_event.px_length--;
	if (!perf_script_is_tracepoint(head->he_event))
		read_rest(words, at + 1, head);
}

/* "PERF_RECORD_LOST lost 5" and others. */
static bool
take_record(const struct words *words, int at, struct perf_head *head)
{
	static const char lost[] = "PERF_RECORD_LOST";

	head->he_is_record = true;
	if (words->wd_word[at].px_length >= sizeof(lost) - 1 &&
	    memcmp(words->wd_word[at].px_at, lost, sizeof(lost) - 1) == 0 &&
	    at + 2 < words->wd_n && is_text(words->wd_word[at + 1], "lost"))
		(void)read_number(words->wd_word[at + 2], &head->he_lost);
	return (true);
}

/* What stands before the time or the event, from the last word on. */
static bool
take_who(const struct words *words, int last, struct perf_head *head)
{
	const struct prof_places_text *word = words->wd_word;
	struct perf_head task;

	if (last >= 1 && is_mode(word[last]) &&
	    (read_cpu(word[last - 1], &head->he_cpu) ||
	    read_task(word[last - 1], &task)))
		last--;
	if (last >= 0 && read_cpu(word[last], &head->he_cpu))
		last--;
	if (last >= 0 && read_task(word[last], head))
		last--;
	if (last >= 0)
		head->he_comm = part_take(text_of(word[0]),
		    text_of(word[last]) + word[last].px_length);
	return (true);
}

static bool
head_of_time(const struct words *words, int at, struct perf_head *head)
{
	const struct prof_places_text *word = words->wd_word;

	head->he_has_time = true;
	if (at + 1 < words->wd_n && is_record(word[at + 1]))
		return (take_record(words, at + 1, head));
	if (at + 2 < words->wd_n && is_event(word[at + 2]) &&
	    read_number(word[at + 1], &head->he_period)) {
		head->he_has_period = true;
		take_event(words, at + 2, head);
	} else if (at + 1 < words->wd_n && is_event(word[at + 1])) {
		take_event(words, at + 1, head);
	} else {
		read_rest(words, at + 1, head);
	}
	return (take_who(words, at - 1, head));
}

/* An event behind a number or a CPU, and no time. */
static bool
head_of_event(const struct words *words, int at,
    const struct perf_script_form *form, struct perf_head *head)
{
	const struct prof_places_text *word = words->wd_word;
	struct perf_head other;
	uint64_t period;
	int last = at - 1;

	if (last >= 1 && is_mode(word[last]))
		last--;
	if (!read_task(word[last], &other) &&
	    !read_cpu(word[last], &other.he_cpu))
		return (false);
	if (last >= 1 && read_number(word[last], &period) &&
	    (read_task(word[last - 1], &other) ||
	    read_cpu(word[last - 1], &other.he_cpu))) {
		head->he_maybe_period = true;
		if (!form->fm_no_period) {
			head->he_period = period;
			head->he_has_period = true;
			last--;
		}
	}
	take_event(words, at, head);
	return (take_who(words, last, head));
}

/* Neither time nor number: it ends with the event, the thread or the CPU. */
static bool
head_of_end(const struct words *words, struct perf_head *head)
{
	const int last = words->wd_n - 1;
	struct perf_head task;

	if (last < 1 || words->wd_n == MAX_WORDS)
		return (false);
	if (is_event(words->wd_word[last])) {
		take_event(words, last, head);
		return (take_who(words, last - 1, head));
	}
	return ((read_task(words->wd_word[last], &task) ||
	    read_cpu(words->wd_word[last], &task.he_cpu)) &&
	    take_who(words, last, head));
}

void
perf_script_nothing(struct perf_head *head)
{
	memset(head, 0, sizeof(*head));
	head->he_pid = head->he_tid = PERF_NOBODY;
	head->he_comm.px_at = head->he_event.px_at = "";
	head->he_frame.fr_name.px_at = head->he_frame.fr_file.px_at = "";
}

bool
perf_script_head(struct prof_places_text line,
    const struct perf_script_form *form, struct perf_head *head)
{
	struct words words;

	perf_script_nothing(head);
	if (has_nul(line))
		return (false);
	line_split(line, &words);
	for (int n = 0; n < words.wd_n; n++)
		if (read_time(words.wd_word[n], &head->he_time_ns))
			return (head_of_time(&words, n, head));
	for (int n = 1; n < words.wd_n; n++) {
		if (is_record(words.wd_word[n]))
			return (take_record(&words, n, head));
		if (is_event(words.wd_word[n]) &&
		    head_of_event(&words, n, form, head))
			return (true);
		perf_script_nothing(head);
	}
	return (head_of_end(&words, head));
}

/* ---------------------------------------------------------- other lines */

bool
perf_script_is_blank(struct prof_places_text line)
{
	const char *at = line.px_at;

	for (size_t n = 0; n < line.px_length; n++)
		if (at[n] != ' ' && at[n] != '\t')
			return (false);
	return (true);
}

/* "  file.c:12", and its text, "|12   x = 1;" */
bool
perf_script_is_source(struct prof_places_text line)
{
	const char *at = line.px_at;

	return (at[0] == '|' || (line.px_length > 2 && at[0] == ' ' &&
	    at[1] == ' '));
}
