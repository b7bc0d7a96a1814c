/* SPDX-License-Identifier: ISC */
/*
 * PMUs as sysfs describes them: PMU/event/, PMU/event=0x3c,umask=1/.  Reads
 * /sys/bus/event_source/devices/PMU/{type,events,format} and spreads each
 * term over config, config1 and config2 as its format file says.  Called by
 * pmc.c for names with slashes, and by the catalog for the list.
 */
#include <sys/types.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "events/names.h"

#define SYSFS_PMUS	"/sys/bus/event_source/devices"

static ssize_t	sysfs_read(const char *pmu, const char *dir,
		    const char *name, char *text, size_t size);
static int	sysfs_term(const char *pmu, const char *key,
		    const char *value, struct prof_pmc *counter,
		    bool may_be_event, struct prof_err *error);
static int	sysfs_alias(const char *pmu, const char *name,
		    struct prof_pmc *counter, struct prof_err *error);
static bool	sysfs_pmu(const char *name, char *pmu, size_t size,
		    uint32_t *type);
static bool	sysfs_name_ok(const char *name);

int
prof_counter_sysfs(struct prof_names *names, const struct prof_spec *spec,
    struct prof_pmc *counter, struct prof_err *error)
{
	char pmu[160];
	int length;

	if (names->nm_offline || !spec->sp_slashed ||
	    !sysfs_pmu(spec->sp_name, pmu, sizeof(pmu), &counter->pc_type))
		return (0);
	if (spec->sp_nterms == 0) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "PMU '%s' is given without an event", pmu);
		return (prof_cure(error, "list the events of the PMU with "
		    "dtprof list '*%s/*'", pmu));
	}
	length = snprintf(counter->pc_name, sizeof(counter->pc_name), "%s/",
	    pmu);
	for (size_t n = 0; n < spec->sp_nterms; n++) {
		const struct prof_term *term = &spec->sp_term[n];

		if (sysfs_term(pmu, term->st_key, term->st_value,
		    counter, true, error) == -1)
			return (-1);
		length += snprintf(counter->pc_name + length,
		    sizeof(counter->pc_name) - (size_t)length, "%s%s%s%s",
		    n == 0 ? "" : ",", term->st_key,
		    term->st_value == NULL ? "" : "=",
		    term->st_value == NULL ? "" : term->st_value);
	}
	snprintf(counter->pc_name + length,
	    sizeof(counter->pc_name) - (size_t)length, "/");
	return (1);
}

/*
 * The PMU's directory.  Kernels differ in whether the only one of a kind has
 * a number (armv8_pmuv3, armv8_pmuv3_0), so the other form is tried too.
 */
static bool
sysfs_pmu(const char *name, char *pmu, size_t size, uint32_t *type)
{
	size_t length = strlen(name);
	char text[64];

	if (!sysfs_name_ok(name))
		return (false);
	for (int form = 0; form < 3; form++) {
		if (form == 2 && (length < 3 ||
		    strcmp(name + length - 2, "_0") != 0))
			break;
		snprintf(pmu, size, "%.*s%s",
		    (int)(form == 2 ? length - 2 : length), name,
		    form == 1 ? "_0" : "");
		if (sysfs_read(pmu, NULL, "type", text, sizeof(text)) > 0) {
			*type = (uint32_t)strtoul(text, NULL, 10);
			return (true);
		}
	}
	return (false);
}

/* A component of a path, and not one that leads elsewhere. */
static bool
sysfs_name_ok(const char *name)
{
	return (name[0] != '\0' && name[0] != '.' &&
	    strchr(name, '/') == NULL && strlen(name) < 128);
}

static ssize_t
sysfs_read(const char *pmu, const char *dir, const char *name, char *text,
    size_t size)
{
	char path[512];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), SYSFS_PMUS "/%s/%s%s%s", pmu,
	    dir == NULL ? "" : dir, dir == NULL ? "" : "/", name);
	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1)
		return (-1);
	got = read(fd, text, size - 1);
	close(fd);
	if (got < 0)
		return (-1);
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return (got);
}

/* One term: a field of the format, one of the generic three, or an event. */
static int
sysfs_term(const char *pmu, const char *key, const char *value,
    struct prof_pmc *counter, bool may_be_event, struct prof_err *error)
{
	uint64_t number = 1;
	char format[128];

