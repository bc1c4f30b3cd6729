/*
 * profile_marks.h - what a recording has beside its samples, as the page shows it: pauses, spans and events of the
 * program with their times, and of all other events how many there were. Plain data, any thread.
 *
 * Of each name the longest marks are kept one by one, PROFILE_MARKS in all. Of all others it is known in which part of
 * the time they began, and all are counted in the distribution.
 */
#ifndef JSTROBE_MODEL_PROFILE_MARKS_H
#define JSTROBE_MODEL_PROFILE_MARKS_H

#include <string.h>

#include "common/base/base.h"

enum mark_kind {
	MARK_KIND_PAUSE,     /* the program stood still for the GC */
	MARK_KIND_GC,        /* a collection as a whole, by the sum of its pauses: where no pause is told of */
	MARK_KIND_SAFEPOINT, /* until all threads stood still */
	MARK_KIND_OPERATION, /* of the JVM, at a safepoint */
	MARK_KIND_SPAN,      /* time that the program has published */
	MARK_KIND_EVENT,     /* a moment of that */
	MARK_KINDS
};

/* What the JVM reports of itself again and again. */
enum mark_row {
	MARK_ROW_CPU,        /* of the process, in user and kernel mode: millionths of all CPUs of the machine */
	MARK_ROW_MACHINE,    /* of all processes, the same */
	MARK_ROW_CORES,      /* how many CPUs the machine has */
	MARK_ROW_HEAP_FULL,  /* bytes in use before a collection */
	MARK_ROW_HEAP,       /* … after it */
	MARK_ROW_HEAP_READ,  /* … when it was next read, as we do each second: later than after it, so more */
	MARK_ROW_DEOPTS,     /* deoptimisations, each a 1 */
	MARK_ROW_LOADS,      /* classes that were loaded, each a 1 */
	MARK_ROW_CLASSES,    /* … since the JVM's start */
	MARK_ROWS
};

#define PROFILE_MARK_PARTS 1024  /* of the time */
#define PROFILE_MARK_OCTAVE 16   /* steps of the distribution from a number to its double */
#define PROFILE_MARK_STEPS (61 * PROFILE_MARK_OCTAVE)

struct profile_mark_name {
	uint8_t kind;           /* enum mark_kind */
	const char *name;       /* never NULL; "" = not known, or one of too many */
	uint64_t count, sum, longest; /* ns */
	uint64_t kept;          /* marks that are kept one by one */
	const uint32_t *parts;  /* of those that are not: how many began in each part; NULL: all are kept */
	const uint32_t *steps;  /* how many lasted how long, see mark_step; NULL: they have no length */
	bool estimated;         /* all of this but those that are kept: of a part of a file's time, in proportion */
};

struct profile_mark {
	uint64_t at, duration;  /* ns since the profile's start */
	uint32_t name;          /* index into names */
	uint32_t thread;        /* index into threads, or PROFILE_NO_THREAD */
	uint32_t gc;            /* index into gcs + 1; 0: of none */
};

struct profile_mark_gc {
	const char *name, *cause;
};

struct profile_mark_thread {
	uint32_t tid;
	const char *name;
};

/* Events of one type. */
struct profile_other_event {
	const char *type;       /* "jdk.ThreadStart" */
	uint64_t count, time, longest; /* ns */
	uint64_t first, last;   /* ns since the profile's start */
	const char *number;     /* a field in bytes; NULL: it has none */
	uint64_t number_sum, number_most;
	bool estimated;         /* time and number_sum are, from those that were read, as longest and most are */
};

/* What was reported in one part of the time. */
struct profile_mark_part {
	uint64_t count, min, max, sum, last; /* count 0: nothing */
	uint64_t last_at;       /* ns since the profile's start */
};

struct profile_marks {
	const struct profile_mark_name *names;
	const struct profile_mark *items; /* by time */
	const struct profile_mark_gc *gcs;
	const struct profile_mark_thread *threads;
	const struct profile_other_event *events; /* the most frequent ones first */
	uint32_t name_count, item_count, gc_count, thread_count, event_count;
	const struct profile_mark_part *rows[MARK_ROWS]; /* PROFILE_MARK_PARTS each; NULL: nothing was reported */
	uint64_t duration;      /* ns, of all parts */
};

/* The step of the distribution that NS is of: exact up to PROFILE_MARK_OCTAVE, to a sixteenth above. */
static inline unsigned mark_step(uint64_t ns)
{
	unsigned octave;

	if (ns < PROFILE_MARK_OCTAVE)
		return (unsigned)ns;
	octave = 63 - (unsigned)__builtin_clzll(ns) - 4;
	return octave * PROFILE_MARK_OCTAVE + (unsigned)(ns >> octave);
}

/* The shortest that is of STEP. */
static inline uint64_t mark_step_begin(unsigned step)
{
	unsigned octave = step < 2 * PROFILE_MARK_OCTAVE ? 0 : step / PROFILE_MARK_OCTAVE - 1;

	return (uint64_t)(step - octave * PROFILE_MARK_OCTAVE) << octave;
}

/* What JSON calls KIND; NULL: there is no such. */
static inline const char *mark_kind_word(unsigned kind)
{
	static const char *const words[MARK_KINDS] = {"pause", "collection", "safepoint", "operation", "span", "event"};

	return kind < MARK_KINDS ? words[kind] : NULL;
}

/* What JSON calls ROW; NULL: there is no such. */
static inline const char *mark_row_word(unsigned row)
{
	static const char *const words[MARK_ROWS] = {
		"process_cpu", "machine_cpu", "cpus", "heap_before_gc", "heap_after_gc", "heap_read",
		"deoptimisations", "classes_loaded", "classes_loaded_ever",
	};

	return row < MARK_ROWS ? words[row] : NULL;
}

/* The numbers of what was reported in a part: what JSON calls them, and number I of P. */
#define MARK_PART_NUMBERS 6
static inline const char *const *mark_part_words(void)
{
	static const char *const words[MARK_PART_NUMBERS] = {"count", "min", "max", "sum", "last", "last_at_ns"};

	return words;
}

static inline uint64_t *mark_part_number(struct profile_mark_part *p, unsigned i)
{
	uint64_t *const numbers[MARK_PART_NUMBERS] = {&p->count, &p->min, &p->max, &p->sum, &p->last, &p->last_at};

	return numbers[i];
}

/* MARK_ROWS: it is none. */
static inline enum mark_row mark_row_by_word(const char *word)
{
	unsigned row = 0;

	while (row < MARK_ROWS && strcmp(mark_row_word(row), word) != 0)
		row++;
	return (enum mark_row)row;
}

/* MARK_KINDS: it is none. */
static inline enum mark_kind mark_kind_by_word(const char *word)
{
	unsigned kind = 0;

	while (kind < MARK_KINDS && strcmp(mark_kind_word(kind), word) != 0)
		kind++;
	return (enum mark_kind)kind;
}

#endif
