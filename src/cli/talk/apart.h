/*
 * apart.h - whether a target shares our file system, and what it could do with a file of ours.
 */
#ifndef JSTROBE_CLI_APART_H
#define JSTROBE_CLI_APART_H

#include "cli/attach/attach.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "common/os/output.h"

/*
 * Whether the target has a root folder, mounts or users of its own: a container, a chroot, a service with a private
 * /tmp. What it may do here is not what its user may do here, and its root may be ours. A program that we started is
 * not apart.
 */
bool target_is_apart(const struct attach_target *t);
/* Whether PATH, from / on, is for the target the open FOLDER, and one in which its user can make files. */
bool target_writes_to(const struct attach_target *t, const char *path, int folder);
/*
 * A file at PLACE, as output_find found it, that a target has open for writing is harmless, whatever mode it gives it:
 * what it has there can be executed by no other user. FILE is its name for people. 0, or an error that says why not.
 */
int target_may_have_file_in(const struct attach_target *t, const struct output *place, const char *file,
			    struct error *err);

/* A file with a name that a container had open: how it becomes the user's alone when the session ends. */

/* Mark the open file FD, which a target is about to be given. Where that cannot be, it has no mark. */
void given_mark(int fd);
/*
 * The session has ended, and the result is in PATH, says the target. If that is a file with a mark, a copy of it takes
 * its place, with the mode that the file had when it was marked, or O's. WAKE as in result_keep. 0, or an error, which
 * also tells of a set-id bit on a file without a mark.
 */
int given_take_back(const char *path, const struct options *o, int wake, struct error *err);

#endif
