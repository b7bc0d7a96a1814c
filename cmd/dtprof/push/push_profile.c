/* SPDX-License-Identifier: ISC */
/*
 * push to receivers of profiles: otlp+http(s)://, pyroscope+http(s):// and
 * parca+http(s)://.  A recording is one request, sent until it is taken, is
 * refused, or time is up.  Called by cmd_push.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../opt/choose.h"
#include "push.h"

#define MAX_ANSWER	(64u << 10)
#define MAX_LABELS	(2 * (PUSH_LABELS + 3) + 1)

/* A profile as a receiver wants it. */
struct body {
	char		*bo_bytes;
	size_t		 bo_length;
	uint64_t	 bo_profiles;
};

struct receiver {
	const char	*rc_scheme;
	const char	*rc_path;	/* behind the URL's own */
	const char	*rc_type;
	enum prof_export rc_format;
};

static const struct receiver receivers[] = {
	{ "otlp+", "/v1development/profiles", "application/x-protobuf",
	    PROF_EXPORT_OTLP },
	{ "pyroscope+", "/push.v1.PusherService/Push", "application/json",
	    PROF_EXPORT_PPROF },
	{ "parca+", "/api/profiles/writeraw", "application/json",
	    PROF_EXPORT_PPROF },
};

#define PARCA	(&receivers[2])

static const struct receiver *
receiver_of(const struct push *push)
{
	for (size_t n = 0; n < sizeof(receivers) / sizeof(receivers[0]); n++)
		if (strncmp(push->pu_url, receivers[n].rc_scheme,
		    strlen(receivers[n].rc_scheme)) == 0)
			return (&receivers[n]);
	return (NULL);
}

static int
profile_open(struct push *push)
{
	const struct receiver *receiver = receiver_of(push);
	struct prof_network_options options = {
		.no_secret_file = push->pu_secret_file,
	};
	struct prof_err error = { 0 };
	char *url;
	size_t n;

	if (push->pu_is_dry)
		return (0);
	url = strdup(push->pu_url + strlen(receiver->rc_scheme));
	if (url == NULL)
		return (msg_error("push", "out of memory", "free memory"));
	for (n = strlen(url); n > 0 && url[n - 1] == '/'; n--)
		url[n - 1] = '\0';
	options.no_url = url;
	push->pu_arg = prof_network_open(&options, &error);
	free(url);
	return (push->pu_arg == NULL ? msg_prof("push", &error) : 0);
}

static void
profile_close(struct push *push)
{
	prof_network_close(push->pu_arg);
}

/* ---------------------------------------------------------------- body */

struct labels {
	const char	*la_text[MAX_LABELS];	/* pairs, NULL-ended */
	size_t		 la_n;
	char		 la_service[64];
};

static void
label_add(struct labels *labels, const char *key, const char *value)
{
	if (value == NULL || *value == '\0' || labels->la_n + 2 >= MAX_LABELS)
		return;
	labels->la_text[labels->la_n++] = key;
	labels->la_text[labels->la_n++] = value;
}

/* The user's, by the receiver's names for them. */
static void
labels_own(struct labels *labels, const struct push *push,
    const char *const names[][2])
{
	const struct push_labels *own = &push->pu_labels;

	for (size_t n = 0; n < own->pl_n; n++) {
		size_t i = 0;

		while (names[i][0] != NULL &&
		    strcmp(own->pl_key[n], names[i][0]) != 0)
			i++;
		label_add(labels, names[i][0] != NULL ? names[i][1] :
		    own->pl_key[n], own->pl_value[n]);
	}
}

