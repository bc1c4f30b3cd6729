/*
 * given.c - a file with a name that a container had open: how it becomes the user's alone when the session ends.
 *
 * `start -f` gives the target a file of ours by descriptor. Root in a container can set that file's mode, and the bits
 * stay when the file is moved out of the closed folder it lies in. So `stop` puts a copy in its place, which no target
 * ever had open. Which file that is only the target says, and it may say any; so the file has a mark, which only root
 * on the host can make, read or take away (an attribute `trusted.…`), and nothing else is ever replaced.
 */
#include "cli/talk/apart.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/result.h"

#define MARK "trusted.jstrobe.given" /* its value: the mode, in octal digits */
#define MODES 0666

void given_mark(int fd)
{
	struct stat st;
	char mode[16];

	if (fstat(fd, &st))
		return;
	snprintf(mode, sizeof(mode), "%o", (unsigned)(st.st_mode & MODES));
	fsetxattr(fd, MARK, mode, strlen(mode), 0);
}

/* The mode that the mark of FD says; -1: it has none. */
static int read_mark(int fd)
{
	char mode[16];
	ssize_t n = fgetxattr(fd, MARK, mode, sizeof(mode) - 1);

	if (n <= 0)
		return -1;
	mode[n] = '\0';
	return (int)(strtoul(mode, NULL, 8) & MODES);
}

/* A file of ours without a mark: it may be any, so it stays what it is, but for what has to be said of it. */
static int leave(const char *path, int fd, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || !(st.st_mode & (S_ISUID | S_ISGID)))
		return 0;
	return error_set(err, EPERM, "%s has mode %o, not given it by jstrobe: any user who executes it does so as its "
			 "owner. Set its mode (chmod 600) before it leaves its folder", path,
			 (unsigned)(st.st_mode & 07777));
}

int given_take_back(const char *path, const struct options *o, int wake, struct error *err)
{
	struct result r = RESULT_INIT;
	struct error ignored;
	int mode = -1, rc = 0;

	/* the target may say anything: of what is no file of ours, nothing is even opened */
	if (output_find(&r.place, path, OUTPUT_SUDO, &ignored) == 0 && r.place.kind == OUTPUT_FILE && !r.place.foreign)
		r.fd = output_open_present(&r.place, O_RDONLY);
	if (r.fd >= 0)
		mode = read_mark(r.fd);
	if (mode < 0) {
		rc = r.fd < 0 ? 0 : leave(path, r.fd, err);
		result_drop(&r);
		return rc;
	}
	snprintf(r.file, sizeof(r.file), "%s", path);
	r.place.mode = o->mode ? o->mode : (mode_t)mode;
	r.copy = true;
	return result_keep(&r, wake, err);
}
