/* SPDX-License-Identifier: ISC */
/*
 * The flame graph as a page: reports/flame.html with its script and style,
 * put together at build, and in its middle the data.  What stands in the
 * data, and in which order, is the contract of reports/README.md; a reader in
 * Python beside it holds both to it (tests/browser/page_data.py).
 *
 * The head is JSON.  Tree and samples are columns of small numbers, deflated
 * and in base 91: half a million frames in under 3 MB.  Weights are those of
 * the buckets of time alone; the page adds up the ones that are in the range.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare/difference.h"
#include "export.h"
#include "flame_page.h"
#include "pack.h"
#include "recording/query.h"

#define PAGE_FORMAT	2
#define MAX_CELLS	400000		/* more: each longer in time */
#define MAX_CELLS_TIMES	200000		/* beside a timeline */
#define MAX_COLUMNS	(1u << 30)	/* bytes */
#define MAX_PACKED	8000000		/* packed bytes: 10 MB of page */

/* Bits of a label's kind; the low ones are enum prof_label_kind. */
#define KIND_KERNEL	0x08u
#define KIND_INLINED	0x10u
#define KIND_UNNAMED	0x20u
#define KIND_FRAME_SHIFT 6	/* enum prof_frame_kind from PYTHON on */
#define KIND_STATE	0x400u	/* the state of a thread */

/* Buckets as they are written. */
struct buckets {
	struct prof_bucket *ce_bucket;	/* owned */
	size_t		 ce_n;
	uint64_t	 ce_ns;		/* how long one is */
};

/* ------------------------------------------------------------- names */

/* The number of each label's module, the modules, and the kinds. */
static int
put_modules(const struct prof_profile *profile, struct prof_buf *out)
{
	size_t nlabels = prof_profile_nlabels(profile), i;
	struct prof_buf names = { 0 }, kinds = { 0 }, numbers = { 0 };
	const struct prof_function *function;
	const struct prof_label *label;
	struct prof_dict dict = { 0 };
	uint32_t n = 0, count = 0, kind;
	bool is_new;

	for (i = 0; i < nlabels && n != PROF_INTERN_FAILED; i++) {
		label = prof_profile_label(profile, (uint32_t)i);
		function = prof_export_function(label);
		kind = label->lb_kind == PROF_LABEL_ARG ? KIND_STATE |
		    PROF_LABEL_COMM : label->lb_kind;
		if (function != NULL) {
			kind |= function->fu_kind == PROF_FRAME_KERNEL ?
			    KIND_KERNEL : 0;
			kind |= function->fu_kind > PROF_FRAME_KERNEL ?
			    (uint32_t)function->fu_kind <<
			    KIND_FRAME_SHIFT : 0;
			kind |= function->fu_is_inlined ? KIND_INLINED : 0;
			kind |= function->fu_unnamed != PROF_NAMED ?
			    KIND_UNNAMED : 0;
		}
		prof_buf_varint(&kinds, kind);
		n = prof_dict_find(&dict, label->lb_module,
		    strlen(label->lb_module), &is_new);
		prof_buf_varint(&numbers, n);
		if (is_new) {
			count++;
			prof_put_visible(&names, label->lb_module, 0);
			prof_put_str(&names, "\n");
		}
	}
	prof_buf_varint(out, count);
	prof_buf_bytes(out, names.bf_data, names.bf_len);
	prof_buf_varint(out, nlabels);
	prof_buf_bytes(out, kinds.bf_data, kinds.bf_len);
	prof_buf_bytes(out, numbers.bf_data, numbers.bf_len);
	out->bf_failed |= names.bf_failed | kinds.bf_failed |
	    numbers.bf_failed;
	prof_buf_free(&names);
	prof_buf_free(&kinds);
	prof_buf_free(&numbers);
	prof_dict_free(&dict);
	return (n == PROF_INTERN_FAILED ? -1 : 0);
}

/*
 * Names are in order, so most begin as the one before: how many bytes are the
 * same, then the rest and a newline.  At the end where each line is.
 */
