/*
 * io_lines.h - what calls of our own recordings read, wrote and the like, by what they were about: the lines that the
 * session's own result has (agent/collect/aggregate_io.c). Normal code, one thread at a time.
 */
#ifndef JSTROBE_READERS_IO_LINES_H
#define JSTROBE_READERS_IO_LINES_H

#include "common/base/map.h"
#include "common/base/strings.h"
#include "common/base/vector.h"
#include "profile/model/profile.h"

/* One call, as its events tell it. */
struct io_call {
	uint64_t weight, idle;    /* ns that it stands for; one of them is 0 */
	uint64_t whole;           /* the same with what is outside of the part of the time that is asked for */
	uint64_t bytes, duration; /* its own; ns */
	bool open, estimated;     /* it goes on; it stands for others */
};

struct io_line {
	uint32_t target; /* whose number that is, the owner of the lines knows */
	uint8_t operation, kind;
	uint64_t calls; /* IO_LINE_PARTS each */
	uint64_t bytes, time, idle, longest;
	/* squared, of moments that weigh 1 ns each: to be multiplied by the interval */
	double calls_error, bytes_error, time_error, idle_error;
};
#define IO_LINE_PARTS 1024

/* Zeroed: empty. */
struct io_lines {
	VECTOR(struct io_line) items;
	struct map by_key;
	uint64_t interval; /* the least that a call stood for that stood for others; 0: there was none */
};

/* The line of TARGET, OPERATION and KIND, made if need be. NULL: no memory. */
struct io_line *io_lines_of(struct io_lines *lines, uint32_t target, uint8_t operation, uint8_t kind);
void io_lines_add(struct io_lines *lines, struct io_line *line, const struct io_call *call);
/* What FROM's LINE says goes to TARGET of TO. False: no memory. */
bool io_lines_join(struct io_lines *to, const struct io_lines *from, const struct io_line *line, uint32_t target);
/* P gets them, the longest first, to be freed, and their interval, if it has none. False: no memory. */
bool io_lines_view(const struct io_lines *lines, const struct strings *targets, struct profile *p);
/* Empty, with its memory. */
void io_lines_clear(struct io_lines *lines);
void io_lines_free(struct io_lines *lines);

#endif
