/* SPDX-License-Identifier: ISC */
/*
 * OpenTelemetry's profiles, as of opentelemetry.proto.profiles.v1development
 * in its version 1.11: ProfilesData, a protocol buffer, which is also the body
 * of an ExportProfilesServiceRequest.
 *
 * Everything that repeats is in a dictionary, whose tables begin with an empty
 * element, number 0.  Two profiles an event: its weight, and how many samples
 * that is.  Names of threads are attributes of samples, build-ids of mappings,
 * kinds of frames of locations.  Called by export.c.
 */
#include <stdlib.h>

#include "export.h"
#include "locations.h"
#include "profile/profile_impl.h"
#include "protobuf.h"
#include "send.h"

/* Fields of the messages, as the format numbers them. */
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { DICTIONARY_MAPPING = 1, DICTIONARY_LOCATION, DICTIONARY_FUNCTION,
    DICTIONARY_LINK, DICTIONARY_STRING, DICTIONARY_ATTRIBUTE,
    DICTIONARY_STACK, DICTIONARY_END };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPE };
enum { RESOURCE_ATTRIBUTES = 1 };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum { ANY_STRING = 1 };
enum { SCOPE_PROFILES_SCOPE = 1, SCOPE_PROFILES_PROFILES };
enum { SCOPE_NAME = 1, SCOPE_VERSION };
enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLES, PROFILE_TIME,
    PROFILE_DURATION, PROFILE_PERIOD_TYPE, PROFILE_PERIOD };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_LINK, SAMPLE_VALUES };
enum { MAPPING_START = 1, MAPPING_LIMIT, MAPPING_OFFSET, MAPPING_FILE,
    MAPPING_ATTRIBUTES };
enum { STACK_LOCATIONS = 1 };
enum { LOCATION_MAPPING = 1, LOCATION_ADDRESS, LOCATION_LINES,
    LOCATION_ATTRIBUTES };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };

#define BUILD_ID	"process.executable.build_id.gnu"
#define FRAME_TYPE	"profile.frame.type"
#define THREAD_NAME	"thread.name"

struct otlp {
	const struct prof_flame *ot_flame;
	struct prof_locations ot_at;
	struct prof_buf	 ot_table[DICTIONARY_END];
	struct prof_dict ot_elements[DICTIONARY_END];
	uint32_t	*ot_mapping;	/* by number in ot_at */
	bool		 ot_failed;
};

/* ---------------------------------------------------------- dictionary */

static void
put_text(struct prof_buf *buf, unsigned field, const char *text)
{
	struct prof_buf visible = { 0 };

	prof_put_visible(&visible, text, 0);
	prof_proto_message(buf, field, &visible);
}

/* A number from 0 on, by what it is. */
static uint32_t
number_of(struct otlp *otlp, struct prof_dict *dict, const void *bytes,
    size_t length, bool *is_new)
{
	const uint32_t n = prof_dict_find(dict, bytes, length, is_new);

	if (n != PROF_INTERN_FAILED)
		return (n);
	otlp->ot_failed = true;
	*is_new = false;
	return (0);
}

/* An element, once: its number, from 1; the message is empty then. */
static uint32_t
element_number(struct otlp *otlp, unsigned table, struct prof_buf *message)
{
	bool is_new = false;
	uint32_t n = 0;

	if (message->bf_failed)
		otlp->ot_failed = true;
	else
		n = number_of(otlp, &otlp->ot_elements[table],
		    message->bf_data, message->bf_len, &is_new);
	if (is_new)
		prof_proto_message(&otlp->ot_table[table], table, message);
	prof_buf_free(message);
	memset(message, 0, sizeof(*message));
	return (n + 1);
}

/* The empty string is number 0. */
static uint32_t
string_number(struct otlp *otlp, const char *text)
{
	bool is_new;
	const uint32_t n = number_of(otlp,
	    &otlp->ot_elements[DICTIONARY_STRING], text, strlen(text),
	    &is_new);

	if (is_new)
		put_text(&otlp->ot_table[DICTIONARY_STRING],
		    DICTIONARY_STRING, text);
	return (n);
}

/* AnyValue, as a string. */
static void
put_value(struct prof_buf *buf, unsigned field, const char *value)
{
	struct prof_buf any = { 0 };

	put_text(&any, ANY_STRING, value);
	prof_proto_message(buf, field, &any);
}

static uint32_t
attribute_number(struct otlp *otlp, const char *key, const char *value)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, ATTRIBUTE_KEY, string_number(otlp, key));
	put_value(&message, ATTRIBUTE_VALUE, value);
	return (element_number(otlp, DICTIONARY_ATTRIBUTE, &message));
}

