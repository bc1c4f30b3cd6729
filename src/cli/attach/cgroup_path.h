/*
 * cgroup_path.h - the control groups that a process is in, versions 1 and 2. A process in a container is found from
 * outside by its path; where that is not to be seen from here, by what it sees itself. Inner header of what looks at
 * processes.
 */
#ifndef JSTROBE_CLI_ATTACH_CGROUP_PATH_H
#define JSTROBE_CLI_ATTACH_CGROUP_PATH_H

#include "cli/attach/root.h"
#include "common/base/base.h"

/* A folder of control groups as seen from here, or (ROOT not NULL) as the process sees it. */
struct cgroup_folder {
	const struct root *root;
	const char *path;
	int version;
};

/*
 * Call TAKE for the group of process PID that CONTROLLER ("memory", "cpu") works on, and for all above it, from the
 * inside; it returns whether there was something to read. The version; 0: none was found.
 */
int cgroup_each(pid_t pid, const char *controller, bool (*take)(const struct cgroup_folder *, void *arg), void *arg);
/* The text of the file NAME in FOLDER; false: there is none. */
bool cgroup_read(const struct cgroup_folder *folder, const char *name, char *text, size_t size);
/* The number behind KEY in such a text of lines "key number"; 0: there is none. */
uint64_t cgroup_value(const char *text, const char *key);

#endif
