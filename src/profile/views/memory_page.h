/*
 * memory_page.h - in the page's data, for web/memory.js: what memory was for. Inner header of the views room.
 */
#ifndef JSTROBE_VIEWS_MEMORY_PAGE_H
#define JSTROBE_VIEWS_MEMORY_PAGE_H

#include <string.h>

#include "profile/model/format_options.h"
#include "profile/model/profile_unit.h"

struct json_writer;

/* Whether P's weights are bytes of memory. */
static inline bool memory_page_is_of(const struct profile *p)
{
	return !p->calls && strcmp(profile_unit(p), "bytes") == 0;
}

/* The member `memory` of the object that is open: memory_page.c says what it holds. 0 or -ENOMEM. */
int memory_page_put(struct json_writer *to, const struct profile *p, const struct format_options *options);

#endif
