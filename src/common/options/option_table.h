/*
 * option_table.h - options.def as an array. Inner header of the room.
 */
#ifndef JSTROBE_OPTIONS_OPTION_TABLE_H
#define JSTROBE_OPTIONS_OPTION_TABLE_H

#include "common/options/options.h"
#include "common/words/events.h"

enum option_kind {
	OPTION_END,         /* behind the last one */
	OPTION_NONE,        /* not available yet */
	OPTION_ACTION,      /* a bare word; `field` is the action */
	OPTION_FLAG,        /* bool */
	OPTION_TEXT,        /* char[] */
	OPTION_COUNT,       /* uint32_t */
	OPTION_DEPTH,       /* uint32_t, and depth_kept with N/M */
	OPTION_PERCENT,     /* uint32_t, thousandths of a percent */
	OPTION_PATTERNS,    /* char[], a line each time it is given */
	OPTION_CSTACK,      /* char[], a word */
	OPTION_WORD,        /* char[], one of those in `arg`, apart by | */
	OPTION_MOMENT,      /* char[], as options_moment reads it */
	OPTION_THREADS,     /* char[], a list of numbers and ranges */
	OPTION_SIGNAL,      /* uint32_t; N or N/M */
	OPTION_OMITTED,     /* uint32_t; a sum of parts, or mem */
	OPTION_RATIO,       /* uint32_t; thousandths of a percent + 1, from 10% or 0.1 */
	OPTION_MODE,        /* uint32_t; octal */
	OPTION_IGNORED,     /* taken without effect */
	OPTION_TIME,        /* uint64_t ns; a bare number is ns, m is milli */
	OPTION_DURATION,    /* uint64_t ns; a bare number is seconds, m is minutes */
	OPTION_SIZE,        /* uint64_t bytes; k, m, g are 1024, 1024², 1024³ */
	OPTION_INTERVAL,    /* uint64_t, as OPTION_TIME, or a number of events */
	OPTION_EVENT,       /* char[], a list of events */
	OPTION_PERIOD_MS,   /* uint64_t ns; a number of ms */
	OPTION_TRACE,       /* char[], a line each time */
	OPTION_PROFILE,     /* char[], "default" if nothing is said */
	OPTION_TIMED_EVENT, /* uint64_t ns, or 1; adds the event of its name to the others */
	OPTION_SIZED_EVENT, /* the same with bytes */
	OPTION_EVERY_EVENT, /* uint64_t, 1; the same of an event each of which is a sample */
	OPTION_EVENT_WORD,  /* the option's own name is the event */
	OPTION_FORMAT,      /* a list of format words */
	OPTION_FORMAT_WORD, /* one of them; `word` is the format's name */
	OPTION_FEATURES,    /* a list of words */
	OPTION_RATE_LIMIT,  /* uint32_t, and `rate`: a list of EVENT:N */
	OPTION_LOGLEVEL,
};

enum option_group {
	OPTIONS_ACTIONS,
	OPTIONS_SAMPLING,
	OPTIONS_TRACING,
	OPTIONS_OUTPUT,
	OPTIONS_CONVERTING,
	OPTIONS_TALKING,
	OPTIONS_TESTING,
	OPTIONS_INTERNALS,
	OPTION_GROUPS
};

enum option_when { WHEN_NOW, WHEN_TEST, WHEN_INTERNAL, WHEN_LATER };

struct option {
	enum option_kind kind;
	size_t offset, size; /* in struct options */
	const char *word;    /* FORMAT_WORD: the format */
	int action;          /* ACTION: the action */
	const char *agent, *name;
	char letter;
	const char *arg;
	uint64_t min, max;
	enum option_group group;
	enum option_when when;
};

/* Ends with OPTION_END. */
extern const struct option option_table[];
/* What only those who read about options see, row by row: the library does without. */
extern const struct option_text {
	const char *initial, *help;
} option_texts[];

static inline const struct option_text *option_text(const struct option *p)
{
	return &option_texts[p - option_table];
}

extern const char *const option_group_names[OPTION_GROUPS];

