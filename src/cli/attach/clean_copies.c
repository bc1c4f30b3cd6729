/*
 * Taking away what attach_library left in a process's file system: copies of the agent that no
 * process has loaded.
 *
 * What lies there may be anything, and may be the host's own (mounts). So it is done with the rights of the
 * process's user, in folders that are opened without following links, and only to what is certainly ours: a folder of
 * our name, below it one that is called like a version, below it one of 16 hex digits, and in it a file of our name
 * whose contents have that hash, all of it belonging to the user after whom the first folder is called.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/attach/attach.h"
#include "cli/attach/copy.h"
#include "cli/attach/process.h"
#include "cli/attach/root.h"
#include "common/base/ascii.h"

#define ENTRIES_MAX 1000 /* looked at in a folder of ours */
#define PLACE_MAX 100000 /* and in /tmp and the like */
#define ASIDE_S 60       /* so old is a copy that is being made no more */

/* One walk through jstrobe's folder in one place. */
struct cleaning {
	const struct user *user; /* with whose rights */
	struct user_former former;
	uid_t owner;             /* whose the copies are */
	struct attach_cleaned *cleaned;
	struct error *err; /* the first thing that went wrong */
};

static bool has_it(pid_t pid, void *reply, const void *file)
{
	return process_may_have_mapped(pid, file);
}

static bool found(pid_t pid, const void *reply, void *user)
{
	*(pid_t *)user = pid;
	return false; /* one is enough */
}

/*
 * A process that has FILE loaded, or, UNSURE, does not let itself be looked at and so may have; 0: none that we
 * can see; negative, with the reason: the processes cannot be looked at.
 */
static pid_t find_user(const struct process_file *file, bool *unsure, struct error *err)
{
	pid_t user = 0;
	struct survey survey = {.look = has_it, .take = found, .arg = file, .result = &user};
	struct survey_late late;
	int rc = survey_all(&survey, &late, err);

	*unsure = false;
	if (rc)
		return rc;
	*unsure = !user && late.count;
	return *unsure ? late.pids[0] : user;
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

/* Which processes have it loaded only we may see, not the user whom we are. */
static pid_t find_user_as_ourselves(struct cleaning *c, const struct process_file *file, bool *unsure,
				    struct error *err)
{
	struct error ignored;
	pid_t user;

	user_return(&c->former);
	user = find_user(file, unsure, err);
	if (user_become(c->user, &c->former, &ignored))
		abort(); /* it went well a moment ago; nothing may be removed as ourselves */
	return user;
}

__attribute__((format(printf, 2, 3))) static void complain(struct cleaning *c, const char *fmt, ...)
{
	char text[sizeof(c->err->text)];
	va_list args;

	if (c->err->code)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	error_set(c->err, EPERM, "%s", text);
}

static bool is_version(const char *name)
{
	return ascii_is_digit(name[0]) && strspn(name, "0123456789.") == strlen(name);
}

static bool is_hash(const char *name)
{
	return strlen(name) == COPY_HASH - 1 && strspn(name, "0123456789abcdef") == COPY_HASH - 1;
}

static bool is_aside(const char *name)
{
	return strncmp(name, COPY_ASIDE, strlen(COPY_ASIDE)) == 0 &&
	       strspn(name + strlen(COPY_ASIDE), "0123456789abcdef") == strlen(name) - strlen(COPY_ASIDE);
}

/* A file that only the owner can have put there, and that has no other name. */
static bool is_own(const struct cleaning *c, const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_uid == c->owner && !(st->st_mode & 022) && st->st_nlink == 1;
}

static void clean_aside(struct cleaning *c, int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_own(c, &st) &&
	    st.st_mtime < time(NULL) - ASIDE_S)
		unlinkat(dir, name, 0);
}

