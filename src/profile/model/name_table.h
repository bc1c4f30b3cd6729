/*
 * name_table.h - the distinct names of a profile.
 *
 * Frames that differ only in kind (a method is interpreted, then compiled) or in
 * what a style leaves out share one name. Names are numbered from 0.
 */
#ifndef JSTROBE_MODEL_NAME_TABLE_H
#define JSTROBE_MODEL_NAME_TABLE_H

#include "common/base/strings.h"
#include "profile/model/frame_name.h"

struct name {
	uint32_t text;       /* in name_table.texts */
	uint8_t type;        /* enum frame_type */
	const char *library; /* the profile's own, of the first frame so called; or NULL */
};

struct name_table {
	struct name *names;
	uint32_t count;
	uint32_t *of_frame;  /* frame index -> name */
	uint32_t *of_thread; /* thread index -> name of its root frame */
	uint32_t no_frames;  /* name that stands for a stack without frames */

	struct strings texts;
	struct map by_text;  /* text and type → name + 1 */
	bool any_type;       /* types do not tell names apart */
};

/* Name all frames and threads of P in STYLE. 0 or -ENOMEM. Free in both cases. Normal code. */
int name_table_build(struct name_table *t, const struct profile *p, unsigned style);
void name_table_free(struct name_table *t);

static inline const char *name_text(const struct name_table *t, uint32_t name)
{
	return strings_get(&t->texts, t->names[name].text);
}

#endif
