/* SPDX-License-Identifier: ISC */
/*
 * Flame graphs of profiles whose answer is known, as the library draws them:
 *
 *	make_page known|lines|states|hostile|empty|N out.html|out.svg
 *
 * known: shares, recursion, two threads, two events, and when all of it was;
 * the tables below say it.  lines: the same by lines of source, where twenty
 * has two of them.  states: threads that run and wait.  hostile: names that try
 * to be markup, script or commands.
 * N: so many frames, to measure with.  Used by the tests of this directory and
 * by tests/bench/page.sh.
 */
#include "../unit/recording-lib.h"
#include "profile/profile_impl.h"

#define MAX_EVENTS	3

enum {
	F_USER, F_KERNEL, F_INLINED, F_UNNAMED, F_PYTHON, F_THREAD, F_STATE,
	F_ALL
};

/* A stack, the outermost first, by numbers of names. */
struct row {
	const char	*rw_path[12];
	uint32_t	 rw_event;
	uint32_t	 rw_first;	/* cell of 20 ms */
	uint32_t	 rw_count;	/* cells, one after the other */
	uint32_t	 rw_samples;	/* in each cell */
	uint64_t	 rw_weight;	/* of each sample */
};

#define START	"worker", "_start", "main"
#define MS	1000000ULL

/* 1000 samples, 10 s: 70 % seventy, 20 % twenty, 10 % ten. */
static const struct row known[] = {
	{ { START, "seventy" }, 1, 0, 200, 2, MS },
	{ { START, "seventy", "shared" }, 1, 200, 150, 2, MS },
	{ { START, "twenty", "tiny" }, 1, 350, 50, 2, MS },
	{ { START, "twenty", "shared", "sys_read" }, 1, 400, 50, 2, MS },
	{ { "helper", "_start", "ten", "again", "again", "again" },
	    1, 450, 50, 2, MS },
	{ { START, "seventy" }, 2, 0, 100, 1, 100 },
	{ { START, "twenty", "tiny" }, 2, 350, 50, 1, 800 },
	{ { "helper", "_start", "ten", "again" }, 2, 450, 50, 1, 1000 },
	{ .rw_count = 0 }
};

/* The same by lines, where they are known: function@file:line. */
static const struct row lines[] = {
	{ { START, "seventy@/src/known.c:7" }, 1, 0, 350, 2, MS },
	{ { START, "twenty@/src/known.c:20", "tiny@/src/known.h:3" },
	    1, 350, 50, 2, MS },
	{ { START, "twenty@/src/known.c:21", "shared", "sys_read" },
	    1, 400, 50, 2, MS },
	{ { "helper", "_start", "ten@/src/known.c:30" }, 1, 450, 50, 2, MS },
	{ .rw_count = 0 }
};

/*
 * Half of the time of main, and all of idle, is blocked.  The reason preempted
 * has the hue of its state, others their own.
 */
static const struct row states[] = {
	{ { "worker", "running", "main" }, 1, 0, 10, 1, MS },
	{ { "worker", "running", "main", "sys_read" }, 1, 10, 20, 1, MS },
	{ { "worker", "blocked", "read", "main", "sys_read" },
	    1, 30, 30, 1, MS },
	{ { "helper", "runnable", "preempted", "main" }, 1, 60, 10, 1, MS },
	{ { "helper", "blocked", "futex", "idle" }, 1, 70, 30, 1, MS },
	{ .rw_count = 0 }
};

static const struct { const char *name; int kind; } known_kinds[] = {
	{ "worker", F_THREAD }, { "helper", F_THREAD }, { "tiny", F_INLINED },
	{ "sys_read", F_KERNEL }, { "again", F_PYTHON }, { "all", F_ALL },
	{ "running", F_STATE }, { "runnable", F_STATE },
	{ "blocked", F_STATE }, { "read", F_STATE },
	{ "preempted", F_STATE }, { "futex", F_STATE },
	{ NULL, 0 }
};

static char long_name[10240];

static const char *const hostile[] = {
	"</script><script>window.pwned=1</script>",
	"\"><img src=x onerror=window.pwned=1>",
	"<!--<script>", "-->]]>", "'-(window.pwned=1)-'",
	"${window.pwned=1}", "&lt;b&gt;&amp;", "javascript:window.pwned=1",
	"\033[31mred\007\033]0;title\007", "abc\xe2\x80\xaegnp.exe",
	"\xff\xfe broken \xc3", "two\nlines\r\ttab", "__proto__",
	"constructor", "back\\slash\\u003c", "noncharacter \xef\xbf\xbf",
	"zero\xe2\x80\x8bwidth", "line@<img src=x onerror=window.pwned=1>:3",
	long_name
};

static struct prof_profile profile;
static struct prof_function *functions;
static size_t nfunctions;

