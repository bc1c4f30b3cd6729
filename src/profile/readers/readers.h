/*
 * readers.h - the door of the readers room: files that hold profiles already, back into `struct profile`.
 *
 * Recordings in the JFR format (our own, the JDK's, async-profiler's), collapsed stacks, files of others. The command
 * alone uses it. docs/use/convert.md tells users what is read from what.
 */
#ifndef JSTROBE_READERS_READERS_H
#define JSTROBE_READERS_READERS_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/model/profile.h"
#include "profile/model/surroundings.h"

struct conversion;

/*
 * Read the file called NAME as O says (families, states, filter, from, to, threads, lines; MAIN_ONLY: of
 * several events that were not asked for only the most important one). *RESULT is to be freed. 0, or a
 * negative errno with the reason: also when there is not one sample of what was asked for.
 */
int readers_read(const char *name, const struct options *o, bool main_only, struct conversion **result,
		 struct error *err);
/*
 * From now on STEP is told how far each reading is, byte DONE of OF, on the thread that reads; false from it: the file
 * is read no further, and what was read is the result, with a note. NULL: it is told no more. Whether the last one was:
 */
typedef bool readers_step(uint64_t done, uint64_t of);
void readers_watch(readers_step *step);
bool readers_were_stopped(void);
/* The profiles, one of each event; they live as long as C. */
const struct profile *const *convert_profiles(const struct conversion *c, uint32_t *count);
/* What went on around the samples, as the file says it; nothing of it may be known. NULL: of several sessions. */
const struct surroundings *readers_around(const struct conversion *c);
/* Sentences, a line each, on what was not read or not shown; "" = all was. */
const char *readers_notes(const struct conversion *c);
/* How large a result is too large for a file of this size: names of megabytes may stand in each of its frames. */
uint64_t readers_most_bytes(const struct conversion *c);
void readers_free(struct conversion *c);

/*
 * Write the recording NAME anew to FD, every chunk of it finished. NOTES gets sentences on what was
 * left out. 0 or a negative errno with the reason.
 */
int readers_repair(const char *name, int fd, struct buffer *notes, struct error *err);

#endif
