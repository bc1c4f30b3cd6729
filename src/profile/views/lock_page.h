/*
 * lock_page.h - in the page's data, for web/locks.js: what threads waited for, who they were, and who had it. Inner
 * header of the room.
 */
#ifndef JSTROBE_VIEWS_LOCK_PAGE_H
#define JSTROBE_VIEWS_LOCK_PAGE_H

#include "profile/model/work/contention.h"

struct json_writer;

/* Members of the object that is open, of P's contention C: lock_page.c says which. 0 or -ENOMEM. */
int lock_page_put(struct json_writer *to, const struct profile *p, const struct contention *c);

#endif