/* True if TEXT[0..N) is the whole of WORD. */
bool option_is(const char *word, const char *text, size_t n);
/* The same, letter case aside: async-profiler's callers write logLevel and the like. */
bool option_is_called(const char *word, const char *text, size_t n);

/* Store VALUE (NULL = none given) for OPTION in O. NAME is how the user spelled it. */
int option_apply(const struct option *option, const char *name, const char *value,
		 struct options *o, struct error *err);
/* Add a sentence to the notes of O; what has no room is left out. */
void option_note(struct options *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Read a time. `minutes`: m means minutes and a bare number seconds; otherwise
 * m means milliseconds and a bare number nanoseconds.
 * 0, -EINVAL (no time), -ERANGE (negative or beyond 2^63 ns).
 */
int option_time(const char *text, bool minutes, uint64_t *ns);
/* Read a number of events (1k is 1024, as async-profiler has it) or a time. */
int option_interval(const char *text, uint64_t *value);
/*
 * convert: whether NAME is the word for events of a file, alloc as in --alloc; then it is added to those
 * of O. And a list of them, apart by commas. Errors as usual.
 */
bool option_is_family(const char *name, size_t n);
int option_add_families(const char *list, struct options *o, struct error *err);
/* The option that LETTER is short for, in convert those of jfrconv; NULL. */
const struct option *option_by_letter(const struct options *o, char letter);
/* The letter of P; 0: none. In convert and diff (FILES) it may be another's. */
char option_letter(const struct option *p, bool files);
/* Whether COMMAND takes P (taken.c). */
bool option_is_taken(const char *command, const struct option *p);
/* Append the commands that take P. */
void option_put_takers(const struct option *p, const char *between, struct buffer *out);
/* Whether LIST, names apart by blanks, has NAME. */
bool option_is_named(const char *list, const char *name);
/* Whether a word of the command line was P. */
static inline bool option_is_given(const struct options *o, const struct option *p)
{
	size_t row = (size_t)(p - option_table);

	return o->given[row / 64] >> (row % 64) & 1;
}
/* -EINVAL when the interval does not suit the first event. */
int option_check_interval(struct options *o, struct error *err);
/*
 * All has been read, EVENT_SAID: a list of events, too. The option wall joins them, or stands alone if none
 * is asked for. -EINVAL, also when the interval does not suit the first event (finish.c).
 */
int option_finish_events(struct options *o, bool event_said, struct error *err);
/* Take VALUE as the list of events, or, if it is one of several asked for already, as the one to show. */
int option_events_apply(const char *value, struct options *o, struct error *err);
/* Whether ITEM of an agent's string, which is no option, may be an event. */
bool option_is_event(const char *item);
/* Whether ITEM is a Java method: an event whose samples are its calls. */
bool option_is_method(const char *item);
/* Whether LIST holds NAME, with an interval or without. */
bool option_holds(const char *list, const char *name);
/* Add one event to the list of O. */
int option_add_event(const char *name, struct options *o, struct error *err);
/* Read a whole number. 0, -EINVAL, -ERANGE. */
int option_count(const char *text, uint64_t *value);
/* Read a number of bytes. 0, -EINVAL, -ERANGE. */
int option_size(const char *text, uint64_t *bytes);
/* Read a percentage as thousandths of a percent, rounded down. 0, -EINVAL, -ERANGE. */
int option_percent(const char *text, uint32_t *thousandths);
/* The same of a part of something: 10%, or 0.1. */
int option_ratio(const char *text, uint32_t *thousandths);
/* NS in the largest unit that needs no fraction: "50us". */
void option_time_text(uint64_t ns, char *out, size_t size);
/* BYTES in the same way: "512m". */
/* Whether P is an event with an interval of its own, uint64_t (see options_event_interval). */
static inline bool option_has_interval(const struct option *p)
{
	return p->kind == OPTION_TIMED_EVENT || p->kind == OPTION_SIZED_EVENT;
}
/* The same, or one without. */
static inline bool option_is_own_event(const struct option *p)
{
	return option_has_interval(p) || p->kind == OPTION_EVERY_EVENT;
}
void option_size_text(uint64_t bytes, char *out, size_t size);

#endif
