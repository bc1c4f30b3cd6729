/*
 * A JVM's performance data, /tmp/hsperfdata_USER/PID: a file that HotSpot maps
 * and keeps up to date. It knows the main class and the options as the JVM
 * itself has understood them, whatever the launcher was (argument files, a
 * program with a JVM inside). Any user can have put a file there, so nothing in
 * it is trusted.
 *
 *      prologue   magic 0xcafec0c0, byte order, …, entry offset (24), entries (28)
 *      entry      length (0), name offset (4), vector length (8), type (12), …,
 *                 data offset (16); offsets count from the entry's start
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/attach/foreign.h"
#include "cli/attach/process.h"
#include "cli/attach/root.h"

#define FOLDER "hsperfdata_"
#define FILE_MAX (256 * 1024)
#define ENTRIES_MAX 20000 /* of /tmp that are looked at */
#define FOLDERS_MAX 256   /* of users */
#define PROLOGUE 32
#define ENTRY 20

static uint32_t number(const char *bytes, size_t at)
{
	uint32_t n;

	memcpy(&n, bytes + at, sizeof(n));
	return n;
}

/* When process PID began, in seconds since 1970; 0: not known. */
static int64_t began(pid_t pid)
{
	static int64_t boot; /* of the machine */
	unsigned long long ticks = 0;
	char text[1024];
	const char *p = process_read(pid, "stat", text, sizeof(text)) > 0 ? strrchr(text, ')') : NULL;
	long second = sysconf(_SC_CLK_TCK);
	char line[256];
	FILE *file;

	/* state ppid … starttime, the 20th behind the name */
	if (!p || sscanf(p + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			 &ticks) != 1)
		return 0;
	file = boot ? NULL : fopen("/proc/stat", "re");
	while (file && !boot && fgets(line, sizeof(line), file)) {
		long long at;

		if (sscanf(line, "btime %lld", &at) == 1)
			boot = at;
	}
	if (file)
		fclose(file);
	return boot ? boot + (int64_t)(ticks / (unsigned long long)MAX(second, 1l)) : 0;
}

static bool is_other_file(const char *path, bool old, void *arg)
{
	bool *found = arg;

	*found = strstr(path, "/" FOLDER) != NULL;
	return !*found;
}

/*
 * Whether the file in FD is of process PID, not left by another one of the same number, as a container's first process
 * that was killed and started again. A JVM with performance data makes the file anew; one without (-XX:-UsePerfData)
 * has none mapped.
 */
static bool is_of(pid_t pid, int fd)
{
	int64_t since = began(pid);
	char path[64];
	bool found = false;
	struct stat st;
	int maps;

	if (!since || fstat(fd, &st) || st.st_ctime + 2 >= since)
		return true;
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = foreign_open(AT_FDCWD, path);
	/* what cannot be looked at is believed */
	return maps < 0 || maps_each(maps, is_other_file, &found) || found;
}

