/*
 * top.h - what `jstrobe top` knows of a JVM: names and stacks of a live stream, and what its samples add up to between
 * two screens.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_H
#define JSTROBE_CLI_LIVE_TOP_H

#include "cli/live/top_history.h"
#include "cli/live/top_window.h"
#include "common/base/buffer.h"
#include "common/base/strings.h"
#include "common/words/events.h"

struct top_event {
	uint32_t name;          /* numbers of texts are those of model.strings */
	enum weight_kind kind;
	uint64_t interval;
};

struct top_frame {
	uint32_t text;
	uint8_t kind;           /* enum frame_kind */
};

/* A stack, root first; a frame that is in it more than twice is there at its outermost and its innermost place. */
struct top_stack {
	uint32_t *frames, count; /* numbers in model.frames */
};

struct top_model {
	struct strings strings;
	VECTOR(struct top_frame) frames;
	struct map by_frame;             /* text and kind → frame + 1 */
	VECTOR(struct top_stack) stacks; /* by id */
	size_t stacks_bytes;             /* of what they point to */
	struct top_event events[TOP_EVENTS];
	unsigned event_count;
	unsigned main_event;             /* whose samples and losses the first line has: the first of CPU time */
	uint32_t pid, cpus, main_class, jdk;
	struct top_books books;          /* of now */
	struct top_window gathered;      /* since the last screen */
	struct top_window shown;         /* what the screen shows */
	uint64_t samples;                /* of the main event, in all that was shown so far, and is */
	struct top_history history;
};

/* Take in one record, N bytes without line end. False: it is none (the reader goes on with the next one). */
bool top_take(struct top_model *m, const char *line, size_t n);
/*
 * What was gathered, in SPAN ns (0: as its samples say), is what the screen shows from now on; gathering begins anew.
 * Stacks, names and books stay.
 */
void top_next(struct top_model *m, uint64_t span);
/* Another stream begins, of the same JVM: events, stacks and books are those that it will say. */
void top_begin(struct top_model *m);
/* Memory that it takes, about. */
size_t top_bytes(const struct top_model *m);
void top_free(struct top_model *m);

/* The first event of KIND; TOP_EVENTS: there is none. */
unsigned top_event_of(const struct top_model *m, enum weight_kind kind);

#endif
