/*
 * apart.h - whether a target shares our file system, and what it could do with a file of ours.
 */
#ifndef JSTROBE_CLI_APART_H
#define JSTROBE_CLI_APART_H

#include "cli/attach/attach.h"
#include "common/base/error.h"
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

#endif