static void
put_attribute(struct otlp *otlp, struct prof_buf *buf, unsigned field,
    const char *key, const char *value)
{
	struct prof_buf packed = { 0 };

	prof_buf_varint(&packed, attribute_number(otlp, key, value));
	prof_proto_message(buf, field, &packed);
}

/* Functions of the same name in two modules are one here. */
static uint32_t
function_number(struct otlp *otlp, const struct prof_location_function *lf)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, FUNCTION_NAME,
	    string_number(otlp, lf->lf_name));
	prof_proto_number(&message, FUNCTION_SYSTEM_NAME,
	    string_number(otlp, lf->lf_raw));
	prof_proto_number(&message, FUNCTION_FILE, string_number(otlp,
	    lf->lf_file == NULL ? "" : lf->lf_file));
	return (element_number(otlp, DICTIONARY_FUNCTION, &message));
}

static void
put_line(struct otlp *otlp, struct prof_buf *location, uint32_t label)
{
	struct prof_location_function lf;
	struct prof_buf message = { 0 };

	prof_locations_function(&otlp->ot_at, label, &lf);
	prof_proto_number(&message, LINE_FUNCTION,
	    function_number(otlp, &lf));
	free(lf.lf_file);
	prof_proto_number(&message, LINE_LINE, lf.lf_line);
	prof_proto_message(location, LOCATION_LINES, &message);
}

/* As the semantic conventions call it; NULL: they do not. */
static const char *
frame_type(const struct prof_label *label)
{
	static const char *const types[PROF_FRAME_NKINDS] = {
		[PROF_FRAME_NATIVE] = "native",
		[PROF_FRAME_KERNEL] = "kernel",
		[PROF_FRAME_PYTHON] = "cpython",
		[PROF_FRAME_JAVASCRIPT] = "v8js",
		[PROF_FRAME_JAVA] = "jvm",
	};

	return (label->lb_function == NULL ? NULL :
	    types[label->lb_function->fu_kind]);
}

