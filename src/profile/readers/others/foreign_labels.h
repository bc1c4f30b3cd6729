/*
 * foreign_labels.h - what files of other profilers say beside a stack: its thread, what the thread did and worked for.
 * Inner header of the readers room.
 *
 * Zeroed but for `to` and what is said of the file. For each sample: foreign_labels_begin, each label, _place.
 */
#ifndef JSTROBE_READERS_FOREIGN_LABELS_H
#define JSTROBE_READERS_FOREIGN_LABELS_H

#include "profile/readers/others/foreign_events.h"
#include "profile/readers/read_contexts.h"

struct foreign_labels {
	struct read_aggregate *to;
	const char *prefix;   /* before labels of the program that are called like ours: "label:" */
	/* of the present sample */
	struct buffer name, labels, key; /* name of the thread; labels as struct profile_trace_context has them */
	uint64_t tid;
	enum thread_state state;
	char trace[40], span[24];
};

void foreign_labels_begin(struct foreign_labels *l);
/* The sample has the label KEY with a text, or with a number. */
void foreign_labels_text(struct foreign_labels *l, const struct foreign_text *key, const struct foreign_text *value);
void foreign_labels_number(struct foreign_labels *l, const struct foreign_text *key, uint64_t number);
/* Where a sample with STACK and these labels is to be counted, of EVENT. Failures are those of the aggregate. */
struct foreign_place foreign_labels_place(struct foreign_labels *l, const struct foreign_event *event, uint32_t stack);
void foreign_labels_free(struct foreign_labels *l);

#endif
