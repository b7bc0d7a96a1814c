/* SPDX-License-Identifier: ISC */
/*
 * The profile of pprof: perftools.profiles.Profile, a protocol buffer, in
 * gzip.  Names of threads are labels of samples; of what was inlined at a
 * location the innermost comes first.  Called by export.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "export.h"
#include "locations.h"
#include "profile/profile_impl.h"
#include "protobuf.h"

/* Fields of the messages, as the format numbers them. */
enum {
	PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE, PROFILE_MAPPING,
	PROFILE_LOCATION, PROFILE_FUNCTION, PROFILE_STRING,
	PROFILE_TIME_NANOS = 9, PROFILE_DURATION_NANOS, PROFILE_PERIOD_TYPE,
	PROFILE_PERIOD, PROFILE_COMMENT, PROFILE_DEFAULT_TYPE
};
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_STR };
enum { MAPPING_ID = 1, MAPPING_START, MAPPING_LIMIT, MAPPING_OFFSET,
    MAPPING_FILE, MAPPING_BUILD_ID, MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES, MAPPING_HAS_LINES, MAPPING_HAS_INLINES };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/* One file being written. */
struct pprof {
	const struct prof_flame *pp_flame;
	struct prof_locations pp_at;
	struct prof_buf	 pp_out;
	struct prof_dict pp_strings;
	struct prof_buf	 pp_locations;	/* behind all mappings */
	bool		 pp_failed;
};

/* ---------------------------------------------------------- encoding */

/* The number of a string; a new one is written at once. */
static uint64_t
string_number(struct pprof *pprof, const char *text)
{
	struct prof_buf visible = { 0 };
	bool is_new;
	uint32_t n;

	n = prof_dict_find(&pprof->pp_strings, text, strlen(text), &is_new);
	if (n == PROF_INTERN_FAILED) {
		pprof->pp_failed = true;
		return (0);
	}
	if (is_new) {
		prof_put_visible(&visible, text, 0);
		prof_proto_message(&pprof->pp_out, PROFILE_STRING, &visible);
	}
	return (n);
}

static void
put_type(struct pprof *pprof, unsigned field, const char *type,
    const char *unit)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, TYPE_TYPE, string_number(pprof, type));
	prof_proto_number(&message, TYPE_UNIT, string_number(pprof, unit));
	prof_proto_message(&pprof->pp_out, field, &message);
}

/* ---------------------------------------------------------- mappings */

static void
put_mapping(struct pprof *pprof, const struct prof_code_mapping *mapping,
    uint32_t n)
{
	const struct prof_image *image = mapping->cm_image;
	struct prof_buf message = { 0 };
	char id[2 * sizeof(image->im_id) + 1] = "";

	for (uint32_t i = 0; image != NULL && i < image->im_id_len; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", image->im_id[i]);
	prof_proto_number(&message, MAPPING_ID, n);
	prof_proto_number(&message, MAPPING_START, mapping->cm_start);
	prof_proto_number(&message, MAPPING_LIMIT, mapping->cm_limit);
	prof_proto_number(&message, MAPPING_OFFSET, mapping->cm_offset);
	prof_proto_number(&message, MAPPING_FILE,
	    string_number(pprof, mapping->cm_path));
	prof_proto_number(&message, MAPPING_BUILD_ID, string_number(pprof, id));
	prof_proto_number(&message, MAPPING_HAS_FUNCTIONS, 1);
	for (unsigned f = MAPPING_HAS_FILES; f <= MAPPING_HAS_INLINES; f++)
		prof_proto_number(&message, f, pprof->pp_at.lo_has_lines);
	prof_proto_message(&pprof->pp_out, PROFILE_MAPPING, &message);
}

/* --------------------------------------------------------- locations */

static void
put_function(struct pprof *pprof, const struct prof_location_function *lf)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, FUNCTION_ID, lf->lf_number);
	prof_proto_number(&message, FUNCTION_NAME,
	    string_number(pprof, lf->lf_name));
	prof_proto_number(&message, FUNCTION_SYSTEM_NAME,
	    string_number(pprof, lf->lf_raw));
	prof_proto_number(&message, FUNCTION_FILE, string_number(pprof,
	    lf->lf_file == NULL ? "" : lf->lf_file));
	prof_proto_message(&pprof->pp_out, PROFILE_FUNCTION, &message);
}