/* What a series of profiles is called, beside the user's labels. */
static void
labels_of_series(struct labels *labels, const struct push *push,
    const struct prof_reader *reader, const struct prof_profile *profile)
{
	static const char *const names[][2] = {
		{ "service", "service_name" }, { NULL, NULL }
	};
	const struct push_labels *own = &push->pu_labels;
	const struct prof_event_info *info = NULL;

	prof_send_service(reader, profile, labels->la_service,
	    sizeof(labels->la_service));
	for (size_t e = 1; e < prof_reader_nevents(reader) && info == NULL;
	    e++)
		if (prof_profile_count(profile, e) > 0)
			info = prof_reader_event(reader, e);
	label_add(labels, "__name__", info != NULL && !info->pi_is_call &&
	    strcmp(info->pi_unit, "ns") == 0 ? "process_cpu" : "events");
	if (push_label(own, "service") == NULL)
		label_add(labels, "service_name", labels->la_service);
	if (push_label(own, "host") == NULL)
		label_add(labels, "host",
		    prof_reader_info(reader, "machine.host"));
	labels_own(labels, push, names);
}

static void
labels_of_resource(struct labels *labels, const struct push *push)
{
	static const char *const names[][2] = {
		{ "service", "service.name" }, { "version", "service.version" },
		{ "host", "host.name" }, { NULL, NULL }
	};

	labels_own(labels, push, names);
}

/* How many profiles OpenTelemetry counts. */
static uint64_t
profiles_of(const struct prof_reader *reader,
    const struct prof_profile *profile)
{
	uint64_t n = 0;

	for (size_t e = 1; e < prof_reader_nevents(reader); e++)
		n += prof_profile_count(profile, e) > 0;
	return (2 * n);
}

static int
body_make(const struct push *push, const struct prof_reader *reader,
    const struct prof_profile *profile, struct body *body)
{
	const struct receiver *receiver = receiver_of(push);
	const bool is_otlp = receiver->rc_format == PROF_EXPORT_OTLP;
	struct labels labels = { .la_n = 0 };
	struct prof_flame_options options = {
		.fl_size = sizeof(options),
		.fl_labels = is_otlp ? labels.la_text : NULL,
	};
	struct prof_err error = { 0 };
	size_t length;
	char *bytes;

	if (is_otlp)
		labels_of_resource(&labels, push);
	else
		labels_of_series(&labels, push, reader, profile);
	bytes = prof_export(profile, receiver->rc_format, &options, &length,
	    &error);
	if (bytes == NULL)
		return (msg_prof("push", &error));
	body->bo_profiles = is_otlp ? profiles_of(reader, profile) : 1;
	body->bo_bytes = bytes;
	body->bo_length = length;
	if (is_otlp)
		return (0);
	body->bo_bytes = prof_send_series(receiver == PARCA,
	    labels.la_text, bytes, length, &body->bo_length);
	free(bytes);
	return (body->bo_bytes != NULL ? 0 : msg_error("push",
	    "out of memory", "free memory"));
}

/* ------------------------------------------------------------- sending */

/* What a receiver of OpenTelemetry has left out, although it answered well. */
static int
rejected_count(struct push *push, const struct prof_answer *answer,
    struct body *body)
{
	char bytes[MAX_ANSWER], text[256];
	uint64_t rejected;
	ssize_t n = answer->an_fd == -1 || answer->an_length > MAX_ANSWER ?
	    -1 : pread(answer->an_fd, bytes, sizeof(bytes), 0);

	if (answer->an_fd == -1 && answer->an_length == 0)
		n = 0;
	if (n == -1 || prof_send_rejected(bytes, (size_t)n, &rejected, text,
	    sizeof(text)) == -1) {
		msg_warning("push", "the answer of the server is not "
		    "OpenTelemetry: it is not known which profiles the server "
		    "accepted");
		return (0);
	}
	if (rejected > body->bo_profiles)
		rejected = body->bo_profiles;
	push->pu_counts.pc_rows_dropped += rejected;
	body->bo_profiles -= rejected;
	if (rejected == 0) {
		if (text[0] != '\0')
			msg_warning("push", "the server says: %s", text);
		return (0);
	}
	return (msg_fail("push", "see the log of the server",
	    "the server rejected %llu profiles%s%s",
	    (unsigned long long)rejected, text[0] != '\0' ?
	    ": " : "", text));
}

