/*
 * foreign.h - reading files that others control: a target's own, and what the kernel tells of it. Inner header of what
 * looks at processes: attach/, doctor/, transfer.
 *
 * Such a file can be a pipe, a device, endless, sparse, grow or shrink while it is read, or lie in a file system
 * whose server is hostile. So only regular files are opened (root_read, foreign_open), nothing is mapped, and each has
 * a limit in bytes and in time. That does not cure a call that hangs in the kernel: see watch.h and survey.h.
 */
#ifndef JSTROBE_CLI_ATTACH_FOREIGN_H
#define JSTROBE_CLI_ATTACH_FOREIGN_H

#include <sys/types.h>

#include "common/base/base.h"

#define FOREIGN_TIME (2 * NS_PER_S) /* for one file */

/*
 * Open the file PATH, of FOLDER if that is no whole path, for reading, if it is a regular one and no link; those of
 * /proc and /sys are. A descriptor or -errno.
 */
int foreign_open(int folder, const char *path);
/*
 * What FD holds, from its begin on, into BYTES[SIZE], with a NUL behind; what does not fit is left out. The length, or
 * -errno; -ETIME: it took too long. FD stays open.
 */
ssize_t foreign_read(int fd, char *bytes, size_t size);

/* The lines of a file, one after the other. */
struct foreign_lines {
	int fd;
	char *bytes;
	size_t from, to;
	uint64_t left;  /* bytes that may still be read */
	uint64_t until;
	int failed;     /* positive errno; EFBIG: there is more than MAX, ETIME: it took too long */
};

/* Begin with FD, which becomes L's; at most MAX bytes are read. */
void foreign_lines_open(struct foreign_lines *l, int fd, uint64_t max);
/* The next line without its end, until the next call; NULL: no more, see L->failed. Too long ones are left out. */
char *foreign_line(struct foreign_lines *l);
void foreign_lines_close(struct foreign_lines *l);

#endif
