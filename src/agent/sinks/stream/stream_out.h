/*
 * stream_out.h - where a live stream goes, and what waits for its reader.
 *
 * Bytes wait in a buffer of at most STREAM_WAITING; who puts more is told that there is no room, and counts a drop.
 * Nothing here waits for a reader. One thread at a time uses it: the stream's own, with all signals blocked (SIGPIPE
 * too), and at the end stream_closing.c.
 *
 *   PATH        a file (made 0600, or emptied), a FIFO (also before anybody reads it), a device as /dev/null
 *   unix:PATH   listens at a socket there (0600): one reader at a time, of this process's user or root
 *   fd:N        a descriptor that the process has inherited
 */
#ifndef JSTROBE_SINKS_STREAM_STREAM_OUT_H
#define JSTROBE_SINKS_STREAM_STREAM_OUT_H

#include <sys/types.h>

#include "common/base/error.h"
#include "common/os/output.h"

#define STREAM_WAITING (1u << 20)
#define STREAM_URGENT (1u << 16) /* beyond that */
#define STREAM_POLLS 2 /* descriptors that stream_out_polls fills in, at most */

struct stream_out;
struct pollfd;

/*
 * Open TARGET, by the rules of common/os/output.h. RECORDS: each record is written by a call of its own. FORCE: also
 * what belongs to others. NULL with the reason.
 * A new file, of PLACE's mode, has only the hidden name beside its own until the caller has said output_publish(PLACE);
 * what was there stays until then. PLACE is the caller's to drop; nothing else than a file needs it.
 */
struct stream_out *stream_out_open(const char *target, bool records, bool force, struct output *place,
				   struct error *err);
/* The same for FD, which becomes its own also on failure: a socket whose other end the reader has. */
struct stream_out *stream_out_take(int fd, bool records, struct error *err);
/* No reader comes in any more; the socket's file is removed. */
void stream_out_refuse(struct stream_out *o);
/* Of what waits only the rest of the record that the reader has a part of is kept. */
void stream_out_cut(struct stream_out *o);
/* Write what goes, close. The number of samples that did not go, to a reader who is still there. NULL: none. */
uint64_t stream_out_close(struct stream_out *o);

/*
 * Look who is there: take in a reader that has come, notice one that left. The number of the present reader, who
 * knows nothing of what was written to others; 0 = no reader.
 */
uint32_t stream_out_reader(struct stream_out *o);
/* A reader who comes later is not noticed here: what he needs is to be said again now and then. */
bool stream_out_blind(const struct stream_out *o);
/* The only reader there can be has left: there is nothing more to do. */
bool stream_out_over(const struct stream_out *o);
/*
 * Put N bytes, whole records that tell of SAMPLES samples, all of them or none; false: there is no room (or no
 * reader). URGENT: what tells of drops has some room that samples have not.
 */
bool stream_out_put(struct stream_out *o, const char *bytes, size_t n, uint64_t samples, bool urgent);
/* Write what goes without waiting. */
void stream_out_write(struct stream_out *o);
size_t stream_out_waiting(const struct stream_out *o);
/* What to wait for: fills in P[STREAM_POLLS], returns how many. */
unsigned stream_out_polls(const struct stream_out *o, struct pollfd *p);

#endif