static void
put_names(const struct prof_profile *profile, struct prof_buf *out)
{
	struct prof_buf name[2] = { 0 }, same = { 0 }, rest = { 0 };
	size_t nlabels = prof_profile_nlabels(profile), i, n;
	struct prof_buf places = { 0 };
	const struct prof_label *label;

	for (i = 0; i < nlabels; i++) {
		struct prof_buf *now = &name[i & 1], *last = &name[~i & 1];

		now->bf_len = 0;
		label = prof_profile_label(profile, (uint32_t)i);
		prof_put_visible(now, prof_export_name(label), 0);
		for (n = 0; n < now->bf_len && n < last->bf_len; n++)
			if (now->bf_data[n] != last->bf_data[n])
				break;
		prof_buf_varint(&same, n);
		if (n < now->bf_len)	/* a name may be empty */
			prof_buf_bytes(&rest, now->bf_data + n,
			    now->bf_len - n);
		prof_put_str(&rest, "\n");
		if (label->lb_kind != PROF_LABEL_LINE)
			continue;
		prof_put_visible(&places, label->lb_name, 0);
		prof_put_str(&places, "\n");
	}
	prof_buf_bytes(out, same.bf_data, same.bf_len);
	prof_buf_bytes(out, rest.bf_data, rest.bf_len);
	prof_buf_bytes(out, places.bf_data, places.bf_len);
	out->bf_failed |= name[0].bf_failed | name[1].bf_failed |
	    same.bf_failed | rest.bf_failed | places.bf_failed;
	prof_buf_free(&name[0]);
	prof_buf_free(&name[1]);
	prof_buf_free(&same);
	prof_buf_free(&rest);
	prof_buf_free(&places);
}

/* -------------------------------------------------------------- tree */

/*
 * A node is the child of the one before, or of one that lies so many levels
 * above: 0 for a chain, 1 for a sibling of the one before.
 */
static int
put_tree(const struct prof_flame *flame, struct prof_buf *out)
{
	const struct prof_tree_node *node = flame->fm_node;
	uint32_t *depth = calloc(flame->fm_nnodes + 1, sizeof(*depth));
	size_t n = flame->fm_nnodes, i;

	if (depth == NULL)
		return (-1);
	prof_buf_varint(out, n);
	for (i = 1; i < n; i++) {
		depth[i] = depth[node[i].pt_parent] + 1;
		prof_buf_varint(out, depth[i - 1] + 1 - depth[i]);
	}
	for (i = 1; i < n; i++)
		prof_buf_varint(out, node[i].pt_label);
	free(depth);
	return (0);
}

/* ------------------------------------------------------------- buckets */

/*
 * How often to double the length of a cell, so that there are few enough.
 * Those of a node and event that follow one another in time become one when
 * the bits in which their times differ are gone.
 */
static int
cells_double(const struct prof_flame *flame, const struct buckets *buckets,
    unsigned *times)
{
	const size_t nevents = flame->fm_nevents;
	size_t count[33] = { 0 }, n = buckets->ce_n;
	const struct prof_bucket *bucket;
	uint32_t *last, differ, cells = 0;

	last = malloc((flame->fm_nnodes * nevents + 1) * sizeof(*last));
	if (last == NULL)
		return (-1);
	memset(last, 0xff, flame->fm_nnodes * nevents * sizeof(*last));
	for (size_t i = 0; i < n; i++) {
		bucket = &buckets->ce_bucket[i];
		differ = last[bucket->pc_node * nevents + bucket->pc_event] ^
		    bucket->pc_bucket;
		count[differ == 0 ? 0 : 32 - __builtin_clz(differ)]++;
		last[bucket->pc_node * nevents + bucket->pc_event] =
		    bucket->pc_bucket;
		cells |= bucket->pc_bucket;
	}
	free(last);
	n -= count[0];
	for (*times = 0; *times < 31 && n > MAX_CELLS_TIMES &&
	    cells >> *times != 0;)
		n -= count[++*times];
	return (0);
}

