/*
 * marks_json.h - what a recording has beside its samples, as the member `marks` of a result in JSON.
 */
#ifndef JSTROBE_VIEWS_MARKS_JSON_H
#define JSTROBE_VIEWS_MARKS_JSON_H

#include "profile/model/profile_marks.h"

struct json_writer;

void marks_json_put(struct json_writer *w, const struct profile_marks *m);

#endif