/* The copy in folder DIR of the build HASH; SUFFIX: its path in its place. */
static void clean_copy(struct cleaning *c, int dir, const char *hash, const char *suffix)
{
	int fd = copy_file(dir, COPY_LIBRARY);
	char found[COPY_HASH];
	struct stat st;
	size_t size;
	bool ours, unsure;
	struct error err;
	pid_t user;

	if (fd < 0) {
		complain(c, "%s is no file that jstrobe has made (%s); it stays", suffix, error_text(-fd));
		return;
	}
	ours = fstat(fd, &st) == 0 && is_own(c, &st) && copy_hash(fd, found, &size) == 0 && strcmp(found, hash) == 0;
	close(fd);
	if (!ours) {
		complain(c, "%s is not as jstrobe has made it (its owner, its mode, a second link or what is in it); "
			 "it stays", suffix);
		return;
	}
	user = find_user_as_ourselves(c, &(struct process_file){suffix, st.st_dev, st.st_ino}, &unsure, &err);
	if (user < 0) {
		complain(c, "%s: which processes have it loaded cannot be seen: %s; it stays", suffix, err.text);
	} else if (user) {
		c->cleaned->used++;
		c->cleaned->user = user;
		c->cleaned->unsure = unsure;
	} else if (unlinkat(dir, COPY_LIBRARY, 0) == 0) {
		c->cleaned->removed++;
	} else {
		complain(c, "%s cannot be removed: %s; it is of uid %u: give the number of a process of that user",
			 suffix, error_text(errno), (unsigned)c->owner);
	}
}

static void clean_build(struct cleaning *c, DIR *dir, const char *hash, const char *path)
{
	char library[PATH_MAX];
	const char *name;
	int i;

	snprintf(library, sizeof(library), "%.4000s/" COPY_LIBRARY, path);
	for (i = 0; i < ENTRIES_MAX && (name = next(dir)) != NULL; i++) {
		if (is_aside(name))
			clean_aside(c, dirfd(dir), name);
		else if (strcmp(name, COPY_LIBRARY) == 0)
			clean_copy(c, dirfd(dir), hash, library);
	}
}

static DIR *open_folder(struct cleaning *c, int parent, const char *name, const char *path)
{
	struct error why = {0};
	int fd = copy_folder(parent, name, c->owner, false, path, &why);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	if (fd < 0 && fd != -ENOENT && !c->err->code)
		*c->err = why;
	return dir;
}

/* Clean folder NAME in PARENT, LEVELS above the builds', and remove it if it is empty then. */
static void clean_folder(struct cleaning *c, int parent, const char *name, const char *path,
			 int levels)
{
	DIR *dir = open_folder(c, parent, name, path);
	char below[PATH_MAX];
	struct stat st;
	const char *child;
	int i;

	if (!dir)
		return;
	if (levels == 0)
		clean_build(c, dir, name, path);
	for (i = 0; levels && i < ENTRIES_MAX && (child = next(dir)) != NULL; i++) {
		snprintf(below, sizeof(below), "%.3000s/%s", path, child);
		if (levels == 2 ? is_version(child) : is_hash(child))
			clean_folder(c, dirfd(dir), child, below, levels - 1);
	}
	if (fstat(dirfd(dir), &st) == 0 && st.st_uid == c->owner)
		unlinkat(parent, name, AT_REMOVEDIR); /* not empty: stays */
	closedir(dir);
}

/* Whether NAME is a folder of copies, and whose. */
static bool is_top(const char *name, uid_t *owner)
{
	char canonical[32];
	unsigned number;

	if (sscanf(name, COPY_FOLDER, &number) != 1)
		return false;
	snprintf(canonical, sizeof(canonical), COPY_FOLDER, number);
	*owner = number;
	return strcmp(canonical, name) == 0;
}

static void clean_place(struct cleaning *c, const struct root *root, const char *place)
{
	struct error ignored;
	int i, fd = copy_place(root, place, &ignored);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const char *name;
	char path[64];

	if (!dir && fd >= 0)
		close(fd);
	for (i = 0; dir && i < PLACE_MAX && (name = next(dir)) != NULL; i++) {
		if (!is_top(name, &c->owner))
			continue;
		snprintf(path, sizeof(path), "/%.60s", name);
		clean_folder(c, fd, name, path, 2);
	}
	if (dir)
		closedir(dir);
}

int attach_clean(pid_t pid, struct attach_cleaned *cleaned, struct error *err)
{
	struct root root;
	struct cleaning c = {.user = &root.user, .cleaned = cleaned, .err = err};
	struct error why = {0};
	const char *const *place;
	int rc = root_of(pid, &root);

	memset(cleaned, 0, sizeof(*cleaned));
	err->code = 0;
	if (rc)
		return error_set(err, -rc, "the file system of process %d cannot be reached: %s", (int)pid,
				 error_text(-rc));
	rc = user_become(&root.user, &c.former, &why);
	if (rc)
		*err = why;
	for (place = copy_places; rc == 0 && *place; place++)
		clean_place(&c, &root, *place);
	user_return(&c.former);
	root_close(&root);
	return -err->code;
}
