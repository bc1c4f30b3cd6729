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
#include "cli/attach/foreign.h"
#include "cli/attach/root.h"

#define STATUS_MAX (1 << 20) /* the kernel permits 65,536 groups, of 11 characters at most */
#define RELEASE_MAX (64 * 1024)

ssize_t process_read(pid_t pid, const char *name, char *bytes, size_t size)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return process_read_at(AT_FDCWD, path, bytes, size);
}

ssize_t process_read_at(int proc, const char *name, char *bytes, size_t size)
{
	int fd = foreign_open(proc, name);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = foreign_read(fd, bytes, size);
	close(fd);
	return n;
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

int process_status_parse(char *text, pid_t pid, struct process_status *s)
{
	char *line, *next;

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

char *process_status_text(int proc, const char *name, ssize_t *n)
{
	char *text = malloc(STATUS_MAX);

	*n = text ? process_read_at(proc, name, text, STATUS_MAX) : -ENOMEM;
	if (*n > 0)
		return text;
	free(text);
	return NULL;
}

int process_status(pid_t pid, struct process_status *s)
{
	char path[64], *text;
	ssize_t n;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	text = process_status_text(AT_FDCWD, path, &n);
	rc = n > 0 ? process_status_parse(text, pid, s) : n == -EACCES ? -EACCES : -ESRCH;

	free(text);
	return rc;
}

bool process_owned_by(int fd, uid_t uid)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (st.st_uid == uid || st.st_uid == 0);
}

struct vm_search {
	enum process_vm vm;
	char *libjvm;
};

static bool is_vm(const char *path, bool old, void *arg)
{
	struct vm_search *v = arg;

	if (strcmp(maps_name(path), "libjvm.so") == 0 && v->vm == PROCESS_NO_VM) {
		v->vm = PROCESS_HOTSPOT;
		snprintf(v->libjvm, PATH_MAX, "%s", path);
	} else if (strncmp(maps_name(path), "libj9vm", 7) == 0) {
		v->vm = PROCESS_OPENJ9;
	}
	return true;
}

int process_vm(pid_t pid, enum process_vm *vm, char libjvm[PATH_MAX])
{
	struct vm_search v = {.libjvm = libjvm};
	int rc;

	libjvm[0] = '\0';
	rc = maps_of(pid, is_vm, &v);
	*vm = v.vm;
	/* a map without an end has shown what it is, or will not */
	return v.vm == PROCESS_NO_VM ? rc : 0;
}

struct file_search {
	const char *suffix;
	bool old, found;
};

static bool ends_in(const char *path, const char *suffix)
{
	size_t n = strlen(suffix), length = strlen(path);

	return length >= n && strcmp(path + length - n, suffix) == 0 &&
	       (suffix[0] == '/' || maps_name(path) == path + length - n);
}

static bool is_file(const char *path, bool old, void *arg)
{
	struct file_search *f = arg;

	f->found = (old || !f->old) && ends_in(path, f->suffix);
	return !f->found;
}

/* Whether a file is mapped whose name, or path if it begins with /, ends in SUFFIX. */
static bool has_mapped(pid_t pid, const char *suffix, bool old)
{
	struct file_search f = {.suffix = suffix, .old = old};

	maps_of(pid, is_file, &f);
	return f.found;
}

struct copy_search {
	pid_t pid;
	struct attach_copy *copies;
	size_t count, max;
};

#define AGENT_FILE_MAX (16 << 20)

/* Read, not mapped: the file may be made shorter meanwhile. */
bool attach_is_agent_file(const char *path)
{
	static const char mark[] = "jstrobe_copy";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
	struct stat st;
	bool is = false;
	char *text = NULL;
	ssize_t n;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < AGENT_FILE_MAX)
		text = malloc((size_t)st.st_size + 1);
	if (text) {
		n = pread(fd, text, (size_t)st.st_size, 0);
		is = n > 0 && memmem(text, (size_t)n, mark, sizeof(mark));
	}
	free(text);
	if (fd >= 0)
		close(fd);
	return is;
}

/* libjstrobe.so, or another name that a build was given: libjstrobe-1.2.so, async-profiler's. */
static bool is_agent(pid_t pid, const char *path)
{
	const char *name = maps_name(path);
	char there[PATH_MAX + 32];

	if (strcmp(name, "libasyncProfiler.so") == 0) {
		snprintf(there, sizeof(there), "/proc/%d/root%s", (int)pid, path);
		return attach_is_agent_file(there);
	}
	return strncmp(name, "libjstrobe", 10) == 0 && strstr(name, ".so");
}

static bool add_copy(const char *path, bool old, void *arg)
{
	struct copy_search *c = arg;
	size_t i;

	if (!is_agent(c->pid, path))
		return true;
	for (i = 0; i < c->count; i++)
		if (c->copies[i].old == old && strcmp(c->copies[i].path, path) == 0)
			return true;
	snprintf(c->copies[c->count].path, sizeof(c->copies[c->count].path), "%s", path);
	c->copies[c->count++].old = old;
	return c->count < c->max;
}

size_t attach_copies(pid_t pid, struct attach_copy *copies, size_t max)
{
	struct copy_search c = {.pid = pid, .copies = copies, .max = max};

	maps_of(pid, add_copy, &c);
	return c.count;
}

struct same_search {
	const struct process_file *file;
	pid_t pid;
	bool found;
};

/*
 * Every container has a file of that path. Which one it is, the process's own file system says: what maps says of
 * devices and numbers is the file's below an overlay.
 */
static bool may_be_same(const char *path, bool old, void *arg)
{
	struct same_search *s = arg;
	char there[PATH_MAX + 32];
	struct stat st;

	if (!ends_in(path, s->file->suffix))
		return true;
	snprintf(there, sizeof(there), "/proc/%d/root%s", (int)s->pid, path);
	if (stat(there, &st) == 0)
		s->found = st.st_dev == s->file->device && st.st_ino == s->file->inode;
	else
		s->found = errno != ENOENT && errno != ENOTDIR;
	return !s->found;
}

bool process_may_have_mapped(pid_t pid, const struct process_file *file)
{
	struct same_search s = {.file = file, .pid = pid};

	maps_of(pid, may_be_same, &s);
	return s.found;
}

bool attach_has_library(pid_t pid, const char *library)
{
	return has_mapped(pid, library, false);
}

bool attach_has_old_library(pid_t pid, const char *library)
{
	return has_mapped(pid, library, true);
}

bool process_release(const char *text, char *out, size_t size)
{
	static const char key[] = "JAVA_VERSION=\"";
	const char *line = text;

	for (; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (strncmp(line, key, strlen(key)) == 0) {
			line += strlen(key);
			snprintf(out, size, "%.*s", (int)strcspn(line, "\"\n"), line);
			return true;
		}
	return false;
}

/* The version in the file `release` in FOLDER, if there is one. */
static bool read_release(const struct root *root, const char *folder, char *out, size_t size)
{
	char path[PATH_MAX + 16], *text;
	bool found;
	int fd;

	snprintf(path, sizeof(path), "%s/release", folder);
	fd = root_read(root, path);
	if (fd < 0)
		return false;
	text = malloc(RELEASE_MAX);
	found = text && foreign_read(fd, text, RELEASE_MAX) > 0 && process_release(text, out, size);
	free(text);
	close(fd);
	return found;
}

void process_jdk(pid_t pid, const char *libjvm, const char *told, char *out, size_t size)
{
	char folder[PATH_MAX], *slash;
	struct root root;
	int up;

	snprintf(out, size, "%s", *told ? told : strstr(libjvm, "/jre/lib/") ? "8" : "?");
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
