/*
 * aggregate_io.h - what the aggregate keeps of the event `io` beside stacks: sums by what calls were about. Inner
 * header of the collect room.
 *
 * A line is found by the number that the source has given to a name, which it has until the session's end; the text is
 * kept for longer. Beyond IO_LINES lines what is new stands under its kind.
 */
#ifndef JSTROBE_COLLECT_AGGREGATE_IO_H
#define JSTROBE_COLLECT_AGGREGATE_IO_H

#include "common/base/map.h"
#include "common/base/pages.h"
#include "common/base/strings.h"
#include "common/words/enum_names.h"

#define IO_LINES 8192u
#define IO_PARTS 1024u /* of a call */

struct io_sum {
	uint32_t text;      /* number in io_sums.texts; 0: others of this kind */
	uint8_t operation;  /* enum io_operation */
	uint8_t kind;       /* enum io_kind */
	uint64_t calls;     /* that have ended, in parts of 1 / IO_PARTS */
	uint64_t bytes;
	uint64_t time, idle; /* ns; idle: until a client wanted something, beside `time` */
	uint64_t longest;   /* ns, of a sample */
};

struct io_sums {
	PAGED(struct io_sum) lines;
	struct strings texts;
	struct map by_key;  /* name, operation and kind → index + 1 */
};

struct collector;
struct sink_event;
/* Add E, of the event. Collector's lock held. */
void aggregate_io_sum(struct collector *c, const struct sink_event *e);
/* P gets the lines, with their texts behind them, to be freed, if event E is of such calls. False: no memory. */
struct profile;
bool aggregate_io_view(const struct collector *c, uint32_t e, struct profile *p);
void aggregate_io_free(struct io_sums *s);

#endif