static uint32_t
label_of(const char *name, const char *module, int kind)
{
	struct prof_labels *labels = &profile.pf_labels;
	struct prof_function *fu = &functions[nfunctions++];
	const char *place = strchr(name, '@');
	struct prof_label *label;

	label = prof_grow((void **)&labels->lb_label, &labels->lb_nlabels,
	    &labels->lb_cap, sizeof(*label));
	CHECK(label != NULL);
	memset(label, 0, sizeof(*label));
	label->lb_kind = kind == F_ALL ? PROF_LABEL_ALL :
	    kind == F_THREAD ? PROF_LABEL_COMM : kind == F_STATE ?
	    PROF_LABEL_ARG : PROF_LABEL_FUNCTION;
	label->lb_name = name;
	fu->fu_name = fu->fu_raw = name;
	if (place != NULL && kind < F_THREAD) {
		label->lb_kind = PROF_LABEL_LINE;
		label->lb_name = place + 1;
		fu->fu_name = strndup(name, (size_t)(place - name));
		CHECK(fu->fu_name != NULL);
	}
	label->lb_module = kind == F_KERNEL ? "[kernel]" :
	    kind >= F_THREAD ? "" : module;
	if (kind < F_THREAD)
		label->lb_function = fu;
	fu->fu_kind = kind == F_KERNEL ? PROF_FRAME_KERNEL :
	    kind == F_PYTHON ? PROF_FRAME_PYTHON : PROF_FRAME_NATIVE;
	fu->fu_is_inlined = kind == F_INLINED;
	fu->fu_unnamed = kind == F_UNNAMED ? PROF_UNNAMED_NOSYM : PROF_NAMED;
	return ((uint32_t)labels->lb_nlabels - 1);
}

static uint32_t
label_named(const char *name)
{
	const struct prof_labels *labels = &profile.pf_labels;
	size_t length = strcspn(name, "@"), n;
	int kind = F_USER, i;

	for (n = 0; n < labels->lb_nlabels; n++)
		if (strcmp(functions[n].fu_raw, name) == 0)
			return ((uint32_t)n);
	for (i = 0; known_kinds[i].name != NULL; i++)
		if (strlen(known_kinds[i].name) == length &&
		    memcmp(known_kinds[i].name, name, length) == 0)
			kind = known_kinds[i].kind;
	return (label_of(name, "/usr/bin/known", kind));
}

static uint32_t
child(uint32_t parent, uint32_t label, bool may_exist)
{
	struct prof_tree *tree = &profile.pf_tree;
	struct prof_tree_node *node;
	size_t i;

	for (i = 1; may_exist && i < tree->tr_nnodes; i++)
		if (tree->tr_node[i].pt_parent == parent &&
		    tree->tr_node[i].pt_label == label)
			return ((uint32_t)i);
	node = prof_grow((void **)&tree->tr_node, &tree->tr_nnodes,
	    &tree->tr_cap, sizeof(*node));
	CHECK(node != NULL);
	node->pt_parent = parent;
	node->pt_label = label;
	return ((uint32_t)tree->tr_nnodes - 1);
}

static void
add(uint32_t node, uint32_t event, uint32_t cell, uint32_t samples,
    uint64_t weight)
{
	struct prof_tree *tree = &profile.pf_tree;
	struct prof_bucket *new;

	new = prof_grow((void **)&tree->tr_bucket, &tree->tr_nbuckets,
	    &tree->tr_cap_buckets, sizeof(*new));
	CHECK(new != NULL);
	*new = (struct prof_bucket){ cell, node, event, samples, weight };
	profile.pf_quality[event].pq_samples += samples;
	profile.pf_quality[event].pq_weight += weight;
	profile.pf_quality[event].pq_effective += samples;
}

static void
make_known(const struct row *row)
{
	uint32_t node, i;

	for (; row->rw_count > 0; row++) {
		node = 0;
		for (i = 0; row->rw_path[i] != NULL; i++)
			node = child(node, label_named(row->rw_path[i]), true);
		for (i = 0; i < row->rw_count; i++)
			add(node, row->rw_event, row->rw_first + i,
			    row->rw_samples, row->rw_samples *
			    row->rw_weight);
	}
}

/* Every name as thread, module and function, side by side and in a row. */
static void
make_hostile(void)
{
	size_t n = sizeof(hostile) / sizeof(hostile[0]), i;
	uint32_t node, deep = 0;

	memset(long_name, 'T', sizeof(long_name) - 1);
	memcpy(long_name, "std::map<", 9);
	for (i = 0; i < n; i++) {
		node = child(0, label_of(hostile[i], "", F_THREAD), false);
		node = child(node, label_of(hostile[i], hostile[i], F_USER),
		    false);
		add(node, 1, (uint32_t)i, 1, MS);
		deep = child(deep, label_of(hostile[i], hostile[n - 1 - i],
		    F_KERNEL), false);
		add(deep, 1, (uint32_t)i, 10, 10 * MS);
	}
}

