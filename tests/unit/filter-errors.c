/* SPDX-License-Identifier: ISC */
/*
 * ASSERTION: a filter that cannot be read is refused with the column and a
 * sentence that says what was expected and what was found, and with a cure;
 * the same holds for fields that the event does not have.
 *
 * Easy to get wrong: the column behind blanks, the end of the text, an
 * unclosed quote, a single = or |.
 */
#include "filter/filter.h"
#include "names.h"

static const struct {
	const char	*expression;
	const char	*sentence;
} cases[] = {
	{ "", "empty filter" },
	{ "  ", "empty filter" },
	{ "pid == ==", "filter column 8: expected a number, found '=='" },
	{ "pid", "filter column 4: expected a comparison, such as == or <, "
	    "after the field at the end" },
	{ "pid == ", "filter column 8: expected a number at the end" },
	{ "pid = 1", "filter column 5: expected a comparison, such as == or <, "
	    "after the field, found '='" },
	{ "pid == 1 | tid == 2", "filter column 10: expected '&&', '||' or the "
	    "end, found '|'" },
	{ "pid == 1 tid == 2", "filter column 10: expected '&&', '||' or the "
	    "end, found 'tid'" },
	{ "(pid == 1", "filter column 10: expected '&&', '||' or ')' at the "
	    "end" },
	{ "pid == 1)", "filter column 9: expected '&&', '||' or the end, found "
	    "')'" },
	{ "1 == pid", "filter column 1: expected a field, such as pid, found "
	    "'1'" },
	{ "pid == x", "filter column 8: expected a number, found 'x'" },
	{ "pid == 12x", "filter column 8: expected a number, found '12x'" },
	{ "pid == 0x", "filter column 8: expected a number, found '0x'" },
	{ "pid == 08", "filter column 8: expected a number, found '08'" },
	{ "pid == -1", "filter column 8: pid is never negative" },
	{ "arg0 == 18446744073709551616", "filter column 9: the number exceeds "
	    "64 bits" },
	{ "arg0 == -9223372036854775809", "filter column 9: the number exceeds "
	    "64 bits" },
	{ "comm < \"x\"", "filter column 6: expected a comparison (==, != or "
	    "in) after comm, found '<'" },
	{ "comm == 5", "filter column 9: expected a string such as \"bash\", "
	    "found '5'" },
	{ "comm == \"bash", "filter column 9: expected a string such as "
	    "\"bash\", found '\"'" },
	{ "comm == \"sixteen-letters-\"", "filter column 9: a thread name "
	    "(comm) has at most 15 characters" },
	{ "pid == \"bash\"", "filter column 8: pid is a number, not a string" },
	{ "pid==1 && color==2", "filter column 11: an event has no field "
	    "'color'; its fields are pid tid cpu uid gid comm kernel arg0 arg1 "
	    "arg2 arg3 arg4 arg5 arg6 arg7" },
	{ "arg8 == 1", "filter column 1: an event has no field 'arg8'; its "
	    "fields are pid tid cpu uid gid comm kernel arg0 arg1 arg2 arg3 "
	    "arg4 arg5 arg6 arg7" },
	{ "pid == 1 && \x01", "filter column 13: expected a field, such as "
	    "pid, found '?'" },
	{ "pid in 1", "filter column 8: expected ( after in, found '1'" },
	{ "pid in (1", "filter column 10: expected , or ) at the end" },
	{ "pid in ()", "filter column 9: expected a number, found ')'" },
	{ "pid == comm", "filter column 8: expected a number, found 'comm'" },
	{ "!", "filter column 2: expected a field, such as pid at the end" },
};

static void
check_nesting(void)
{
	struct dtp_filter filter;
	struct prof_err error;
	char text[256];

	/* 64 levels are allowed, one more is not. */
	memset(text, '!', 65);
	strcpy(text + 64, "pid==1");
	CHECK(prof_filter_compile(text, NULL, &filter, &error) == 0,
	    "64 levels: %s", error.pe_text);
	CHECK(filter.fi_test[0].ft_yes == DTP_ACCEPT, "an even number of !");
	memset(text, '(', 65);
	strcpy(text + 65, "pid==1");
	CHECK(prof_filter_compile(text, NULL, &filter, &error) == -1 &&
	    strcmp(error.pe_text, "filter column 65: more than 64 levels of ( "
	    "and !") == 0, "65 levels: %s", error.pe_text);
}

static void
check_many(void)
{
	struct dtp_filter filter;
	struct prof_err error;
	char text[4096] = "pid==1";

	for (int n = 2; n <= 16; n++)
		strcat(text, " || pid==1");
	CHECK(prof_filter_compile(text, NULL, &filter, &error) == 0 &&
	    filter.fi_ntests == 16, "16 comparisons: %s", error.pe_text);
	strcat(text, " || pid==1");
	CHECK(prof_filter_compile(text, NULL, &filter, &error) == -1 &&
	    strcmp(error.pe_text, "too many comparisons in the filter: 17 "
	    "(at most 16)") == 0, "17 comparisons: %s", error.pe_text);
	for (int n = 0; n < 100; n++)
		strcat(text, " || pid==1");
	CHECK(prof_filter_compile(text, NULL, &filter, &error) == -1 &&
	    error.pe_code == PROF_E_FILTER, "117 comparisons");
}

int
main(void)
{
	struct dtp_filter filter;
	struct prof_err error;

	for (size_t n = 0; n < sizeof(cases) / sizeof(cases[0]); n++) {
		memset(&error, 0, sizeof(error));
		CHECK(prof_filter_compile(cases[n].expression, NULL, &filter,
		    &error) == -1, "\"%s\" was taken", cases[n].expression);
		CHECK(error.pe_code == PROF_E_FILTER &&
		    strcmp(error.pe_text, cases[n].sentence) == 0,
		    "\"%s\": %s", cases[n].expression, error.pe_text);
		CHECK(error.pe_cure[0] != '\0', "\"%s\" has no cure",
		    cases[n].expression);
	}
	check_nesting();
	check_many();
	CHECK(prof_filter_compile(NULL, NULL, &filter, &error) == 0 &&
	    filter.fi_ntests == 0, "no filter");
	return (passed());
}
