/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: rows told once are JSON and CSV: commas and brackets stand where
 * the forms want them, values stand in the column of their name, what is no
 * column is in JSON alone, and what is not known is null or empty.
 * Easy to get wrong for the first and the last item, for a row that tells
 * less than there are columns, and for a column that is called like a member.
 */
#include <math.h>
#include <string.h>

#include "../../cmd/dtprof/ui/msg.c"
#include "../../cmd/dtprof/ui/out.c"
#include "../../cmd/dtprof/ui/emit.c"
#include "cli-check.h"

static struct out out;

static void
is(const char *what, const char *want)
{
	CHECK(out.ou_n == strlen(want) &&
	    memcmp(out.ou_buf, want, out.ou_n) == 0, "%s: got <%.*s> not <%s>",
	    what, (int)out.ou_n, out.ou_buf, want);
	OK("%s", what);
	out_init(&out, -1);
}

/* A row with all types; their: a name of an object in the row. */
static void
tell(struct emit *em, const char *their)
{
	emit_object(em, NULL);
	EMIT(em, TEXT("name", "a\"b"), FLAG("hot", true),
	    COUNT("self", UINT64_MAX), SIGNED("change", -3));
	EMIT_ROW(em, "args", TEXT(their, "=1"));
	EMIT(em, SHARE("share", 0.25), SHARE("unknown", -1),
	    GIVEN("module", ""), HEX("address", 0x1f),
	    WHERE(false, COUNT("nowhere", 1)), KNOWN(false, COUNT("last", 1)));
	emit_close(em);
}

#define ROW	"{\"name\":\"a\\\"b\",\"hot\":true," \
    "\"self\":18446744073709551615,\"change\":-3,\"args\":{\"self\":\"=1\"}," \
    "\"share\":0.250000,\"unknown\":null,\"address\":\"0x1f\"," \
    "\"last\":null}"

static void
json(void)
{
	struct emit em;

	emit_json(&em, &out);
	emit_end(&em);
	is("an empty object", "{}\n");
	emit_json(&em, &out);
	emit_rows(&em, "none");
	emit_close(&em);
	emit_rows(&em, "two");
	tell(&em, "self");
	tell(&em, "self");
	emit_close(&em);
	emit_list(&em, "numbers");
	EMIT(&em, NUMBER(NULL, 0.1), NUMBER(NULL, NAN),
	    ROUNDED(NULL, 2.0 / 3, 3), FIXED(NULL, 2, 1),
	    NUMBERS(NULL, ((const double[]){ 1, INFINITY }), 2));
	emit_end(&em);
	is("rows and a list", "{\n\"none\":[],\n\"two\":[\n" ROW ",\n" ROW
	    "],\"numbers\":[0.10000000000000001,null,0.667,2.0,[1,null]]}\n");
}

#define CSV_ROW	"\"a\"\"b\",18446744073709551615,,0.250000,,\n"

static void
csv(void)
{
	static const char *const columns[] = { "name", "self", "low", "share",
	    "unknown", "last", NULL };
	struct emit em;

	emit_csv(&em, &out, columns, "\r\n");
	emit_column(&em, "self", true);
	emit_head(&em);
	is("the head", "name,self,low,share,unknown,last,\"self\"\r\n");
	emit_csv(&em, &out, columns, "\n");
	tell(&em, "self");
	tell(&em, "self");
	is("two rows", CSV_ROW CSV_ROW);
	emit_csv(&em, &out, columns, "\n");
	emit_column(&em, "theirs", true);
	emit_object(&em, NULL);
	EMIT_ROW(&em, "args", TEXT("theirs", "=1"));
	emit_close(&em);
	is("only the last column", ",,,,,,\"'=1\"\n");
	emit_object(&em, NULL);
	emit_close(&em);
	is("nothing told", ",,,,,,\n");
}

int
main(void)
{
	out_init(&out, -1);
	json();
	csv();
	return (0);
}