static uint32_t
mapping_number(struct otlp *otlp, const struct prof_code_mapping *mapping)
{
	const struct prof_image *image = mapping->cm_image;
	struct prof_buf message = { 0 };
	char id[2 * sizeof(image->im_id) + 1] = "";

	for (uint32_t i = 0; image != NULL && i < image->im_id_len; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", image->im_id[i]);
	prof_proto_number(&message, MAPPING_START, mapping->cm_start);
	prof_proto_number(&message, MAPPING_LIMIT, mapping->cm_limit);
	prof_proto_number(&message, MAPPING_OFFSET, mapping->cm_offset);
	prof_proto_number(&message, MAPPING_FILE,
	    string_number(otlp, mapping->cm_path));
	if (id[0] != '\0')
		put_attribute(otlp, &message, MAPPING_ATTRIBUTES, BUILD_ID,
		    id);
	return (element_number(otlp, DICTIONARY_MAPPING, &message));
}

/* Of the outermost function of a location. */
static const struct prof_label *
location_label(const struct otlp *otlp, uint32_t chain)
{
	const struct prof_location *chains = otlp->ot_at.lo_chain;

	while (chains[chain].ch_outer != 0)
		chain = chains[chain].ch_outer - 1;
	return (prof_profile_label(otlp->ot_flame->fm_profile,
	    chains[chain].ch_label));
}

/* All that locations are in. */
static int
find_mappings(struct otlp *otlp)
{
	struct prof_locations *at = &otlp->ot_at;
	const struct prof_code_mapping *mapping;
	uint32_t n, most = 0;
	uint64_t address;

	for (size_t i = 0; i < at->lo_nlocations; i++) {
		n = prof_locations_mapping(at, location_label(otlp,
		    at->lo_location[i]), &address);
		if (n == UINT32_MAX)
			return (-1);
		most = n > most ? n : most;
	}
	otlp->ot_mapping = calloc((size_t)most + 1,
	    sizeof(*otlp->ot_mapping));
	if (otlp->ot_mapping == NULL)
		return (-1);
	for (n = 1; n <= most; n++)
		if ((mapping = prof_code_map_at(at->lo_code, n)) != NULL)
			otlp->ot_mapping[n] = mapping_number(otlp, mapping);
	return (0);
}

/* From what is inlined outwards. */
static void
put_location(struct otlp *otlp, uint32_t chain)
{
	const struct prof_location *chains = otlp->ot_at.lo_chain;
	const struct prof_label *label = location_label(otlp, chain);
	struct prof_buf message = { 0 }, lines = { 0 };
	uint64_t address;
	uint32_t at = chain;

	for (;;) {
		put_line(otlp, &lines, chains[at].ch_label);
		if (chains[at].ch_outer == 0)
			break;
		at = chains[at].ch_outer - 1;
	}
	prof_proto_number(&message, LOCATION_MAPPING, otlp->ot_mapping[
	    prof_locations_mapping(&otlp->ot_at, label, &address)]);
	prof_proto_number(&message, LOCATION_ADDRESS, address);
	prof_buf_bytes(&message, lines.bf_data, lines.bf_len);
	message.bf_failed |= lines.bf_failed;
	prof_buf_free(&lines);
	if (frame_type(label) != NULL)
		put_attribute(otlp, &message, LOCATION_ATTRIBUTES, FRAME_TYPE,
		    frame_type(label));
	prof_proto_message(&otlp->ot_table[DICTIONARY_LOCATION],
	    DICTIONARY_LOCATION, &message);
}

/* What element 0 of each table is. */
static void
begin_tables(struct otlp *otlp)
{
	struct prof_buf empty = { 0 };

	for (unsigned n = DICTIONARY_MAPPING; n < DICTIONARY_END; n++)
		if (n != DICTIONARY_STRING)
			prof_proto_message(&otlp->ot_table[n], n, &empty);
	(void)string_number(otlp, "");
}

static int
put_dictionary(struct otlp *otlp, struct prof_buf *out)
{
	struct prof_buf message = { 0 };
	size_t n;

	if (find_mappings(otlp) == -1)
		return (-1);
	for (n = 0; n < otlp->ot_at.lo_nlocations; n++)
		put_location(otlp, otlp->ot_at.lo_location[n]);
	for (n = DICTIONARY_MAPPING; n < DICTIONARY_END; n++) {
		prof_buf_bytes(&message, otlp->ot_table[n].bf_data,
		    otlp->ot_table[n].bf_len);
		message.bf_failed |= otlp->ot_table[n].bf_failed;
	}
	prof_proto_message(out, DATA_DICTIONARY, &message);
	return (0);
}

/* ------------------------------------------------------------- samples */

static uint32_t
stack_number(struct otlp *otlp, struct prof_buf *packed)
{
	struct prof_buf message = { 0 };

	if (packed->bf_len == 0)
		return (0);
	prof_proto_message(&message, STACK_LOCATIONS, packed);
	return (element_number(otlp, DICTIONARY_STACK, &message));
}

static void
put_sample(struct otlp *otlp, struct prof_buf *profile, uint32_t node,
    uint64_t value)
{
	struct prof_buf message = { 0 }, packed = { 0 };
	const struct prof_label *comm = prof_locations_stack(&otlp->ot_at,
	    node, &packed);

	otlp->ot_failed |= packed.bf_failed;
	prof_proto_number(&message, SAMPLE_STACK,
	    stack_number(otlp, &packed));
	prof_buf_free(&packed);
	if (comm != NULL && comm->lb_name[0] != '\0')
		put_attribute(otlp, &message, SAMPLE_ATTRIBUTES, THREAD_NAME,
		    comm->lb_name);
	packed = (struct prof_buf){ 0 };
	prof_buf_varint(&packed, value);
	prof_proto_message(&message, SAMPLE_VALUES, &packed);
	prof_proto_message(profile, PROFILE_SAMPLES, &message);
}

static void
put_type(struct otlp *otlp, struct prof_buf *profile, unsigned field,
    const char *type, const char *unit)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, TYPE_TYPE, string_number(otlp, type));
	prof_proto_number(&message, TYPE_UNIT, string_number(otlp,
	    unit[0] == '\0' ? "count" : unit));
	prof_proto_message(profile, field, &message);
}

static uint64_t
info_number(const struct prof_flame *flame, const char *key)
{
	const char *text = prof_reader_info(flame->fm_reader, key);

	return (text == NULL ? 0 : strtoull(text, NULL, 10));
}

static void
put_times(const struct prof_flame *flame, struct prof_buf *profile)
{
	uint64_t from_ns, to_ns;

	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	if (info_number(flame, "time.realtime_ns") != 0)
		prof_proto_fixed64(profile, PROFILE_TIME, from_ns +
		    info_number(flame, "time.realtime_ns") -
		    info_number(flame, "time.monotonic_ns"));
	prof_proto_number(profile, PROFILE_DURATION, to_ns - from_ns);
}