static int
refusal_say(const struct prof_answer *answer)
{
	const unsigned status = answer->an_status;

	if (status == 0)
		return (msg_fail("push", "check the URL, and that the server "
		    "runs",
		    "cannot reach the server: %s", answer->an_text));
	return (msg_fail("push", status == 401 || status == 403 ?
	    "check the user name in the URL, and --secret-file" :
	    status == 404 ?
	    "check the URL, and that the server receives profiles" :
	    status == 413 ? "record for a shorter time" : status == 429 ?
	    "try again later, or raise the limits of the server" :
	    "see the log of the server",
	    "the server refused the request: HTTP %u%s%s", status,
	    answer->an_text[0] != '\0' ? ", " : "", answer->an_text));
}

static int
body_send(struct push *push, struct body *body)
{
	const struct receiver *receiver = receiver_of(push);
	const struct prof_request request = {
		.rq_path = receiver->rc_path,
		.rq_type = receiver->rc_type,
		.rq_body = body->bo_bytes,
		.rq_length = body->bo_length,
		.rq_gzip = receiver->rc_format == PROF_EXPORT_OTLP,
		.rq_max_answer = MAX_ANSWER,
	};
	struct prof_backoff backoff = prof_backoff_begin(push->pu_try_ns);
	struct prof_answer answer = { .an_fd = -1 };
	struct prof_err error = { 0 };
	int rv;

	do {
		prof_answer_free(&answer);
		if (prof_network_post(push->pu_arg, &request, &answer,
		    &error) == -1) {
			push->pu_counts.pc_rows_spooled += body->bo_profiles;
			body->bo_profiles = 0;
			return (msg_prof("push", &error));
		}
	} while (!prof_answer_is_good(&answer) &&
	    prof_answer_may_pass(&answer) &&
	    prof_backoff_wait(&backoff, &answer));
	rv = !prof_answer_is_good(&answer) ? refusal_say(&answer) :
	    receiver->rc_format == PROF_EXPORT_OTLP ?
	    rejected_count(push, &answer, body) : 0;
	if (!prof_answer_is_good(&answer)) {
		*(prof_answer_may_pass(&answer) ?
		    &push->pu_counts.pc_rows_spooled :
		    &push->pu_counts.pc_rows_dropped) += body->bo_profiles;
		body->bo_profiles = 0;
	} else {
		push->pu_counts.pc_batches++;
	}
	prof_answer_free(&answer);
	return (rv);
}

static int
profile_file(struct push *push, struct prof_reader *reader,
    const char *path)
{
	const struct prof_profile_options options = {
		.pl_size = sizeof(options),
		.pl_roots = PROF_ROOT_COMM,
		.pl_places = 1,
	};
	struct prof_symbols *symbols = NULL;
	struct prof_profile *profile;
	struct body body = { 0 };
	int rv = -1;

	if (prof_reader_nsamples(reader) == 0) {
		msg_warning("push", "%s: no samples, nothing to send", path);
		return (0);
	}
	profile = choose_profile("push", reader, &options, &symbols);
	if (profile == NULL || body_make(push, reader, profile, &body) == -1)
		goto out;
	push->pu_counts.pc_samples += prof_reader_nsamples(reader);
	push->pu_counts.pc_bytes += body.bo_length;
	rv = 0;
	if (!push->pu_is_dry)
		rv = body_send(push, &body);
	else
		push->pu_counts.pc_batches++;
	push->pu_counts.pc_rows += body.bo_profiles;
out:
	free(body.bo_bytes);
	prof_profile_free(profile);
	prof_symbols_close(symbols);
	return (rv);
}

#define KIND(name, scheme)						\
const struct push_kind push_##name = {					\
	.pk_prefix = (scheme),						\
	.pk_rows = "profiles",						\
	.pk_open = profile_open,					\
	.pk_file = profile_file,					\
	.pk_close = profile_close,					\
}

KIND(otlp, "otlp+");
KIND(pyroscope, "pyroscope+");
KIND(parca, "parca+");