static void
put_line(struct pprof *pprof, struct prof_buf *location, uint32_t label)
{
	struct prof_location_function lf;
	struct prof_buf message = { 0 };

	prof_locations_function(&pprof->pp_at, label, &lf);
	if (lf.lf_is_new)
		put_function(pprof, &lf);
	free(lf.lf_file);
	prof_proto_number(&message, LINE_FUNCTION, lf.lf_number);
	prof_proto_number(&message, LINE_LINE, lf.lf_line);
	prof_proto_message(location, LOCATION_LINE, &message);
}

static void
put_location(struct pprof *pprof, uint32_t chain, uint64_t number)
{
	struct prof_buf message = { 0 }, lines = { 0 };
	const struct prof_label *label;
	uint64_t address;
	uint32_t at = chain;

	for (;;) {
		put_line(pprof, &lines, pprof->pp_at.lo_chain[at].ch_label);
		if (pprof->pp_at.lo_chain[at].ch_outer == 0)
			break;
		at = pprof->pp_at.lo_chain[at].ch_outer - 1;
	}
	label = prof_profile_label(pprof->pp_flame->fm_profile,
	    pprof->pp_at.lo_chain[at].ch_label);
	prof_proto_number(&message, LOCATION_ID, number);
	prof_proto_number(&message, LOCATION_MAPPING,
	    prof_locations_mapping(&pprof->pp_at, label, &address));
	prof_proto_number(&message, LOCATION_ADDRESS, address);
	prof_buf_bytes(&message, lines.bf_data, lines.bf_len);
	message.bf_failed |= lines.bf_failed;
	prof_buf_free(&lines);
	prof_proto_message(&pprof->pp_locations, PROFILE_LOCATION, &message);
}

/* ----------------------------------------------------------- samples */

static void
put_comm(struct pprof *pprof, struct prof_buf *sample,
    const struct prof_label *label)
{
	struct prof_buf message = { 0 };

	prof_proto_number(&message, LABEL_KEY, string_number(pprof, "comm"));
	prof_proto_number(&message, LABEL_STR,
	    string_number(pprof, label->lb_name));
	prof_proto_message(sample, SAMPLE_LABEL, &message);
}

static void
put_stack(struct pprof *pprof, struct prof_buf *sample, uint32_t node)
{
	struct prof_buf packed = { 0 };
	const struct prof_label *comm = prof_locations_stack(&pprof->pp_at,
	    node, &packed);

	prof_proto_message(sample, SAMPLE_LOCATION, &packed);
	if (comm != NULL)
		put_comm(pprof, sample, comm);
}

static void
put_sample(struct pprof *pprof, uint32_t node)
{
	struct prof_buf message = { 0 }, packed = { 0 };
	uint64_t any = 0;
	size_t e;

	for (e = 0; e < pprof->pp_flame->fm_nevents; e++) {
		any |= pprof->pp_at.lo_samples[e][node];
		prof_buf_varint(&packed, pprof->pp_at.lo_samples[e][node]);
		prof_buf_varint(&packed, pprof->pp_at.lo_weights[e][node]);
	}
	if (any == 0) {
		prof_buf_free(&packed);
		return;
	}
	put_stack(pprof, &message, node);
	prof_proto_message(&message, SAMPLE_VALUE, &packed);
	prof_proto_message(&pprof->pp_out, PROFILE_SAMPLE, &message);
}

/* ------------------------------------------------------------ header */

/* Two values an event: how many samples, and what they weigh. */
static void
put_types(struct pprof *pprof)
{
	const struct prof_flame *flame = pprof->pp_flame;
	const struct prof_event_info *info;
	char name[256];
	size_t e;

	for (e = 0; e < flame->fm_nevents; e++) {
		info = flame->fm_event[e].fe_info;
		(void)snprintf(name, sizeof(name), e == 0 ? "samples" :
		    "samples of %s", info->pi_name);
		put_type(pprof, PROFILE_SAMPLE_TYPE, name, "count");
		put_type(pprof, PROFILE_SAMPLE_TYPE, info->pi_name,
		    prof_export_unit(info)[0] == '\0' ? "count" :
		    prof_export_unit(info));
	}
}

static uint64_t
info_number(const struct prof_flame *flame, const char *key)
{
	const char *text = prof_reader_info(flame->fm_reader, key);

	return (text == NULL ? 0 : strtoull(text, NULL, 10));
}

