/*
 * Reading /proc/PID: status and mapped libraries.
 */
#include "cli/attach/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/root.h"

ssize_t process_read(pid_t pid, const char *name, char *bytes, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return process_read_at(AT_FDCWD, path, bytes, size);
}

ssize_t process_read_at(int proc, const char *name, char *bytes, size_t size)
{
	size_t length = 0;
	ssize_t n = 1;
	int fd = openat(proc, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	while (n > 0 && length + 1 < size) {
		n = read(fd, bytes + length, size - 1 - length);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			length += (size_t)n;
	}
	if (n < 0)
		n = -errno;
	close(fd);
	bytes[length] = '\0';
	return n < 0 ? n : (ssize_t)length;
}

pid_t process_find_thread(pid_t pid, bool (*is)(pid_t pid, pid_t number, const void *arg), const void *arg)
{
	char path[64];
	struct dirent *entry;
	pid_t found = 0;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	while (tasks && !found && (entry = readdir(tasks))) {
		pid_t number = atoi(entry->d_name);

		if (number > 0 && is(pid, number, arg))
			found = number;
	}
	if (tasks)
		closedir(tasks);
	return found;
}

static void read_groups(const char *line, struct process_status *s)
{
	char *end;

	for (; s->group_count < USER_GROUPS; line = end) {
		unsigned long group = strtoul(line, &end, 10);

		if (end == line)
			return;
		s->groups[s->group_count++] = (gid_t)group;
	}
}

static void read_numbers(const char *line, struct process_status *s)
{
	if (strncmp(line, "SigCgt:\t", 8) == 0)
		s->caught = strtoull(line + 8, NULL, 16);
	else if (strncmp(line, "SigIgn:\t", 8) == 0)
		s->ignored = strtoull(line + 8, NULL, 16);
	else if (strncmp(line, "CapEff:\t", 8) == 0)
		s->capabilities = strtoull(line + 8, NULL, 16);
	else if (strncmp(line, "Threads:\t", 9) == 0)
		s->threads = (unsigned)atoi(line + 9);
	else if (strncmp(line, "TracerPid:\t", 11) == 0)
		s->tracer = atoi(line + 11);
	else if (strncmp(line, "Seccomp:\t", 9) == 0)
		s->seccomp = atoi(line + 9);
	else
		sscanf(line, "SigQ:\t%u/%u", &s->pending, &s->pending_limit);
}

int process_status(pid_t pid, struct process_status *s)
{
	char text[8192], *line, *next;
	ssize_t n = process_read(pid, "status", text, sizeof(text));

	if (n <= 0)
		return n == -EACCES ? -EACCES : -ESRCH;
	memset(s, 0, sizeof(*s));
	s->nspid = pid;
	for (line = text; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, "State:\t", 7) == 0)
			s->state = line[7];
		else if (strncmp(line, "Tgid:\t", 6) == 0)
			s->tgid = atoi(line + 6);
		else if (strncmp(line, "NStgid:\t", 8) == 0)
			s->nspid = atoi(strrchr(line, '\t') + 1);
		else if (strncmp(line, "Uid:\t", 5) == 0)
			sscanf(line + 5, "%*u %u", &s->uid);
		else if (strncmp(line, "Gid:\t", 5) == 0)
			sscanf(line + 5, "%*u %u", &s->gid);
		else if (strncmp(line, "Groups:\t", 8) == 0)
			read_groups(line + 8, s);
		else
			read_numbers(line, s);
	}
	return s->tgid ? 0 : -ESRCH;
}

bool process_owned_by(int fd, uid_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == uid || st.st_uid == 0);
}

