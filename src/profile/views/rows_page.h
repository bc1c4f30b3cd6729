/*
 * rows_page.h - rows of numbers over time beside the samples. Inner header of the views room.
 */
#ifndef JSTROBE_VIEWS_ROWS_PAGE_H
#define JSTROBE_VIEWS_ROWS_PAGE_H

#include "profile/model/profile_marks.h"

struct json_writer;

/* The member `rows` of the object that is open, for web/rows.js: rows_page.c says what it holds. */
void rows_page_put(struct json_writer *w, const struct profile_marks *m);

#endif
