/*
 * stages.h - what is set up in order and undone in the reverse one, as a table: a session is one.
 *
 * Neither knows what a stage does. Normal code; one thread at a time.
 */
#ifndef JSTROBE_SESSION_STAGES_H
#define JSTROBE_SESSION_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base/error.h"

#define STAGES_MAX 64

struct stage {
	const char *name;
	bool (*needed)(void);             /* whether this session has the stage at all; NULL: each has */
	/* 0, or a negative errno: then it has undone itself what it had done. NULL: it only has an end. */
	int (*begin)(struct error *err);
	/*
	 * Undo it; NULL: there is nothing to undo. 0, or -EINPROGRESS: a thread is held, as by a debugger; ERR says
	 * which. It is called again.
	 */
	int (*end)(struct error *err);
};

struct stages {
	const struct stage *table;
	uint32_t count;           /* at most STAGES_MAX */
	uint64_t begun;           /* a bit for each stage that has begun and not ended */
};

/*
 * Begin all that are needed. 0, or the negative errno of the one that failed, in ERR; those before it have ended then,
 * but for what is held (stages_end goes on there). FAIL: the name of one that fails without being tried, for tests;
 * "" = none.
 */
int stages_begin(struct stages *s, const char *fail, struct error *err);
/* End what has begun, the last one first, down to and with DOWN_TO; NULL: all. 0; -EINPROGRESS: call it again. */
int stages_end(struct stages *s, const char *down_to, struct error *err);

#endif
