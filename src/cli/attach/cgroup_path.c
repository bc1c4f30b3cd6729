#include "cli/attach/cgroup_path.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/foreign.h"
#include "cli/attach/process.h"

bool cgroup_read(const struct cgroup_folder *folder, const char *name, char *text, size_t size)
{
	char path[PATH_MAX + 64];
	int fd;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	fd = folder->root ? root_read(folder->root, path) : foreign_open(AT_FDCWD, path);
	if (fd < 0)
		return false;
	n = foreign_read(fd, text, size);
	close(fd);
	return n > 0;
}

uint64_t cgroup_value(const char *text, const char *key)
{
	size_t n = strlen(key);
	const char *line;

	for (line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n, NULL, 10);
	return 0;
}

/* Whether LIST, "cpu,cpuacct", has CONTROLLER. */
static bool has(const char *list, const char *controller)
{
	size_t n = strlen(controller), length;

	for (; *list; list += length + (list[length] != '\0')) {
		length = strcspn(list, ",");
		if (length == n && strncmp(list, controller, n) == 0)
			return true;
	}
	return false;
}

/* The path that /proc/PID/cgroup tells: of version 1 if CONTROLLER is one of that. The version, 0: none. */
static int read_path(pid_t pid, const char *controller, char *path, size_t size)
{
	char text[16384], *line, *next;
	int version = 0;

	if (process_read(pid, "cgroup", text, sizeof(text)) <= 0)
		return 0;
	for (line = text; line && *line; line = next) {
		char *controllers, *place;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		controllers = strchr(line, ':');
		place = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!place)
			continue;
		*place++ = '\0';
		controllers++;
		if (has(controllers, controller)) {
			snprintf(path, size, "%s", place);
			return 1;
		}
		if (strncmp(line, "0:", 2) == 0 && !*controllers) {
			version = 2;
			snprintf(path, size, "%s", place);
		}
	}
	return version;
}

/* PATH below the mount point TOP, and all above it. */
static bool look_below(const struct cgroup_folder *at, const char *top, const char *path,
		       bool (*take)(const struct cgroup_folder *, void *arg), void *arg)
{
	char folder[PATH_MAX];
	struct cgroup_folder one = *at;
	bool found = false;
	char *slash;

	snprintf(folder, sizeof(folder), "%s%s", top, strcmp(path, "/") == 0 ? "" : path);
	while (strlen(folder) >= strlen(top)) {
		one.path = folder;
		found |= take(&one, arg);
		slash = strrchr(folder, '/');
		if (!slash)
			break;
		*slash = '\0';
	}
	return found;
}

int cgroup_each(pid_t pid, const char *controller, bool (*take)(const struct cgroup_folder *, void *arg), void *arg)
{
	char path[PATH_MAX / 2], first[64];
	const char *const tops[2][3] = {{first, "/sys/fs/cgroup/cpu,cpuacct", NULL},
					{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", NULL}};
	struct cgroup_folder at = {.version = read_path(pid, controller, path, sizeof(path))};
	const char *const *top, *const *begin;
	bool found = false;
	struct root root;

	if (!at.version)
		return 0;
	snprintf(first, sizeof(first), "/sys/fs/cgroup/%s", controller);
	begin = tops[at.version - 1];
	for (top = begin; *top && !found; top++)
		found = !strstr(path, "/..") && look_below(&at, *top, path, take, arg);
	if (found)
		return at.version;
	/* another cgroup namespace, or none mounted here: what the process sees as its root */
	if (root_of(pid, &root) == 0) {
		at.root = &root;
		for (top = begin; *top && !found; top++)
			found = look_below(&at, *top, "/", take, arg);
	}
	root_close(&root);
	return found ? at.version : 0;
}
