/* SPDX-License-Identifier: ISC */
/*
 * The public call that writes a profile for another tool, and what its
 * writers share: which figures, and what a label means to them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "export.h"
#include "profile/profile_impl.h"
#include "recording/query.h"
#include "send.h"

/* What may be written of a file: a stack of it costs less than its frames. */
#define FIRST		(48u << 20)
#define PER_BYTE	256

char *
prof_export(const struct prof_profile *profile, enum prof_export format,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error)
{
	static prof_flame_fn *const writers[] = {
#define PROF_FORMAT(NAME, name) [PROF_EXPORT_##NAME] = prof_write_##name,
#include "formats.def"
#undef PROF_FORMAT
	};

	if ((size_t)format >= sizeof(writers) / sizeof(writers[0])) {
		prof_fail(error, PROF_E_USAGE, "unknown format %d",
		    (int)format);
		return (NULL);
	}
	if (format == PROF_EXPORT_FIREFOX && profile->pf_times == NULL) {
		prof_fail(error, PROF_E_LIMIT, "format firefox: the profile "
		    "has more samples than times of samples (pl_times)");
		prof_cure(error, "select fewer samples with --from and --to");
		return (NULL);
	}
	return (prof_flame_make(profile, options, writers[format], length,
	    error));
}

bool
prof_export_fits(const struct prof_flame *flame, const struct prof_buf *out)
{
	return (out->bf_len <= FIRST + PER_BYTE * (prof_reader_length(
	    flame->fm_reader) & (UINT64_MAX >> 16)));
}

const uint64_t *
prof_export_values(const struct prof_flame *flame, size_t n)
{
	return ((flame->fm_options.fl_samples ? prof_profile_samples :
	    prof_profile_self)(flame->fm_profile,
	    flame->fm_event[n].fe_event));
}

/* To the last digit; the scale is a power of ten. */
void
prof_export_put(const struct prof_flame *flame, size_t n, uint64_t value,
    struct prof_buf *out)
{
	const char *name;
	uint64_t scale = flame->fm_options.fl_samples ? 1 : prof_unit_scale(
	    flame->fm_event[n].fe_info->pi_unit, &name);
	char digits[24];
	int width = 0, end;

	prof_put_fmt(out, "%" PRIu64, value / scale);
	if (value % scale == 0)
		return;
	for (uint64_t rest = scale; rest > 1; rest /= 10)
		width++;
	end = snprintf(digits, sizeof(digits), "%0*" PRIu64, width,
	    value % scale);
	while (end > 0 && digits[end - 1] == '0')
		end--;
	prof_put_fmt(out, ".%.*s", end, digits);
}

const char *
prof_export_unit(const struct prof_event_info *info)
{
	if (strcmp(info->pi_unit, "ns") == 0)
		return ("nanoseconds");
	return (strcmp(info->pi_unit, "bytes") == 0 ? "bytes" : "");
}

uint64_t
prof_export_period(const struct prof_event_info *info)
{
	return (info->pi_period != 0 || info->pi_frequency_hz == 0 ||
	    strcmp(info->pi_unit, "ns") != 0 ? info->pi_period :
	    1000000000 / info->pi_frequency_hz);
}

/* Without arguments and directory. */
static void
put_program(const char *command, char *name, size_t size)
{
	size_t length = strcspn(command, " ");
	const char *slash = memrchr(command, '/', length);

	if (slash != NULL && slash + 1 < command + length) {
		length -= (size_t)(slash + 1 - command);
		command = slash + 1;
	}
	(void)snprintf(name, size, "%.*s", (int)length, command);
}

/*
 * With another target a command only says how long to record; of an import it
 * is the other recorder's.
 */
void
prof_send_program(const struct prof_reader *reader, char *name, size_t size)
{
	const char *command = prof_reader_info(reader, "command");
	const char *target = prof_reader_info(reader, "target");

	name[0] = '\0';
	if (command != NULL && *command != '\'' &&
	    prof_reader_info(reader, "import") == NULL &&
	    (target == NULL || strcmp(target, "command") == 0))
		put_program(command, name, size);
}

void
prof_send_service(const struct prof_reader *reader,
    const struct prof_profile *profile, char *name, size_t size)
{
	struct prof_sampled sampled;

	prof_send_program(reader, name, size);
	if (name[0] != '\0')
		return;
	prof_profile_sampled(profile, &sampled);
	put_program(sampled.sa_comm, name, size);
	if (name[0] == '\0')
		(void)snprintf(name, size, "unknown_service");
}

const struct prof_function *
prof_export_function(const struct prof_label *label)
{
	return (label->lb_inner != NULL ? label->lb_inner :
	    label->lb_function);
}

const char *
prof_export_name(const struct prof_label *label)
{
	const struct prof_function *function = prof_export_function(label);

	return (function != NULL ? function->fu_name : label->lb_name);
}

size_t
prof_export_source(const struct prof_label *label, unsigned *line)
{
	const char *colon;

	*line = 0;
	if (label->lb_kind != PROF_LABEL_LINE)
		return (0);
	colon = strrchr(label->lb_name, ':');
	if (colon == NULL)
		return (0);
	*line = (unsigned)strtoul(colon + 1, NULL, 10);
	return ((size_t)(colon - label->lb_name));
}

bool
prof_export_is_inlined(const struct prof_label *label)
{
	const struct prof_function *function = prof_export_function(label);

	return (function != NULL && function->fu_is_inlined);
}
