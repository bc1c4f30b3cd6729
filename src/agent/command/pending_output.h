/*
 * pending_output.h - the result that a session has yet to deliver, and where it goes.
 *
 * `start` names a place when sampling begins; the result is written there when
 * it ends, by whatever way it ends. All functions: as a job of the control thread, unless said otherwise.
 */
#ifndef JSTROBE_COMMAND_PENDING_OUTPUT_H
#define JSTROBE_COMMAND_PENDING_OUTPUT_H

#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

/*
 * Check that the result can be written where O->file says: a known format, a folder that is there
 * and writable. Nothing is created. Fills in O->format and, without O->loop, expands the patterns in
 * O->file. Any thread.
 */
int pending_check_path(struct options *o, struct error *err);
/* Check that the agent itself writes O->format, if one is named; only the command makes files for other viewers. */
int pending_check_format(const struct options *o, struct error *err);
/*
 * The session that is about to begin with O will owe a result to O->file (checked before). What is owed so
 * far stays owed until pending_confirm.
 */
void pending_to_path(const struct options *o);
/* ... to the open regular file FD, which becomes ours; NAME is for people. It may be open for writing only. */
void pending_to_file(const struct options *o, int fd, const char *name);
/*
 * With O->loop names stay patterns: each round has a file of its own, %n in its name is the number of the round, from
 * 0. The place of the round after the present one is named.
 */
int pending_next(struct error *err);
/* Whether a result will be owed once the session has begun. KEEP as below. */
bool pending_is_named(bool keep);
/*
 * If O asks for a recording, open its file: *FILE, else -1. It grows beside the place just named and takes that only
 * in pending_confirm; what is there stays as it is until then. But RESUME goes on in the file of the last recording.
 */
int pending_open(const struct options *o, bool resume, int *file, struct error *err);
/*
 * The session has begun: from here on that is owed. KEEP: what was owed before stays so if no place was named. Else its
 * recording's place cannot be taken: to be undone by pending_cancel.
 */
int pending_confirm(bool keep, struct error *err);
/* It could not begin: nothing of the place named last stays. */
void pending_cancel(void);
/* Nothing is owed any more. */
void pending_nothing(void);
/* The name of the place, "" when nothing is owed. */
const char *pending_name(void);

/*
 * Write the session's data where they are owed, as HOW says (NULL: as was said at the start); TOLD (may be NULL) gets
 * what is to be said beside them. -ENOENT when nothing is owed. What is owed stays owed.
 */
int pending_write(const struct options *how, struct format_told *told, struct error *err);

/*
 * The same in two steps, so that the next round begins in between: nothing is sampled before. What is kept is in
 * memory; a recording is in its file already.
 */
int pending_keep(struct error *err);
int pending_write_kept(struct error *err);

enum pending_end { PENDING_WRITTEN, PENDING_LOST, PENDING_PERHAPS_LOST };

/*
 * The JVM ends before a result is whole: the file that is being written beside its place goes, and nothing takes a
 * place any more. It waits 50 ms at most; a disk that has not answered then may take the result yet
 * (PENDING_PERHAPS_LOST).
 * PENDING_WRITTEN: the last result has been written. Any thread.
 */
enum pending_end pending_abandon(void);

/* Write the session's data as O says to the regular file FD, replacing what it holds. */
int pending_write_file(const struct options *o, int fd, struct format_told *told, struct error *err);
/* The same to the path O->file: written aside, renamed when whole. */
int pending_write_path(const struct options *o, struct format_told *told, struct error *err);
/* Write TEXT instead of a profile, in the same way. */
int pending_write_text(const struct options *o, const char *text, size_t length, struct error *err);

#endif