/* A comment for each line of what is bad. */
static void
put_warnings(struct pprof *pprof, const struct prof_flame_event *fe)
{
	const char *text = fe->fe_quality.pq_text;
	char line[512];
	size_t length;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "warning: %s: %.*s",
		    fe->fe_info->pi_name, (int)length, text);
		prof_proto_number(&pprof->pp_out, PROFILE_COMMENT,
		    string_number(pprof, line));
	}
}

static void
put_about(struct pprof *pprof)
{
	const struct prof_flame *flame = pprof->pp_flame;
	const struct prof_event_info *info;
	struct prof_buf *out = &pprof->pp_out;
	uint64_t from_ns, to_ns, period;
	size_t e;

	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	if (info_number(flame, "time.realtime_ns") != 0)
		prof_proto_number(out, PROFILE_TIME_NANOS, from_ns +
		    info_number(flame, "time.realtime_ns") -
		    info_number(flame, "time.monotonic_ns"));
	prof_proto_number(out, PROFILE_DURATION_NANOS, to_ns - from_ns);
	for (e = 0; e < flame->fm_nevents; e++)
		put_warnings(pprof, &flame->fm_event[e]);
	if (flame->fm_nevents == 0)
		return;
	info = flame->fm_event[0].fe_info;
	prof_proto_number(out, PROFILE_DEFAULT_TYPE,
	    string_number(pprof, info->pi_name));
	period = prof_export_period(info);
	if (period == 0)
		return;
	put_type(pprof, PROFILE_PERIOD_TYPE, info->pi_name,
	    prof_export_unit(info)[0] == '\0' ? "count" :
	    prof_export_unit(info));
	prof_proto_number(out, PROFILE_PERIOD, period);
}

/* -------------------------------------------------------------- file */

static int
put_profile(struct pprof *pprof)
{
	const struct prof_code_mapping *mapping;
	uint32_t n;

	(void)string_number(pprof, "");	/* number 0 must be it */
	put_types(pprof);
	put_about(pprof);
	for (n = 1; n < pprof->pp_flame->fm_nnodes; n++) {
		if (!prof_export_fits(pprof->pp_flame, &pprof->pp_out))
			return (PROF_TOO_LARGE);
		put_sample(pprof, n);
	}
	for (n = 0; n < pprof->pp_at.lo_nlocations; n++)
		put_location(pprof, pprof->pp_at.lo_location[n], n + 1ULL);
	for (n = 1; (mapping = prof_code_map_at(pprof->pp_at.lo_code, n)) !=
	    NULL; n++)
		put_mapping(pprof, mapping, n);
	prof_buf_bytes(&pprof->pp_out, pprof->pp_locations.bf_data,
	    pprof->pp_locations.bf_len);
	pprof->pp_failed |= pprof->pp_locations.bf_failed;
	return (pprof->pp_failed || pprof->pp_at.lo_failed ||
	    pprof->pp_out.bf_failed ? -1 : 0);
}

static int
compress_into(struct prof_buf *out, const struct prof_buf *bytes)
{
	z_stream z = { 0 };
	int status = Z_ERRNO;

	/* 16 more: in gzip, whose header says neither when nor where. */
	if (deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 9,
	    Z_DEFAULT_STRATEGY) != Z_OK)
		return (-1);
	z.avail_out = (uInt)deflateBound(&z, bytes->bf_len);
	z.next_out = prof_buf_room(out, z.avail_out);
	z.next_in = bytes->bf_data;
	z.avail_in = (uInt)bytes->bf_len;
	if (z.next_out != NULL && bytes->bf_len < UINT32_MAX / 2)
		status = deflate(&z, Z_FINISH);
	out->bf_len = z.total_out;
	deflateEnd(&z);
	return (status == Z_STREAM_END ? 0 : -1);
}

int
prof_write_pprof(const struct prof_flame *flame, struct prof_buf *out)
{
	struct pprof pprof = { .pp_flame = flame };
	int rv = -1;

	if (prof_locations_init(&pprof.pp_at, flame) == 0 &&
	    (rv = put_profile(&pprof)) == 0)
		rv = compress_into(out, &pprof.pp_out);
	prof_locations_fini(&pprof.pp_at);
	prof_buf_free(&pprof.pp_out);
	prof_dict_free(&pprof.pp_strings);
	prof_buf_free(&pprof.pp_locations);
	return (rv);
}