/* The path in a line of maps, without " (deleted)"; NULL if it has none. */
static char *mapped_path(char *line)
{
	char *path = strchr(line, '/'), *end;

	if (!path)
		return NULL;
	path[strcspn(path, "\n")] = '\0';
	end = strstr(path, " (deleted)");
	if (end)
		*end = '\0';
	return path;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

int process_vm(pid_t pid, enum process_vm *vm, char libjvm[PATH_MAX])
{
	FILE *maps = open_maps(pid);
	char *line = NULL, *path;
	size_t size = 0;

	*vm = PROCESS_NO_VM;
	libjvm[0] = '\0';
	if (!maps)
		return -errno;
	while (getline(&line, &size, maps) > 0) {
		path = mapped_path(line);
		if (!path)
			continue;
		if (strcmp(base_name(path), "libjvm.so") == 0 && *vm == PROCESS_NO_VM) {
			*vm = PROCESS_HOTSPOT;
			snprintf(libjvm, PATH_MAX, "%s", path);
		} else if (strncmp(base_name(path), "libj9vm", 7) == 0) {
			*vm = PROCESS_OPENJ9;
		}
	}
	free(line);
	fclose(maps);
	return 0;
}

/* Whether a file is mapped whose name, or path if it begins with /, ends in SUFFIX. */
static bool has_mapped(pid_t pid, const char *suffix, bool old)
{
	FILE *maps = open_maps(pid);
	char *line = NULL, *path;
	size_t size = 0, n = strlen(suffix), length;
	bool found = false, deleted;

	while (maps && !found && getline(&line, &size, maps) > 0) {
		deleted = strstr(line, " (deleted)") != NULL;
		path = mapped_path(line);
		length = path ? strlen(path) : 0;
		found = length >= n && (deleted || !old) && strcmp(path + length - n, suffix) == 0 &&
			(suffix[0] == '/' || base_name(path) == path + length - n);
	}
	free(line);
	if (maps)
		fclose(maps);
	return found;
}

/* libjstrobe.so, or another name that someone gave a build: libjstrobe-1.2.so. */
static bool is_agent(const char *path)
{
	const char *name = base_name(path);

	return strncmp(name, "libjstrobe", 10) == 0 && strstr(name, ".so");
}

size_t attach_copies(pid_t pid, struct attach_copy *copies, size_t max)
{
	FILE *maps = open_maps(pid);
	char *line = NULL, *path;
	size_t size = 0, count = 0, i;
	bool old;

	while (maps && count < max && getline(&line, &size, maps) > 0) {
		old = strstr(line, " (deleted)") != NULL;
		path = mapped_path(line);
		if (!path || !is_agent(path))
			continue;
		for (i = 0; i < count; i++)
			if (copies[i].old == old && strcmp(copies[i].path, path) == 0)
				break;
		if (i < count)
			continue;
		snprintf(copies[i].path, sizeof(copies[i].path), "%s", path);
		copies[i].old = old;
		count++;
	}
	free(line);
	if (maps)
		fclose(maps);
	return count;
}

bool process_has_mapped(pid_t pid, const char *suffix)
{
	return has_mapped(pid, suffix, false);
}

bool attach_has_library(pid_t pid, const char *library)
{
	return has_mapped(pid, library, false);
}

bool attach_has_old_library(pid_t pid, const char *library)
{
	return has_mapped(pid, library, true);
}

/* The version in the file `release` in FOLDER, if there is one. */
static bool read_release(const struct root *root, const char *folder, char *out, size_t size)
{
	char path[PATH_MAX + 16], line[256];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/release", folder);
	fd = root_read(root, path);
	f = fd < 0 ? NULL : fdopen(fd, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "JAVA_VERSION=\"", 14) == 0)
			snprintf(out, size, "%.*s", (int)strcspn(line + 14, "\"\n"), line + 14);
	if (f)
		fclose(f);
	return f != NULL;
}

void process_jdk(pid_t pid, const char *libjvm, char *out, size_t size)
{
	char folder[PATH_MAX], *slash;
	struct root root;
	int up;

	snprintf(out, size, "?");
	if (root_of(pid, &root))
		return;
	snprintf(folder, sizeof(folder), "%s", libjvm);
	/* lib/server/libjvm.so, or jre/lib/amd64/server/libjvm.so in JDK 8 */
	for (up = 0; up < 5 && (slash = strrchr(folder, '/')) != NULL; up++) {
		*slash = '\0';
		if (read_release(&root, folder, out, size))
			break;
	}
	root_close(&root);
}
