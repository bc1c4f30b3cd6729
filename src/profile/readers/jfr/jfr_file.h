/*
 * jfr_file.h - a whole JFR file, chunk by chunk.
 */
#ifndef JSTROBE_READERS_JFR_JFR_FILE_H
#define JSTROBE_READERS_JFR_JFR_FILE_H

#include "profile/readers/input.h"
#include "profile/readers/jfr/event_handlers.h"
#include "profile/readers/jfr/recording_info.h"

/*
 * Gather the samples of IN that SELECTION lets through in FOLD, and in FACTS what is said beside them.
 * Damaged parts are left out and counted. THREADS (1 or more) of them read, the caller's among them. 0;
 * -ENOMEM; -EBADMSG if there is nothing that can be read.
 */
int recording_read(const struct input *in, const struct selection *selection, struct read_aggregate *aggregate,
		   struct recording_info *info, bool lines, unsigned threads);
/* When IN begins and ends, ns since 1970. 0, -ENOMEM, -EBADMSG. */
int recording_span(const struct input *in, int64_t *start, int64_t *end);
/*
 * Write the recording IN anew to OUT, with every chunk finished: open ones and those that were cut end at
 * their last whole event. FACTS says what was left out. 0, -EBADMSG, -ENOMEM; OUT keeps its own errors.
 */
int recording_repair(const struct input *in, struct buffer *out, struct recording_info *info);

#endif