/* Values by node of one event: what they weigh, or how many they are. */
static int
put_profile(struct otlp *otlp, struct prof_buf *scope, size_t e,
    bool is_count)
{
	const struct prof_flame *flame = otlp->ot_flame;
	const struct prof_event_info *info = flame->fm_event[e].fe_info;
	const char *unit = prof_export_unit(info);
	const uint64_t *samples = otlp->ot_at.lo_samples[e];
	const uint64_t *weights = otlp->ot_at.lo_weights[e];
	const uint64_t period = prof_export_period(info);
	struct prof_buf message = { 0 };
	char name[256];

	snprintf(name, sizeof(name), e == 0 ? "samples" : "samples of %s",
	    info->pi_name);
	put_type(otlp, &message, PROFILE_SAMPLE_TYPE, is_count ? name :
	    info->pi_name, is_count ? "count" : unit);
	for (uint32_t n = 1; n < flame->fm_nnodes; n++) {
		if (samples[n] == 0)
			continue;
		if (!prof_export_fits(flame, &message)) {
			prof_buf_free(&message);
			return (PROF_TOO_LARGE);
		}
		put_sample(otlp, &message, n, is_count ? samples[n] :
		    weights[n]);
	}
	put_times(flame, &message);
	if (period != 0) {
		put_type(otlp, &message, PROFILE_PERIOD_TYPE, info->pi_name,
		    unit);
		prof_proto_number(&message, PROFILE_PERIOD, period);
	}
	prof_proto_message(scope, SCOPE_PROFILES_PROFILES, &message);
	return (0);
}

/* ------------------------------------------------------------ resource */

static void
put_key_value(struct prof_buf *resource, const char *key, const char *value)
{
	struct prof_buf message = { 0 };

	put_text(&message, KEY_VALUE_KEY, key);
	put_value(&message, KEY_VALUE_VALUE, value);
	prof_proto_message(resource, RESOURCE_ATTRIBUTES, &message);
}

/* One of the recording, which a label may replace. */
static void
put_fact(struct otlp *otlp, struct prof_buf *resource, const char *key,
    const char *value)
{
	const char *const *label = otlp->ot_flame->fm_options.fl_labels;

	for (; label != NULL && label[0] != NULL; label += 2)
		if (strcmp(label[0], key) == 0)
			return;
	if (value != NULL && value[0] != '\0')
		put_key_value(resource, key, value);
}

/* As the semantic conventions call machines. */
static const char *
arch_of(const struct prof_reader *reader)
{
	const char *arch = prof_reader_info(reader, "machine.arch");

	return (arch == NULL ? NULL : strcmp(arch, "x86_64") == 0 ? "amd64" :
	    strcmp(arch, "aarch64") == 0 ? "arm64" : arch);
}

static void
put_resource(struct otlp *otlp, struct prof_buf *out)
{
	const struct prof_reader *reader = otlp->ot_flame->fm_reader;
	const char *const *label = otlp->ot_flame->fm_options.fl_labels;
	struct prof_buf message = { 0 };
	char service[64];

	prof_send_service(reader, otlp->ot_flame->fm_profile, service,
	    sizeof(service));
	put_fact(otlp, &message, "service.name", service);
	put_fact(otlp, &message, "host.name",
	    prof_reader_info(reader, "machine.host"));
	put_fact(otlp, &message, "host.arch", arch_of(reader));
	put_fact(otlp, &message, "os.type", "linux");
	for (; label != NULL && label[0] != NULL; label += 2)
		put_key_value(&message, label[0], label[1]);
	prof_proto_message(out, RESOURCE_PROFILES_RESOURCE, &message);
}

static int
put_all(struct otlp *otlp, struct prof_buf *out)
{
	const struct prof_flame *flame = otlp->ot_flame;
	struct prof_buf resource = { 0 }, scope = { 0 }, about = { 0 };
	int rv = 0;

	begin_tables(otlp);
	put_resource(otlp, &resource);
	put_text(&about, SCOPE_NAME, "dtprof");
	put_text(&about, SCOPE_VERSION, prof_version());
	prof_proto_message(&scope, SCOPE_PROFILES_SCOPE, &about);
	for (size_t e = 0; e < flame->fm_nevents && rv == 0; e++) {
		rv = put_profile(otlp, &scope, e, false);
		if (rv == 0)
			rv = put_profile(otlp, &scope, e, true);
	}
	prof_proto_message(&resource, RESOURCE_PROFILES_SCOPE, &scope);
	prof_proto_message(out, DATA_RESOURCE_PROFILES, &resource);
	if (rv == 0)
		rv = put_dictionary(otlp, out);
	return (rv != 0 ? rv : otlp->ot_failed || otlp->ot_at.lo_failed ||
	    out->bf_failed ? -1 : 0);
}

int
prof_write_otlp(const struct prof_flame *flame, struct prof_buf *out)
{
	struct otlp otlp = { .ot_flame = flame };
	int rv = -1;

	if (prof_locations_init(&otlp.ot_at, flame) == 0)
		rv = put_all(&otlp, out);
	prof_locations_fini(&otlp.ot_at);
	for (unsigned n = 0; n < DICTIONARY_END; n++) {
		prof_buf_free(&otlp.ot_table[n]);
		prof_dict_free(&otlp.ot_elements[n]);
	}
	free(otlp.ot_mapping);
	return (rv);
}
