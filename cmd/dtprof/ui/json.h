/* SPDX-License-Identifier: ISC */
/*
 * Reading JSON that others wrote: a tree in memory.  See json.c.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

enum json_type {
	JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_STRING,
	JSON_ARRAY, JSON_OBJECT
};

/* A value; members and elements are a list. */
struct json {
	enum json_type	 js_type;
	char		*js_name;	/* of a member, else NULL */
	char		*js_text;	/* STRING; no NUL inside */
	double		 js_number;
	struct json	*js_first;	/* ARRAY, OBJECT */
	struct json	*js_next;
};

/* NULL: not JSON, or no memory; why is one of a few words, static. */
struct json *json_parse(const char *text, size_t length, const char **why);
void	json_free(struct json *json);
/* A member, or NULL; json may be NULL, and no object. */
const struct json *json_get(const struct json *json, const char *name);
double	json_number(const struct json *json, const char *name,
	    double otherwise);
/* Borrowed; NULL: there is no such string. */
const char *json_text(const struct json *json, const char *name);
size_t	json_count(const struct json *json);

/* A file whole, NUL-ended, owned by the caller; NULL: errno says why. */
char	*file_read(const char *path, size_t *length);
/* The same, but nothing that is no file: no pipe holds it up. */
char	*file_read_regular(const char *path, size_t *length);

#endif /* JSON_H */
