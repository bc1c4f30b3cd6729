/*
 * firefox_tables.h - what all threads of a file for the Firefox Profiler share: texts, functions, frames and stacks,
 * each once and by number. Normal code, one thread at a time.
 */
#ifndef JSTROBE_EXPORTS_FIREFOX_TABLES_H
#define JSTROBE_EXPORTS_FIREFOX_TABLES_H

#include "common/base/json_writer.h"
#include "profile/model/format_options.h"
#include "profile/model/name_table.h"
#include "profile/model/profile.h"
#include "profile/readers/lists.h"

/* Zeroed = empty. */
struct firefox_tables {
	struct strings texts;
	struct lists text_places; /* lists of one: place in `texts`; their numbers are the file's */
	struct lists libraries;   /* lists of one: number of the name */
	struct lists functions;   /* name, library + 1 */
	struct lists frames;      /* function, line, category, subcategory */
	struct lists stacks;      /* stack of the caller + 1, frame */
	bool failed;              /* out of memory */
};

/* The number of each stack of P, innermost frame: by stack, to be freed. NULL: out of memory. */
uint32_t *firefox_stacks(struct firefox_tables *t, const struct profile *p, const struct format_options *options);
/* The member `categories` of `meta`, and `shared`. */
void firefox_put_categories(struct json_writer *w);
void firefox_put_tables(struct json_writer *w, struct firefox_tables *t);
/* A table KEY without rows; what follows are the names of its columns. */
#define firefox_put_empty_table(w, key, ...) \
	firefox_put_empty_columns(w, key, (const char *const[]){__VA_ARGS__, NULL})
void firefox_put_empty_columns(struct json_writer *w, const char *key, const char *const *columns);
void firefox_tables_free(struct firefox_tables *t);

#endif
