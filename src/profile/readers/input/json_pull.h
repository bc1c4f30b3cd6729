/*
 * json_pull.h - reads JSON value by value, front to back, without a tree of it in memory: results of ours are
 * megabytes of small numbers and names.
 *
 *	if (json_open(&j, '{'))
 *		while ((key = json_key(&j)))
 *			if (!strcmp(key, "pid"))
 *				pid = json_number(&j);
 *			else
 *				json_skip(&j);
 *
 * Each value is read by exactly one call; after an error (`error` says where) all calls return 0, false or NULL.
 * Numbers are what we write: whole ones from 0 on; of others, which may have an exponent, the whole part counts. What
 * others write may be any number: json_real.
 */
#ifndef JSTROBE_READERS_JSON_PULL_H
#define JSTROBE_READERS_JSON_PULL_H

#include "common/base/buffer.h"

#define JSON_DEPTH 64

struct json {
	size_t longest; /* string that is taken, bytes; 0: any */
	const char *begin, *at, *end;
	const char *error;       /* what was expected; NULL = nothing wrong so far */
	struct buffer text;      /* of the last string */
	unsigned depth;
	bool first;              /* the container was just opened */
};

void json_init(struct json *j, const void *bytes, size_t size);
void json_free(struct json *j);
/* Enter an object or array, by its opening character; it is left where json_key or json_item finds its end. */
bool json_open(struct json *j, char bracket);
/* The next key, valid until the next string; NULL: the object ended. */
const char *json_key(struct json *j);
/* Whether there is another item; false: the array ended. */
bool json_item(struct json *j);
/* A string, valid until the next one, with *LENGTH bytes (may be NULL); "" on errors. */
const char *json_string(struct json *j, size_t *length);
uint64_t json_number(struct json *j);
/* The same of one that may be below 0: without its sign. */
uint64_t json_signed(struct json *j, bool *minus);
/* It is an error, unless there was one before, that EXPECTED is not there. False. */
bool json_fail(struct json *j, const char *expected);
/* A number of any kind, whatever the locale. */
long double json_real(struct json *j);
/* A member that is a number, and where it goes; a list of them ends with one without key. */
struct json_field {
	const char *key;
	uint64_t *to;
};
/* Read the value of KEY to where LIST says. False: KEY is not in the list, the value is still to be read. */
bool json_take(struct json *j, const char *key, const struct json_field *list);
#define json_take_numbers(j, key, ...) json_take(j, key, (const struct json_field[]){__VA_ARGS__, {NULL, NULL}})
/* Pass over one value of any kind. */
void json_skip(struct json *j);
/* The character that the next value begins with, 0 at the end. */
char json_peek(struct json *j);

#endif
