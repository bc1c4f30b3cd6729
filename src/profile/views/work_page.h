/*
 * work_page.h - what the page shows of work. Inner header of the views room.
 */
#ifndef JSTROBE_VIEWS_WORK_PAGE_H
#define JSTROBE_VIEWS_WORK_PAGE_H

#include "profile/model/work/contention.h"
#include "profile/views/views.h"

/* The member `work` of the page's data (web/work.js). 0 or -ENOMEM. */
int work_page(struct json_writer *to, const struct profile *p, struct work *w);

#endif
