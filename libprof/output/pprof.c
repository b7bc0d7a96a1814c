/* SPDX-License-Identifier: ISC */
/*
 * The profile of pprof: perftools.profiles.Profile, a protocol buffer, in
 * gzip.  What its encoding needs stands here: a message is a sequence of
 * (number of a field, value); strings are numbered from 0 on, and mappings,
 * functions and locations from 1 on, each by its place in its table, which
 * strict receivers demand.
 *
 * A location is a place in a function of the symbol table with what was
 * inlined into it there, the innermost first.  Names of threads are labels of
 * samples.  Called by export.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <zlib.h>

#include "code_map.h"
#include "export.h"
#include "profile/profile_impl.h"

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

/* A location as it grows inwards: its function, then what is inlined. */
struct chain {
	uint32_t	ch_outer;	/* chain + 1; 0: the function itself */
	uint32_t	ch_label;
	uint32_t	ch_number;	/* as a location; 0: it is none */
};

/* One file being written. */
struct pprof {
	const struct prof_flame *pp_flame;
	struct prof_buf	 pp_out;
	struct prof_dict pp_strings;
	struct prof_map	 pp_functions;	/* by struct or label */
	struct prof_code_map *pp_code;
	struct prof_map	 pp_chains;
	struct chain	*pp_chain;
	size_t		 pp_nchains;
	size_t		 pp_cap_chains;
	struct prof_buf	 pp_locations;	/* behind all mappings */
	uint32_t	*pp_location;	/* chains, by number - 1 */
	size_t		 pp_nlocations;
	size_t		 pp_cap_locations;
	uint32_t	*pp_of_node;	/* its chain; the root's is none */
	const uint64_t	**pp_samples;	/* by event */
	const uint64_t	**pp_weights;
	bool		 pp_has_lines;
	bool		 pp_failed;
};

/* ---------------------------------------------------------- encoding */

static void
put_number(struct prof_buf *buf, unsigned field, uint64_t value)
{
	if (value == 0)
		return;
	prof_buf_varint(buf, field << 3);
	prof_buf_varint(buf, value);
}

/* A message in a message; what it was built in is empty then. */
static void
put_message(struct prof_buf *buf, unsigned field, struct prof_buf *message)
{
	prof_buf_varint(buf, field << 3 | 2);
	prof_buf_varint(buf, message->bf_len);
	prof_buf_bytes(buf, message->bf_data, message->bf_len);
	buf->bf_failed |= message->bf_failed;
	prof_buf_free(message);
	memset(message, 0, sizeof(*message));
}

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
		put_message(&pprof->pp_out, PROFILE_STRING, &visible);
	}
	return (n);
}

static void
put_type(struct pprof *pprof, unsigned field, const char *type,
    const char *unit)
{
	struct prof_buf message = { 0 };

	put_number(&message, TYPE_TYPE, string_number(pprof, type));
	put_number(&message, TYPE_UNIT, string_number(pprof, unit));
	put_message(&pprof->pp_out, field, &message);
}

/* The number of a key, from 1. */
static uint64_t
key_number(struct pprof *pprof, struct prof_map *map, uint64_t key,
    bool *is_new)
{
	uint32_t n = prof_map_get(map, key, is_new);

	if (n == PROF_INTERN_FAILED) {
		pprof->pp_failed = true;
		*is_new = false;
		return (0);
	}
	return (n + 1ULL);
}

/* ---------------------------------------------------------- mappings */

/* The number of the mapping of a label, and the address there. */
static uint64_t
mapping_of(struct pprof *pprof, const struct prof_label *label,
    uint64_t *address)
{
	const uint32_t n = prof_code_map_find(pprof->pp_code, label, address);

	pprof->pp_failed |= n == UINT32_MAX;
	return (n);
}