/* Like a large C++ server: 6000 names, up to 70 deep. */
static void
make_many(uint32_t n)
{
	static const char *const parts[] = { "std::vector", "net::http",
	    "db::Table", "tcp", "ext4", "Json::Value", "cache::Shard" };
	static const char *const verbs[] = { "Get", "Insert", "Write",
	    "Flush", "Parse", "Encode", "Lookup", "poll" };
	uint32_t *depth = calloc(n + 100, sizeof(*depth)), node, i, k;
	char *name;

	CHECK(depth != NULL);
	for (i = 0; i < 6000; i++) {
		CHECK(asprintf(&name, "%s::%s%u<unsigned long, std::allocator"
		    "<char>>", parts[below(7)], verbs[below(8)], i) != -1);
		label_of(name, i % 9 == 0 ? "libone.so" : "server",
		    i % 7 == 0 ? F_KERNEL : F_USER);
	}
	while (profile.pf_tree.tr_nnodes < n) {
		i = (uint32_t)profile.pf_tree.tr_nnodes;
		node = below(5) < 3 && i > 4000 ? i - 1 - below(4000) :
		    below(i);
		for (k = 1 + below(6); k > 0 && depth[node] < 70; k--) {
			i = child(node, 1 + below(6000), false);
			depth[i] = depth[node] + 1;
			node = i;
		}
		k = 1 + below(1 + below(40));
		add(node, 1, below(500), k, k * MS);
	}
	free(depth);
}

/* ---------------------------------------------------------------- files */

/* A recording of nothing: it holds the events and the machine. */
static void
describe(bool is_hostile)
{
	static const char *const names[MAX_EVENTS] = {
		"proc", "cpu-clock", "cycles"
	};
	struct prof_event_info info;
	struct prof_writer *writer;
	struct prof_err error;
	uint32_t i;

	writer = prof_writer_open(work_path("x.dtp"), &error);
	CHECK(writer != NULL);
	CHECK(prof_writer_info(writer, "command", is_hostile ? hostile[0] :
	    "known --answer") == 0);
	CHECK(prof_writer_info(writer, "machine.host", is_hostile ?
	    hostile[2] : "known-host") == 0);
	CHECK(prof_writer_info(writer, "machine.kernel", is_hostile ?
	    hostile[1] : "6.1.0") == 0);
	for (i = 0; i < MAX_EVENTS; i++) {
		memset(&info, 0, sizeof(info));
		info.pi_name = is_hostile ? hostile[i] : names[i];
		info.pi_probe = info.pi_name;
		info.pi_provider = "pmc";
		info.pi_unit = i == 1 ? "ns" : "events";
		info.pi_frequency_hz = 999;
		CHECK_OK(prof_writer_event(writer, &info),
		    prof_writer_error(writer));
	}
	CHECK_OK(prof_writer_close(writer, &error), &error);
	profile.pf_reader = prof_reader_open(work_path("x.dtp"), &error);
	CHECK(profile.pf_reader != NULL);
}

static void
finish(void)
{
	uint32_t event;

	CHECK(prof_order(&profile.pf_tree, &profile.pf_labels) == 0);
	for (event = 0; event < MAX_EVENTS; event++) {
		if (event != 2)
			continue;
		profile.pf_quality[event].pq_is_bad = 1;
		snprintf(profile.pf_quality[event].pq_text,
		    sizeof(profile.pf_quality[event].pq_text),
		    "12.0%% of samples lost\nonly %" PRIu64 " samples",
		    profile.pf_quality[event].pq_samples);
	}
	profile.pf_bucket_ns = 20 * MS;
	profile.pf_from_ns = 1000 * MS;
	profile.pf_to_ns = 11000 * MS;
}

int
main(int argc, char **argv)
{
	const char *ratio = getenv("RATIO");
	struct prof_flame_options options = {
		.fl_size = sizeof(options), .fl_ratio = ratio != NULL,
	};
	struct prof_err error = { 0 };
	size_t length, n;
	FILE *file;
	char *bytes;

	if (argc != 3)
		return (2);
	functions = calloc(7000, sizeof(*functions));
	profile.pf_nevents = MAX_EVENTS;
	profile.pf_dense = calloc(MAX_EVENTS + 1, sizeof(struct prof_dense));
	profile.pf_quality = calloc(MAX_EVENTS + 1,
	    sizeof(struct prof_quality));
	CHECK(functions != NULL && profile.pf_dense != NULL &&
	    profile.pf_quality != NULL);
	label_of("all", "", F_ALL);
	child(0, 0, false);
	describe(strcmp(argv[1], "hostile") == 0);
	if (strcmp(argv[1], "known") == 0)
		make_known(known);
	else if (strcmp(argv[1], "lines") == 0)
		make_known(lines);
	else if (strcmp(argv[1], "states") == 0)
		make_known(states);
	else if (strcmp(argv[1], "hostile") == 0)
		make_hostile();
	else if (strcmp(argv[1], "empty") != 0)
		make_many((uint32_t)strtoul(argv[1], NULL, 10));
	finish();
	n = strlen(argv[2]);
	bytes = (n > 4 && strcmp(argv[2] + n - 4, ".svg") == 0 ?
	    prof_flame_svg : prof_flame_html)(&profile, &options, &length,
	    &error);
	if (bytes == NULL)
		CHECK_OK(-1, &error);
	file = fopen(argv[2], "we");
	CHECK(file != NULL && fwrite(bytes, 1, length, file) == length &&
	    fclose(file) == 0);
	return (0);
}
