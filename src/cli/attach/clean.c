/*
 * Taking away what attach_library left in a process's file system: copies of the agent that no
 * process has loaded. Only names that jstrobe makes are touched, only in folders that are
 * trusted, and never through a link.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/copy.h"
#include "cli/attach/process.h"
#include "cli/attach/root.h"

/* One walk through jstrobe's folder in one place. */
struct cleaning {
	uid_t uid;
	struct attach_cleaned *cleaned;
	struct error *err; /* the first thing that went wrong */
};

/* A process that has a library loaded whose path ends in SUFFIX; 0: none that we can see. */
static pid_t find_user(const char *suffix)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	pid_t user = 0;

	while (proc && user == 0 && (entry = readdir(proc)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]) &&
		    process_has_mapped(atoi(entry->d_name), suffix))
			user = atoi(entry->d_name);
	if (proc)
		closedir(proc);
	return user;
}

/* The next folder or file in DIR, without . and .. */
static const char *next(DIR *dir)
{
	struct dirent *entry;

	do
		entry = readdir(dir);
	while (entry && (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0));
	return entry ? entry->d_name : NULL;
}

/* The folder of one build; SUFFIX: /jstrobe/<version>/<hash>. */
static void clean_build(struct cleaning *c, DIR *dir, const char *suffix)
{
	char library[PATH_MAX];
	const char *name;
	pid_t user;

	snprintf(library, sizeof(library), "%.4000s/" COPY_LIBRARY, suffix);
	while ((name = next(dir)) != NULL) {
		if (strncmp(name, COPY_ASIDE, strlen(COPY_ASIDE)) == 0) {
			unlinkat(dirfd(dir), name, 0);
			continue;
		}
		if (strcmp(name, COPY_LIBRARY) != 0)
			continue;
		user = find_user(library);
		if (user) {
			c->cleaned->used++;
			c->cleaned->user = user;
		} else if (unlinkat(dirfd(dir), name, 0) == 0) {
			c->cleaned->removed++;
		} else if (!c->err->code) {
			error_set(c->err, errno, "%s cannot be removed: %s", library, strerror(errno));
		}
	}
}

/* Clean folder NAME in PARENT, LEVELS above the builds', and remove it if it is empty then. */
static void clean_folder(struct cleaning *c, int parent, const char *name, const char *path,
			 int levels)
{
	char below[PATH_MAX];
	const char *child;
	struct error why = {0};
	int fd = copy_folder(parent, name, c->uid, false, path, &why);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		if (fd >= 0)
			close(fd);
		else if (fd != -ENOENT && !c->err->code)
			*c->err = why;
		return;
	}
	if (levels == 0)
		clean_build(c, dir, path);
	while (levels && (child = next(dir)) != NULL) {
		snprintf(below, sizeof(below), "%.3000s/%s", path, child);
		clean_folder(c, dirfd(dir), child, below, levels - 1);
	}
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR); /* not empty: stays */
}

int attach_clean(pid_t pid, struct attach_cleaned *cleaned, struct error *err)
{
	struct process_status s;
	struct cleaning c = {.cleaned = cleaned, .err = err};
	struct error ignored;
	const char *const *place;
	int root, fd;

	memset(cleaned, 0, sizeof(*cleaned));
	err->code = 0;
	root = root_of(pid);
	if (root < 0 || process_status(pid, &s)) {
		if (root >= 0)
			close(root);
		return error_set(err, root < 0 ? -root : ESRCH, "the file system of process %d cannot "
				 "be reached: %s", (int)pid, strerror(root < 0 ? -root : ESRCH));
	}
	c.uid = s.uid;
	for (place = copy_places; *place; place++) {
		fd = copy_place(root, *place, &ignored);
		if (fd < 0)
			continue;
		clean_folder(&c, fd, COPY_FOLDER, "/" COPY_FOLDER, 2);
		close(fd);
	}
	close(root);
	return -err->code;
}
