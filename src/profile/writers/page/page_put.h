/*
 * page_put.h - the pieces that a page is made of: what stands around its data, and of those, which are JSON_PAGE,
 * bytes as one member, which is what a tree of a million nodes fits into. Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_PAGE_PAGE_PUT_H
#define JSTROBE_WRITERS_PAGE_PAGE_PUT_H

#include "common/base/json_writer.h"
#include "profile/writers/format.h"

/* How a node of the tree begins; the whole of it is at the top of page_data.c. */
#define PAGE_HEAD_KINDS 0x08
#define PAGE_HEAD_SELF 0x10
#define PAGE_HEAD_UP_SHIFT 5
#define PAGE_HEAD_UP_MORE 7

/*
 * Append what stands in front of the data, with TITLE in the window's title and REPORT, a text, for browsers without
 * JavaScript; and what stands behind the data.
 */
void page_begin(struct buffer *out, const char *title, const char *report);
void page_end(struct buffer *out);

/*
 * Bytes as a member of an object: base64; or, where the command makes the page and it is worth it, an object whose only
 * member `gzip` has their file of gzip in base64. web/start.js reads both.
 */
struct page_bytes {
	struct json_writer *to;
	const char *key;
	const struct format_views *views; /* NULL: base64 always */
	struct buffer bytes;
};
#define PAGE_BYTES(writer, name, options) \
	{.to = (writer), .key = (name), .views = (options)->views, .bytes = BUFFER_INIT}
void page_byte(struct page_bytes *e, unsigned byte);
/* LEB128 */
void page_varint(struct page_bytes *e, uint64_t value);
/* Write the member, and free what E has. */
void page_bytes_end(struct page_bytes *e);

/* The head of a node: KIND and flags, UP levels above a child of the node before, and its NAME. */
void page_node(struct page_bytes *e, unsigned head, uint32_t up, uint32_t name);

/* The data that the report page draws. */

struct json_writer;
struct sorted;

/* Further members of the object, over the tree as it was written. */
struct page_more {
	void (*put)(struct json_writer *w, const struct sorted *tree, const void *arg);
	const void *arg;
};

/*
 * Append P as the one JSON object that web/data.js reads, safe inside <script>, with MORE (may be NULL). 0 or
 * -ENOMEM.
 */
int page_data_put(struct buffer *out, const struct profile *p, const struct format_options *options,
		  const struct page_more *more);

/* What it has of a trace alone: names and tree in the place of those of stacks, and beside them. 0 or -ENOMEM. */
int calls_page_put(struct json_writer *w, const struct profile *p, const struct format_options *options);
/* What it has of the event io beside stacks. 0 or -ENOMEM. */
int io_page_put(struct json_writer *w, const struct profile *p, const struct format_options *options);
/* Lines "Name: value". */
void calls_page_details(const struct calls *c, struct buffer *out);

#endif
