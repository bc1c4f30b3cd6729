/*
 * sections.h - a text of several parts that has to fit into so many bytes: parts lose their last rows, those first that
 * have the most in proportion, and each says what it lost. As text or as JSON. Inner header of the views room.
 */
#ifndef JSTROBE_VIEWS_SECTIONS_H
#define JSTROBE_VIEWS_SECTIONS_H

#include "common/base/buffer.h"
#include "common/base/vector.h"
#include "profile/views/hot_paths.h"

struct section_row {
	const char *id; /* static; NULL: it has none */
	char *text;
	char *more;     /* what is said below it; NULL: nothing */
};

struct section {
	const char *key;      /* static: the member in JSON; several in a row with one key are one array */
	char title[240];
	unsigned share;       /* of the room, in proportion to the others */
	uint32_t least;       /* rows that stay while others have any */
	uint32_t shown;
	VECTOR(struct section_row) rows;
	struct hot_paths paths; /* instead of rows, if is_tree */
	const char *event;      /* … of that event */
	bool is_tree;
};

struct sections {
	VECTOR(struct section) items;
	bool no_memory;
};

/* A new last section, valid until the next one; NULL: out of memory, which is noted. */
struct section *sections_add(struct sections *s, const char *key, unsigned share, const char *title, ...)
	__attribute__((format(printf, 4, 5)));
/* Append a row to P with what TEXT and MORE (NULL: none) hold, both cut at 400 bytes and freed. */
void section_row(struct sections *s, struct section *p, const char *id, struct buffer *text, const char *more);
/* Write what fits into MOST bytes to OUT. 0 or a negative errno. */
int sections_write(struct sections *s, bool json, size_t most, struct buffer *out);
void sections_free(struct sections *s);

#endif