/* Where each sample has its own bucket, those of a time become one. */
static int
buckets_join(struct buckets *buckets, const struct prof_flame *flame)
{
	const struct prof_profile *profile = flame->fm_profile;
	uint64_t from_ns, to_ns;
	unsigned times;

	prof_profile_span(profile, &from_ns, &to_ns);
	for (size_t i = 0; i < buckets->ce_n; i++)
		buckets->ce_bucket[i].pc_bucket = buckets->ce_ns == 0 ? 0 :
		    (uint32_t)((prof_profile_time(profile,
		    buckets->ce_bucket[i].pc_bucket) - from_ns) /
		    buckets->ce_ns);
	if (cells_double(flame, buckets, &times) == -1)
		return (-1);
	buckets->ce_ns <<= times;
	for (size_t i = 0; i < buckets->ce_n; i++)
		buckets->ce_bucket[i].pc_bucket >>= times;
	return (prof_buckets_sum(&buckets->ce_bucket, &buckets->ce_n));
}

/* Those of the events that are shown, which are numbered anew. */
static int
buckets_init(struct buckets *buckets, const struct prof_flame *flame)
{
	const struct prof_bucket *all;
	size_t n, i, event;

	all = prof_profile_buckets(flame->fm_profile, &n);
	buckets->ce_n = 0;
	buckets->ce_bucket = calloc(n + 1, sizeof(*all));
	if (buckets->ce_bucket == NULL)
		return (-1);
	for (i = 0; i < n; i++) {
		event = prof_flame_find(flame, all[i].pc_event);
		if (event == flame->fm_nevents)
			continue;
		buckets->ce_bucket[buckets->ce_n] = all[i];
		buckets->ce_bucket[buckets->ce_n++].pc_event = (uint32_t)event;
	}
	buckets->ce_ns = prof_profile_bucket_ns(flame->fm_profile);
	return (prof_flame_has_times(flame) ? buckets_join(buckets, flame) :
	    prof_buckets_sum(&buckets->ce_bucket, &buckets->ce_n));
}

/* Most samples weigh what the last one of their event did: then 0. */
static int
put_weights(const struct prof_flame *flame, const struct buckets *buckets,
    struct prof_buf *out)
{
	uint64_t *last = calloc(flame->fm_nevents + 1, sizeof(*last));
	const struct prof_bucket *bucket;
	size_t i;

	if (last == NULL)
		return (-1);
	for (i = 0; i < buckets->ce_n; i++) {
		bucket = &buckets->ce_bucket[i];
		if (bucket->pc_weight == bucket->pc_samples *
		    last[bucket->pc_event]) {
			prof_buf_varint(out, 0);
			continue;
		}
		prof_buf_varint(out, bucket->pc_weight + 1);
		if (bucket->pc_samples > 0 &&
		    bucket->pc_weight % bucket->pc_samples == 0)
			last[bucket->pc_event] = bucket->pc_weight /
			    bucket->pc_samples;
	}
	free(last);
	return (0);
}

static int
put_buckets(const struct prof_flame *flame, const struct buckets *buckets,
    struct prof_buf *out)
{
	const struct prof_bucket *bucket = buckets->ce_bucket;
	struct prof_bucket last = { 0 };
	size_t i;

	prof_buf_varint(out, buckets->ce_n);
	for (i = 0; i < buckets->ce_n; i++)
		prof_buf_varint(out, bucket[i].pc_bucket -
		    (i == 0 ? 0 : bucket[i - 1].pc_bucket));
	for (i = 0; i < buckets->ce_n; i++) {
		if (bucket[i].pc_bucket != last.pc_bucket)
			last.pc_node = 0;
		prof_buf_varint(out, bucket[i].pc_node - last.pc_node);
		last = bucket[i];
	}
	for (i = 0; i < buckets->ce_n; i++)
		prof_buf_varint(out, bucket[i].pc_event);
	for (i = 0; i < buckets->ce_n; i++)
		prof_buf_varint(out, bucket[i].pc_samples);
	return (put_weights(flame, buckets, out));
}

/* -------------------------------------------------------------- head */