static void
put_mapping(struct pprof *pprof, const struct prof_code_mapping *mapping,
    uint32_t n)
{
	const struct prof_image *image = mapping->cm_image;
	struct prof_buf message = { 0 };
	char id[2 * sizeof(image->im_id) + 1] = "";

	for (uint32_t i = 0; image != NULL && i < image->im_id_len; i++)
		(void)snprintf(id + 2 * i, 3, "%02x", image->im_id[i]);
	put_number(&message, MAPPING_ID, n);
	put_number(&message, MAPPING_START, mapping->cm_start);
	put_number(&message, MAPPING_LIMIT, mapping->cm_limit);
	put_number(&message, MAPPING_OFFSET, mapping->cm_offset);
	put_number(&message, MAPPING_FILE,
	    string_number(pprof, mapping->cm_path));
	put_number(&message, MAPPING_BUILD_ID, string_number(pprof, id));
	put_number(&message, MAPPING_HAS_FUNCTIONS, 1);
	put_number(&message, MAPPING_HAS_FILES, pprof->pp_has_lines);
	put_number(&message, MAPPING_HAS_LINES, pprof->pp_has_lines);
	put_number(&message, MAPPING_HAS_INLINES, pprof->pp_has_lines);
	put_message(&pprof->pp_out, PROFILE_MAPPING, &message);
}

/* The program is the first one: it is where main is. */
static void
find_main(struct pprof *pprof)
{
	const struct prof_profile *profile = pprof->pp_flame->fm_profile;
	const struct prof_label *label;
	uint64_t address;
	size_t n;

	for (n = 0; n < prof_profile_nlabels(profile); n++) {
		label = prof_profile_label(profile, (uint32_t)n);
		if (label->lb_function == NULL ||
		    strcmp(label->lb_function->fu_name, "main") != 0)
			continue;
		(void)mapping_of(pprof, label, &address);
		return;
	}
}

/* --------------------------------------------------------- locations */

static uint64_t
put_function(struct pprof *pprof, uint32_t n)
{
	const struct prof_label *label = prof_profile_label(
	    pprof->pp_flame->fm_profile, n);
	const struct prof_function *function = prof_export_function(label);
	struct prof_buf message = { 0 };
	const char *name = prof_export_name(label);
	const char *raw = function == NULL ||
	    function->fu_raw[0] == '\0' ? name : function->fu_raw;
	unsigned line;
	size_t length = prof_export_source(label, &line);
	char *file = function != NULL && length == 0 &&
	    function->fu_kind > PROF_FRAME_KERNEL &&
	    function->fu_module[0] != '[' ?
	    strdup(function->fu_module) : strndup(label->lb_name, length);
	bool is_new;
	uint64_t id;

	/* No struct lies at an odd address. */
	id = key_number(pprof, &pprof->pp_functions, function != NULL ?
	    (uintptr_t)function : 2ULL * n + 1, &is_new);
	if (is_new) {
		put_number(&message, FUNCTION_ID, id);
		put_number(&message, FUNCTION_NAME, string_number(pprof, name));
		put_number(&message, FUNCTION_SYSTEM_NAME,
		    string_number(pprof, raw));
		put_number(&message, FUNCTION_FILE,
		    string_number(pprof, file == NULL ? "" : file));
		put_message(&pprof->pp_out, PROFILE_FUNCTION, &message);
	}
	free(file);
	return (id);
}

static void
put_line(struct pprof *pprof, struct prof_buf *location, uint32_t label)
{
	struct prof_buf message = { 0 };
	unsigned line;

	(void)prof_export_source(prof_profile_label(
	    pprof->pp_flame->fm_profile, label), &line);
	put_number(&message, LINE_FUNCTION, put_function(pprof, label));
	put_number(&message, LINE_LINE, line);
	put_message(location, LOCATION_LINE, &message);
}

static void
put_location(struct pprof *pprof, uint32_t chain, uint64_t number)
{
	struct prof_buf message = { 0 }, lines = { 0 };
	const struct prof_label *label;
	uint64_t address;
	uint32_t at = chain;

	for (;;) {
		put_line(pprof, &lines, pprof->pp_chain[at].ch_label);
		if (pprof->pp_chain[at].ch_outer == 0)
			break;
		at = pprof->pp_chain[at].ch_outer - 1;
	}
	label = prof_profile_label(pprof->pp_flame->fm_profile,
	    pprof->pp_chain[at].ch_label);
	put_number(&message, LOCATION_ID, number);
	put_number(&message, LOCATION_MAPPING,
	    mapping_of(pprof, label, &address));
	put_number(&message, LOCATION_ADDRESS, address);
	prof_buf_bytes(&message, lines.bf_data, lines.bf_len);
	message.bf_failed |= lines.bf_failed;
	prof_buf_free(&lines);
	put_message(&pprof->pp_locations, PROFILE_LOCATION, &message);
}

