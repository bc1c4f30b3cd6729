/*
 * process_maps.h - the files that a process has mapped. Inner header of what looks at processes.
 */
#ifndef JSTROBE_CLI_ATTACH_PROCESS_MAPS_H
#define JSTROBE_CLI_ATTACH_PROCESS_MAPS_H

#include <sys/types.h>

#include "common/base/base.h"

/*
 * Call FN for each mapping of a file in the memory map on FD, which is closed, until it returns false: PATH, and OLD if
 * the file was deleted or replaced since. 0 or -errno; -EFBIG, -ETIME: the map has no end.
 */
int maps_each(int fd, bool (*fn)(const char *path, bool old, void *arg), void *arg);
/* The same for process PID, with paths as it sees them. */
int maps_of(pid_t pid, bool (*fn)(const char *path, bool old, void *arg), void *arg);
/* The last part of PATH. */
const char *maps_name(const char *path);

#endif