/* Each line as a string of its own. */
static void
put_lines(const char *text, struct prof_buf *out)
{
	char line[sizeof(((struct prof_quality *)0)->pq_text)];
	const char *separator = "";
	size_t length;

	for (; *text != '\0'; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)length, text);
		prof_put_str(out, separator);
		prof_put_json(out, line);
		separator = ",";
	}
}

static void
put_event(const struct prof_flame_event *fe, struct prof_buf *out)
{
	const struct prof_quality *quality = &fe->fe_quality;

	prof_put_str(out, "\n {\"name\":");
	prof_put_json(out, fe->fe_info->pi_name);
	prof_put_str(out, ",\"unit\":");
	prof_put_json(out, fe->fe_info->pi_unit);
	prof_put_fmt(out, ",\"period\":%" PRIu64 ",\"frequency\":%" PRIu64,
	    fe->fe_info->pi_period, fe->fe_info->pi_frequency_hz);
	prof_put_fmt(out, ",\"weight\":%" PRIu64 ",\"samples\":%" PRIu64,
	    quality->pq_weight, quality->pq_samples);
	/* In whole samples: no point, whose sign depends on the locale. */
	prof_put_fmt(out, ",\"effective\":%" PRIu64 ",\"bad\":%s",
	    (uint64_t)quality->pq_effective,
	    quality->pq_is_bad ? "true" : "false");
	prof_put_str(out, ",\"quality\":[");
	put_lines(quality->pq_text, out);
	prof_put_str(out, "]}");
}

/* When the profile's first sample was, from the start of the recording. */
static uint64_t
begin_of(const struct prof_flame *flame)
{
	uint64_t from_ns, to_ns, start_ns;

	if (flame->fm_reader == NULL ||
	    !prof_reader_start(flame->fm_reader, &start_ns))
		return (0);
	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	return (start_ns < from_ns ? from_ns - start_ns : 0);
}

static const char *
fact_of(const struct prof_flame *flame, int side, int fact)
{
	if (flame->fm_difference != NULL)
		return (flame->fm_difference->df_fact[side][fact]);
	return (side == 0 ? NULL : prof_reader_info(flame->fm_reader,
	    prof_facts[fact][0]));
}

/* What the recorder had to do without (dtprof-format(5), "less."). */
static void
put_degraded(const struct prof_flame *flame, const char *separator,
    struct prof_buf *out)
{
	static const char *const keys[] = {
		"less.event", "less.path", "less.rate", "less.pace",
		"less.probes", "less.memory"
	};
	const char *value;

	for (size_t n = 0; flame->fm_reader != NULL &&
	    n < sizeof(keys) / sizeof(keys[0]); n++) {
		value = prof_reader_info(flame->fm_reader, keys[n]);
		if (value == NULL)
			continue;
		prof_put_fmt(out, "%s[\"degraded\",", separator);
		prof_put_json(out, value);
		prof_put_str(out, "]");
		separator = ",";
	}
}

/* What is alike on both sides of a difference is said once. */
static void
put_facts(const struct prof_flame *flame, struct prof_buf *out)
{
	const char *separator = "", *base, *value;

	prof_put_str(out, "\"facts\":[");
	for (int i = 0; i < PROF_NFACTS; i++) {
		base = fact_of(flame, 0, i);
		for (int side = 0; side < 2; side++) {
			value = fact_of(flame, side, i);
			if (value == NULL || (side == 1 && base != NULL &&
			    strcmp(base, value) == 0))
				continue;
			prof_put_fmt(out, "%s[\"%s%s\",", separator,
			    side == 0 && fact_of(flame, 1, i) != NULL &&
			    strcmp(fact_of(flame, 1, i), value) != 0 ?
			    "base: " : "", prof_facts[i][1]);
			prof_put_json(out, value);
			prof_put_str(out, "]");
			separator = ",";
		}
	}
	put_degraded(flame, separator, out);
	prof_put_str(out, "]");
}

static void
put_hues(const struct prof_flame *flame, struct prof_buf *out)
{
	const struct prof_hue *hue;
	const char *before = "\"hues\":{";

	for (size_t at = 0; (hue = prof_flame_hue(flame, &at)) != NULL;
	    before = ",")
		prof_put_fmt(out, "%s\"%s\":%d", before, hue->hu_name,
		    hue->hu_hue);
	if (*before == ',')
		prof_put_str(out, "},\n");
}

