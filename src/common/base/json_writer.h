/*
 * json_writer.h - writes JSON: where commas, spaces and lines go, and how texts are quoted.
 *
 *	struct json_writer w = JSON_WRITER(out, JSON_FILE);
 *
 *	json_object(&w, NULL);
 *	json_put_number(&w, "pid", pid);
 *	json_array(&w, "threads");
 *	json_put_text(&w, NULL, "main");
 *	json_end(&w);
 *	json_end(&w);
 *
 * An item of an array has no key: NULL. What is written outermost ends its line. Errors stay in the buffer. Normal
 * code; what is written is read back by profile/readers/input/json_pull.h.
 */
#ifndef JSTROBE_BASE_JSON_WRITER_H
#define JSTROBE_BASE_JSON_WRITER_H

#include "common/base/buffer.h"

enum json_layout {
	JSON_FILE, /* a line for each member of the outermost object, and for each item of an array in it */
	JSON_LINE, /* all on one line, without spaces */
	JSON_PAGE, /* lines as in a file, without spaces; safe inside <script>: "<" is written as an escape */
};

struct json_writer {
	struct buffer *out;
	enum json_layout layout;
	unsigned depth;  /* objects and arrays that have not ended */
	uint64_t arrays; /* bit by depth: it is one */
	bool filled;     /* the innermost one holds something */
};

#define JSON_WRITER(out, layout) {(out), (layout), 0, 0, false}

/*
 * Append TEXT as a quoted JSON string (invalid UTF-8 becomes U+FFFD). What a terminal would obey is written as \uXXXX,
 * which means the same.
 */
void json_quote(struct buffer *b, const char *text);
/* Begin an object or an array, at most 63 in each other, and end the innermost one. */
void json_object(struct json_writer *w, const char *key);
void json_array(struct json_writer *w, const char *key);
void json_end(struct json_writer *w);

void json_put_number(struct json_writer *w, const char *key, uint64_t value);
/* TEXT (NULL: "") quoted. */
void json_put_text(struct json_writer *w, const char *key, const char *text);
void json_put_bool(struct json_writer *w, const char *key, bool value);
/* VALUE is JSON already: a number with a fraction, null, a text that was quoted before. */
void json_put_value(struct json_writer *w, const char *key, const char *value);
/* What is appended to the buffer in between is a text that needs no quoting, such as base64. */
void json_begin_text(struct json_writer *w, const char *key);
void json_end_text(struct json_writer *w);

/* Several members, json_put_numbers(&w, {"samples", n}, {"weight", ns}). */
struct json_number {
	const char *key;
	uint64_t value;
};
struct json_text {
	const char *key, *text;
};
#define json_put_numbers(w, ...) json_put_number_list(w, (const struct json_number[]){__VA_ARGS__, {NULL, 0}})
#define json_put_texts(w, ...) json_put_text_list(w, (const struct json_text[]){__VA_ARGS__, {NULL, NULL}})
/* LIST ends with a member without key. */
void json_put_number_list(struct json_writer *w, const struct json_number *list);
void json_put_text_list(struct json_writer *w, const struct json_text *list);
/* An array of COUNT objects under KEY; PUT puts the members of item I of DATA. */
typedef void json_put_item(struct json_writer *w, uint32_t i, const void *data);
void json_put_objects(struct json_writer *w, const char *key, uint32_t count, json_put_item *put, const void *data);

#endif