	if (value != NULL && !prof_parse_u64(value, &number)) {
		prof_fail(error, PROF_E_EVENT_SYNTAX,
		    "%s/%s=%s/: '%s' is not a number", pmu, key, value,
		    value);
		return (prof_cure(error, "use for example %s/%s=0x3c/",
		    pmu, key));
	}
	if (strcmp(key, "config") == 0)
		counter->pc_config = number;
	else if (strcmp(key, "config1") == 0)
		counter->pc_config1 = number;
	else if (strcmp(key, "config2") == 0)
		counter->pc_config2 = number;
	else if (sysfs_name_ok(key) && sysfs_read(pmu, "format", key, format,
	    sizeof(format)) > 0) {
		if (prof_sysfs_spread(format, number, counter) == -1) {
			prof_fail(error, PROF_E_LIMIT,
			    "%s/%s=%s/: the value does not fit into the bits "
			    "'%s'",
			    pmu,
			    key, value == NULL ? "1" : value, format);
			return (prof_cure(error,
			    "see " SYSFS_PMUS "/%s/format/%s", pmu, key));
		}
	} else if (value == NULL && may_be_event && sysfs_name_ok(key))
		return (sysfs_alias(pmu, key, counter, error));
	else {
		prof_fail(error, PROF_E_EVENT_UNKNOWN,
		    "PMU %s has no field '%s'", pmu, key);
		return (prof_cure(error, "see " SYSFS_PMUS "/%s/format",
		    pmu));
	}
	return (0);
}

/* events/NAME holds terms again, "event=0x3c,umask=0x1". */
static int
sysfs_alias(const char *pmu, const char *name, struct prof_pmc *counter,
    struct prof_err *error)
{
	char text[512], *rest = text, *term, *value;

	if (sysfs_read(pmu, "events", name, text, sizeof(text)) <= 0) {
		prof_fail(error, PROF_E_EVENT_UNKNOWN,
		    "PMU %s has no event or field '%s'", pmu, name);
		return (prof_cure(error, "list the events of the PMU with "
		    "dtprof list '*%s/*'", pmu));
	}
	while ((term = strsep(&rest, ",")) != NULL) {
		if ((value = strchr(term, '=')) != NULL)
			*value++ = '\0';
		/* "ldlat=?" is for the user to say. */
		if (value != NULL && strcmp(value, "?") == 0)
			continue;
		if (sysfs_term(pmu, term, value, counter, false, error) == -1)
			return (-1);
	}
	return (0);
}

/*
 * "config:0-7,32-35": the low 8 bits of the value go to bits 0 to 7, the
 * next 4 to bits 32 to 35.  -1 when bits are left over.
 */
int
prof_sysfs_spread(const char *format, uint64_t value,
    struct prof_pmc *counter)
{
	uint64_t *config;
	const char *at = strchr(format, ':');
	unsigned long low, high;
	char *end;

	if (at == NULL)
		return (-1);
	if (strncmp(format, "config1:", 8) == 0)
		config = &counter->pc_config1;
	else if (strncmp(format, "config2:", 8) == 0)
		config = &counter->pc_config2;
	else if (strncmp(format, "config:", 7) == 0)
		config = &counter->pc_config;
	else
		return (-1);
	while (*at == ':' || *at == ',') {
		low = high = strtoul(at + 1, &end, 10);
		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (low > high || high > 63)
			return (-1);
		for (; low <= high; low++, value >>= 1)
			*config = (*config & ~(1ULL << low)) |
			    (value & 1) << low;
		at = end;
	}
	return (value == 0 ? 0 : -1);
}

/* "PMU/event/" of every PMU; files about scales and units are left out. */
int
prof_sysfs_list(int (*fn)(void *arg, const char *name), void *arg)
{
	DIR *pmus, *events;
	struct dirent *pmu, *event;
	char path[512], name[600];
	int rv = 0;

	if ((pmus = opendir(SYSFS_PMUS)) == NULL)
		return (0);
	while (rv == 0 && (pmu = readdir(pmus)) != NULL) {
		if (!sysfs_name_ok(pmu->d_name))
			continue;
		snprintf(path, sizeof(path), SYSFS_PMUS "/%s/events",
		    pmu->d_name);
		if ((events = opendir(path)) == NULL)
			continue;
		while (rv == 0 && (event = readdir(events)) != NULL) {
			if (strchr(event->d_name, '.') != NULL)
				continue;
			snprintf(name, sizeof(name), "%s/%s/", pmu->d_name,
			    event->d_name);
			rv = fn(arg, name);
		}
		closedir(events);
	}
	closedir(pmus);
	return (rv);
}