static void
put_head(const struct prof_flame *flame, uint64_t cell_ns,
    struct prof_buf *out)
{
	uint64_t from_ns, to_ns;
	size_t i;

	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	prof_put_fmt(out, "{\"format\":%d,\"title\":", PAGE_FORMAT);
	prof_put_json(out, flame->fm_title);
	prof_put_fmt(out, ",\"reverse\":%s,\"ratio\":%s,",
	    flame->fm_options.fl_reverse ? "true" : "false",
	    flame->fm_options.fl_ratio ? "true" : "false");
	prof_put_fmt(out, "\"begin_ns\":%" PRIu64 ",\"span_ns\":%" PRIu64
	    ",\"cell_ns\":%" PRIu64 ",\n", begin_of(flame), to_ns - from_ns,
	    cell_ns);
	put_facts(flame, out);
	prof_put_str(out, ",\n\"events\":[");
	for (i = 0; i < flame->fm_nevents; i++) {
		prof_put_str(out, i == 0 ? "" : ",");
		put_event(&flame->fm_event[i], out);
	}
	prof_put_str(out, "],\n");
	put_hues(flame, out);
	if (flame->fm_difference != NULL)
		prof_flame_put_difference(flame, out);
	prof_flame_put_latencies(flame, from_ns - begin_of(flame), out);
}

/* Names, tree and cells. */
static int
columns_pack(const struct prof_flame *flame, const struct buckets *buckets,
    struct prof_pack *pack)
{
	struct prof_buf columns = { 0 };
	int rv = -1;

	if (put_modules(flame->fm_profile, &columns) == -1)
		goto out;
	put_names(flame->fm_profile, &columns);
	if (put_tree(flame, &columns) == -1 ||
	    put_buckets(flame, buckets, &columns) == -1)
		goto out;
	if (flame->fm_difference != NULL)
		prof_flame_put_chances(flame, &columns);
	if (columns.bf_len <= MAX_COLUMNS &&
	    prof_pack_add(pack, &columns, PROF_PACK_TEXT) == 0)
		rv = prof_pack_end(pack);
out:
	prof_buf_free(&columns);
	return (rv);
}

/* The timeline, in the room that the rest leaves. */
static int
put_timeline(const struct prof_flame *flame, size_t taken,
    struct prof_buf *out)
{
	uint64_t from_ns, to_ns;

	if (!prof_flame_has_times(flame))
		return (0);
	prof_profile_span(flame->fm_profile, &from_ns, &to_ns);
	return (prof_flame_put_timeline(flame, from_ns - begin_of(flame),
	    taken < MAX_PACKED ? MAX_PACKED - taken : 0, out));
}

int
prof_flame_page(const struct prof_flame *flame, struct prof_buf *out)
{
	struct buckets buckets = { 0 };
	struct prof_pack pack;
	int rv = -1;

	if (prof_pack_begin(&pack) == -1 ||
	    buckets_init(&buckets, flame) == -1 ||
	    columns_pack(flame, &buckets, &pack) == -1)
		goto out;
	prof_buf_bytes(out, flame_page_head, sizeof(flame_page_head));
	put_head(flame, buckets.ce_ns, out);
	if (put_timeline(flame, pack.pk_out.bf_len, out) == -1)
		goto out;
	prof_put_str(out, "\"columns\":\"");
	prof_put_letters(out, &pack.pk_out);
	prof_put_str(out, "\"}");
	prof_buf_bytes(out, flame_page_tail, sizeof(flame_page_tail));
	rv = out->bf_failed ? -1 : 0;
out:
	prof_pack_free(&pack);
	free(buckets.ce_bucket);
	return (rv);
}

char *
prof_flame_html(const struct prof_profile *profile,
    const struct prof_flame_options *options, size_t *length,
    struct prof_err *error)
{
	return (prof_flame_make(profile, options, prof_flame_page, length,
	    error));
}
