/*
 * given.h - a file with a name that a container had open: how it becomes the user's alone when the session ends.
 *
 * `start -f` gives the target a file of ours by descriptor. Root in a container can set that file's mode, and the bits
 * stay when the file is moved out of the closed folder it lies in. So `stop` puts a copy in its place, which no target
 * ever had open. Which file that is only the target says, and it may say any; so the file has a mark, which only root
 * on the host can make, read or take away (an attribute `trusted.…`), and nothing else is ever replaced.
 */
#ifndef JSTROBE_CLI_GIVEN_H
#define JSTROBE_CLI_GIVEN_H

#include "common/base/error.h"
#include "common/options/options.h"

/* Mark the open file FD, which a target is about to be given. Where that cannot be, it has no mark. */
void given_mark(int fd);
/*
 * The session has ended, and the result is in PATH, says the target. If that is a file with a mark, a copy of it takes
 * its place, with the mode that the file had when it was marked, or O's. WAKE as in result_keep. 0, or an error, which
 * also tells of a set-id bit on a file without a mark.
 */
int given_take_back(const char *path, const struct options *o, int wake, struct error *err);

#endif