/* The number of a chain as a location: its place in the table, from 1. */
static uint32_t
location_of(struct pprof *pprof, uint32_t chain)
{
	struct chain *ch = &pprof->pp_chain[chain];
	uint32_t *location;

	if (ch->ch_number != 0)
		return (ch->ch_number);
	location = prof_grow((void **)&pprof->pp_location,
	    &pprof->pp_nlocations, &pprof->pp_cap_locations,
	    sizeof(*location));
	if (location == NULL) {
		pprof->pp_failed = true;
		return (0);
	}
	*location = chain;
	return (ch->ch_number = (uint32_t)pprof->pp_nlocations);
}

/* The chain of each node, so that a node says its location at once. */
static int
find_chains(struct pprof *pprof)
{
	const struct prof_flame *flame = pprof->pp_flame;
	const struct prof_label *label;
	struct chain *chain;
	uint32_t n, outer;
	bool is_new;
	uint64_t id;

	for (n = 1; n < flame->fm_nnodes; n++) {
		label = prof_profile_label(flame->fm_profile,
		    flame->fm_node[n].pt_label);
		pprof->pp_has_lines |= label->lb_kind == PROF_LABEL_LINE;
		outer = flame->fm_node[n].pt_parent;
		outer = !prof_export_is_inlined(label) || outer == 0 ? 0 :
		    pprof->pp_of_node[outer] + 1;
		id = key_number(pprof, &pprof->pp_chains,
		    (uint64_t)outer << 32 | flame->fm_node[n].pt_label,
		    &is_new);
		if (pprof->pp_failed)
			return (-1);
		pprof->pp_of_node[n] = (uint32_t)id - 1;
		if (!is_new)
			continue;
		chain = prof_grow((void **)&pprof->pp_chain,
		    &pprof->pp_nchains, &pprof->pp_cap_chains,
		    sizeof(*chain));
		if (chain == NULL)
			return (-1);
		chain->ch_outer = outer;
		chain->ch_label = flame->fm_node[n].pt_label;
		chain->ch_number = 0;
	}
	return (0);
}

/* ----------------------------------------------------------- samples */

static void
put_comm(struct pprof *pprof, struct prof_buf *sample,
    const struct prof_label *label)
{
	struct prof_buf message = { 0 };

	put_number(&message, LABEL_KEY, string_number(pprof, "comm"));
	put_number(&message, LABEL_STR, string_number(pprof, label->lb_name));
	put_message(sample, SAMPLE_LABEL, &message);
}