/* Read PATH, which must be UID's or root's and of process PID, into BYTES[FILE_MAX]; its length, 0 if there is none. */
static size_t read_file(const struct root *root, const char *path, pid_t pid, uid_t uid, char *bytes)
{
	int fd = root_read(root, path);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = process_owned_by(fd, uid) && is_of(pid, fd) ? foreign_read(fd, bytes, FILE_MAX) : 0;
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* The same in any folder of the kind: it is named after the user as the process knows it. */
static size_t search(const struct root *root, pid_t pid, pid_t nspid, uid_t uid, char *bytes)
{
	int fd = root_open(root, "/tmp", O_RDONLY | O_DIRECTORY | O_NONBLOCK), entries = 0, folders = 0;
	DIR *tmp = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char path[300];
	size_t length = 0;

	while (tmp && length == 0 && entries++ < ENTRIES_MAX && folders < FOLDERS_MAX &&
	       (entry = readdir(tmp)) != NULL) {
		if (strncmp(entry->d_name, FOLDER, strlen(FOLDER)) != 0)
			continue;
		folders++;
		snprintf(path, sizeof(path), "/tmp/%s/%d", entry->d_name, (int)nspid);
		length = read_file(root, path, pid, uid, bytes);
	}
	if (tmp)
		closedir(tmp);
	return length;
}

static size_t find_file(pid_t pid, pid_t nspid, uid_t uid, char *bytes)
{
	struct root root;
	char path[128], name[64];
	size_t length;

	if (root_of(pid, &root))
		return 0;
	/* most often the user has the same name here, and the rest of /tmp does not matter */
	snprintf(path, sizeof(path), "/tmp/" FOLDER "%s/%d", user_name(uid, name, "?"), (int)nspid);
	length = read_file(&root, path, pid, uid, bytes);
	if (!length)
		length = search(&root, pid, nspid, uid, bytes);
	root_close(&root);
	return length;
}

/* The string called NAME in BYTES[0..LENGTH), NULL if there is none; ended by a NUL. */
static const char *find(const char *bytes, size_t length, const char *name)
{
	size_t at, size, data, i, entries;

	if (length < PROLOGUE || memcmp(bytes, "\xca\xfe\xc0\xc0", 4) != 0)
		return NULL;
	at = number(bytes, 24);
	entries = number(bytes, 28);
	for (i = 0; i < entries && at <= length && length - at >= ENTRY; i++, at += size) {
		size_t name_at = number(bytes, at + 4);

		size = number(bytes, at);
		data = number(bytes, at + 16);
		if (size < ENTRY || size > length - at)
			return NULL;
		if (name_at >= size || data >= size || !memchr(bytes + at + name_at, 0,
							       size - name_at))
			continue;
		if (strcmp(bytes + at + name_at, name) == 0)
			return memchr(bytes + at + data, 0, size - data) ? bytes + at + data : NULL;
	}
	return NULL;
}

bool process_perfdata(pid_t pid, const struct process_status *s, struct process_perfdata *p)
{
	char *bytes = malloc(FILE_MAX);
	size_t length = bytes ? find_file(pid, s->nspid, s->uid, bytes) : 0;
	const char *command, *arguments, *version;

	memset(p, 0, sizeof(*p));
	command = length ? find(bytes, length, "sun.rt.javaCommand") : NULL;
	arguments = length ? find(bytes, length, "java.rt.vmArgs") : NULL;
	version = length ? find(bytes, length, "java.property.java.version") : NULL;
	if (command)
		snprintf(p->main, sizeof(p->main), "%.*s", (int)strcspn(command, " "), command);
	if (version)
		snprintf(p->version, sizeof(p->version), "%s", version);
	if (arguments)
		snprintf(p->arguments, sizeof(p->arguments), "%s", arguments);
	free(bytes);
	return command || arguments;
}

void process_perf_numbers(pid_t pid, const struct process_status *s,
			  void (*fn)(const char *name, uint64_t value, void *arg), void *arg)
{
	char *bytes = malloc(FILE_MAX);
	size_t length = bytes ? find_file(pid, s->nspid, s->uid, bytes) : 0, at, size, i, entries;

	if (length >= PROLOGUE && memcmp(bytes, "\xca\xfe\xc0\xc0", 4) == 0) {
		at = number(bytes, 24);
		entries = number(bytes, 28);
		for (i = 0; i < entries && at <= length && length - at >= ENTRY; i++, at += size) {
			size_t name_at = number(bytes, at + 4), data = number(bytes, at + 16);
			uint64_t value;

			size = number(bytes, at);
			if (size < ENTRY || size > length - at)
				break;
			if (name_at >= size || data > size - sizeof(value) || bytes[at + 12] != 'J' ||
			    number(bytes, at + 8) || !memchr(bytes + at + name_at, 0, size - name_at))
				continue;
			memcpy(&value, bytes + at + data, sizeof(value));
			fn(bytes + at + name_at, value, arg);
		}
	}
	free(bytes);
}
