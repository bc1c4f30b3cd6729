/*
 * copy.h - copies of the agent library in other processes' file systems. Inner header of attach/.
 *
 *      /tmp/jstrobe-<uid>/<version>/<hash of the contents>/libjstrobe.so
 *
 * Two users, two versions, and two builds of one, never meet, and each copy stays where a JVM has it loaded. All of it
 * is made, looked at and removed as the user whose it is: call these functions between user_become and user_return.
 */
#ifndef JSTROBE_CLI_ATTACH_COPY_H
#define JSTROBE_CLI_ATTACH_COPY_H

#include <sys/stat.h>
#include <sys/types.h>

#include "cli/attach/root.h"
#include "common/base/error.h"

#define COPY_LIBRARY "libjstrobe.so"
#define COPY_ASIDE ".libjstrobe.so-" /* and random digits: a copy that is being made */
#define COPY_FOLDER "jstrobe-%u"     /* the user, as the command sees it */
#define COPY_HASH 17                 /* 16 hex digits and a NUL */

/* Where copies may lie, best first; ended by NULL. */
extern const char *const copy_places[];

/*
 * Open the folder NAME in folder PARENT; MAKE: make it first if it is not there. WHAT names it to
 * a person. A descriptor, -ENOENT (only without MAKE), or the error: made by a user we do not
 * trust, a link, no folder (-EPERM); or it cannot be made.
 */
int copy_folder(int parent, const char *name, uid_t uid, bool make, const char *what,
		struct error *err);
/* The same for one of copy_places: it belongs to anybody, but what we make there stays ours. */
int copy_place(const struct root *root, const char *place, struct error *err);
/* Open the regular file NAME in FOLDER for reading, and nothing else: a descriptor, or -errno. */
int copy_file(int folder, const char *name);
/* The hash of what is in the file FD, and its length; by reading, as others may cut it short meanwhile. */
int copy_hash(int fd, char hash[COPY_HASH], size_t *size);

#endif