/* From the leaf outwards; what is inlined belongs to the frame above it. */
static void
put_stack(struct pprof *pprof, struct prof_buf *sample, uint32_t node)
{
	const struct prof_flame *flame = pprof->pp_flame;
	const struct prof_label *label, *comm = NULL;
	struct prof_buf packed = { 0 };
	struct chain *chain;

	for (; node != 0; node = flame->fm_node[node].pt_parent) {
		label = prof_profile_label(flame->fm_profile,
		    flame->fm_node[node].pt_label);
		if (label->lb_kind == PROF_LABEL_COMM) {
			comm = label;
			continue;
		}
		chain = &pprof->pp_chain[pprof->pp_of_node[node]];
		prof_buf_varint(&packed, location_of(pprof,
		    pprof->pp_of_node[node]));
		for (; chain->ch_outer != 0;
		    chain = &pprof->pp_chain[chain->ch_outer - 1])
			node = flame->fm_node[node].pt_parent;
	}
	put_message(sample, SAMPLE_LOCATION, &packed);
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
		any |= pprof->pp_samples[e][node];
		prof_buf_varint(&packed, pprof->pp_samples[e][node]);
		prof_buf_varint(&packed, pprof->pp_weights[e][node]);
	}
	if (any == 0) {
		prof_buf_free(&packed);
		return;
	}
	put_stack(pprof, &message, node);
	put_message(&message, SAMPLE_VALUE, &packed);
	put_message(&pprof->pp_out, PROFILE_SAMPLE, &message);
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
		put_number(&pprof->pp_out, PROFILE_COMMENT,
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
		put_number(out, PROFILE_TIME_NANOS, from_ns +
		    info_number(flame, "time.realtime_ns") -
		    info_number(flame, "time.monotonic_ns"));
	put_number(out, PROFILE_DURATION_NANOS, to_ns - from_ns);
	for (e = 0; e < flame->fm_nevents; e++)
		put_warnings(pprof, &flame->fm_event[e]);
	if (flame->fm_nevents == 0)
		return;
	info = flame->fm_event[0].fe_info;
	put_number(out, PROFILE_DEFAULT_TYPE,
	    string_number(pprof, info->pi_name));
	period = info->pi_period;
	if (period == 0 && info->pi_frequency_hz != 0 &&
	    strcmp(info->pi_unit, "ns") == 0)
		period = 1000000000 / info->pi_frequency_hz;
	if (period == 0)
		return;
	put_type(pprof, PROFILE_PERIOD_TYPE, info->pi_name,
	    prof_export_unit(info)[0] == '\0' ? "count" :
	    prof_export_unit(info));
	put_number(out, PROFILE_PERIOD, period);
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
	find_main(pprof);
	for (n = 1; n < pprof->pp_flame->fm_nnodes; n++) {
		if (!prof_export_fits(pprof->pp_flame, &pprof->pp_out))
			return (PROF_TOO_LARGE);
		put_sample(pprof, n);
	}
	for (n = 0; n < pprof->pp_nlocations; n++)
		put_location(pprof, pprof->pp_location[n], n + 1ULL);
	for (n = 1; (mapping = prof_code_map_at(pprof->pp_code, n)) != NULL;
	    n++)
		put_mapping(pprof, mapping, n);
	prof_buf_bytes(&pprof->pp_out, pprof->pp_locations.bf_data,
	    pprof->pp_locations.bf_len);
	pprof->pp_failed |= pprof->pp_locations.bf_failed;
	return (pprof->pp_failed || pprof->pp_out.bf_failed ? -1 : 0);
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

static int
find_values(struct pprof *pprof)
{
	const struct prof_flame *flame = pprof->pp_flame;
	size_t e, event;

	pprof->pp_samples = calloc(flame->fm_nevents + 1,
	    sizeof(*pprof->pp_samples));
	pprof->pp_weights = calloc(flame->fm_nevents + 1,
	    sizeof(*pprof->pp_weights));
	if (pprof->pp_samples == NULL || pprof->pp_weights == NULL)
		return (-1);
	for (e = 0; e < flame->fm_nevents; e++) {
		event = flame->fm_event[e].fe_event;
		pprof->pp_samples[e] = prof_profile_samples(
		    flame->fm_profile, event);
		pprof->pp_weights[e] = prof_profile_self(flame->fm_profile,
		    event);
		if (pprof->pp_samples[e] == NULL ||
		    pprof->pp_weights[e] == NULL)
			return (-1);
	}
	return (0);
}

int
prof_write_pprof(const struct prof_flame *flame, struct prof_buf *out)
{
	struct pprof pprof = { .pp_flame = flame };
	int rv = -1;

	pprof.pp_of_node = calloc(flame->fm_nnodes + 1,
	    sizeof(*pprof.pp_of_node));
	pprof.pp_code = prof_code_map_new(flame);
	if (pprof.pp_of_node != NULL && pprof.pp_code != NULL &&
	    find_values(&pprof) == 0 &&
	    find_chains(&pprof) == 0 && (rv = put_profile(&pprof)) == 0)
		rv = compress_into(out, &pprof.pp_out);
	free(pprof.pp_of_node);
	free(pprof.pp_chain);
	free(pprof.pp_samples);
	free(pprof.pp_weights);
	prof_buf_free(&pprof.pp_out);
	prof_dict_free(&pprof.pp_strings);
	prof_map_free(&pprof.pp_functions);
	prof_code_map_free(pprof.pp_code);
	free(pprof.pp_location);
	prof_buf_free(&pprof.pp_locations);
	prof_map_free(&pprof.pp_chains);
	return (rv);
}
