/* SPDX-License-Identifier: ISC */
/*
 * The terminal: a line that shows how a recording goes, rewritten in place
 * at most five times a second, and gone without a trace at the end.  Only on
 * a terminal; a log file sees nothing of it.
 */
#include <sys/ioctl.h>

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../cmd.h"

#define INTERVAL_NS	200000000ULL
#define ERASE		"\r\033[K"

static void	 write_all(const char *text);

uint64_t
term_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec);
}

/* It is only progress: a terminal that takes nothing is no failure. */
static void
write_all(const char *text)
{
	(void)!write(STDERR_FILENO, text, strlen(text));
}

void
term_bytes(char *buffer, size_t size, uint64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double value = (double)bytes;
	unsigned unit = 0;

	for (; value >= 1000 && unit < 4; value /= 1000)
		unit++;
	snprintf(buffer, size, unit == 0 ? "%.0f %s" : "%.1f %s", value,
	    units[unit]);
}

void
term_status_init(struct term_status *status, bool wanted)
{
	memset(status, 0, sizeof(*status));
	status->ts_on = wanted && isatty(STDERR_FILENO);
	status->ts_last_ns = term_now_ns();
	status->ts_next_ns = status->ts_last_ns + INTERVAL_NS;
}

/*
 * The cursor goes back to where the line begins: what the command writes to
 * the same terminal then stands on the line instead of behind it.
 */
void
term_status_line(struct term_status *status, const char *text)
{
	struct winsize size = { .ws_col = 80 };
	char line[320];
	int length = (int)strlen(text);

	if (!status->ts_on)
		return;
	ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
	/* A line that wraps cannot be erased. */
	if (size.ws_col > 1 && length >= size.ws_col)
		length = size.ws_col - 1;
	snprintf(line, sizeof(line), ERASE "%.*s\r", length, text);
	write_all(line);
	status->ts_shown = true;
}

void
term_status_show(struct term_status *status, const struct prof_status *now)
{
	const uint64_t now_ns = term_now_ns();
	char bytes[32], text[256];
	double rate;

	if (!status->ts_on || now_ns < status->ts_next_ns)
		return;
	rate = (double)(now->ps_samples - status->ts_last_samples) * 1e9 /
	    (double)(now_ns - status->ts_last_ns);
	status->ts_last_samples = now->ps_samples;
	status->ts_last_ns = now_ns;
	status->ts_next_ns = now_ns + INTERVAL_NS;
	term_bytes(bytes, sizeof(bytes), now->ps_file_bytes);
	snprintf(text, sizeof(text),
	    "%.1f s  %llu samples  %.0f/s  %llu lost  %s%s%s",
	    now->ps_elapsed_s, (unsigned long long)now->ps_samples, rate,
	    (unsigned long long)now->ps_lost, bytes,
	    now->ps_side_lost > 0 ? "  mappings lost" : "",
	    now->ps_is_paused ? "  paused" : "");
	term_status_line(status, text);
}

void
term_status_erase(struct term_status *status)
{
	if (status->ts_shown)
		write_all(ERASE);
	status->ts_shown = false;
}
