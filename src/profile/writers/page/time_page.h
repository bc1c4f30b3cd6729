/*
 * time_page.h - what the page shows of when samples were taken. Inner header of the writers room.
 */
#ifndef JSTROBE_WRITERS_PAGE_TIME_PAGE_H
#define JSTROBE_WRITERS_PAGE_TIME_PAGE_H

#include "profile/model/profile.h"

struct format_options;
struct json_writer;
struct sorted;

/*
 * The member `time` of the page's data (web/timeline.js), over the tree of S, whose profile must say it; ACTIVITY: of
 * its stacks, NULL: not known. 0 or -ENOMEM.
 */
int time_page_put(struct json_writer *w, const struct sorted *s, const uint8_t *activity,
		  const struct format_options *options);

#endif
