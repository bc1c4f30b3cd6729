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

/* Read PATH, which must be UID's or root's, into BYTES[FILE_MAX]; its length, 0 if there is none. */
static size_t read_file(const struct root *root, const char *path, uid_t uid, char *bytes)
{
	int fd = root_read(root, path);
	ssize_t n;

	if (fd < 0)
		return 0;
	n = process_owned_by(fd, uid) ? foreign_read(fd, bytes, FILE_MAX) : 0;
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* The same in any folder of the kind: it is named after the user as the process knows it. */
static size_t search(const struct root *root, pid_t nspid, uid_t uid, char *bytes)
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
		length = read_file(root, path, uid, bytes);
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
	length = read_file(&root, path, uid, bytes);
	if (!length)
		length = search(&root, nspid, uid, bytes);
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
