/*
 * marks_page.h - what a recording has beside its samples, in the data of the page.
 */
#ifndef JSTROBE_VIEWS_MARKS_PAGE_H
#define JSTROBE_VIEWS_MARKS_PAGE_H

#include "profile/model/profile_marks.h"

struct json_writer;

void marks_page_put(struct json_writer *w, const struct profile_marks *m);

#endif
