/*
 * page_data.h - the data that the report page draws. Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_PAGE_PAGE_DATA_H
#define JSTROBE_WRITERS_PAGE_PAGE_DATA_H

#include "profile/writers/format.h"

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

#endif
