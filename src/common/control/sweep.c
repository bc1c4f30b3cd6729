/*
 * sweep.c - sockets that commands left which were killed: a name stays when it has no listener any more.
 *
 * A datagram socket that connects to a stream socket's name is told of the wrong type (EPROTOTYPE) while that one is
 * there, and that none is (ECONNREFUSED) when it is not: unix_find_bsd in the kernel. So a command that waits is not
 * disturbed, whatever namespaces it is in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/control/control.h"

#define MOST_LOOKED_AT 20000 /* names in a folder: 10 ms */

/* ".jstrobe-" and its hex digits. */
static bool is_ours(const char *name)
{
	size_t n = strlen(CONTROL_PREFIX);

	return strncmp(name, CONTROL_PREFIX, n) == 0 && strlen(name) == n + CONTROL_DIGITS &&
	       strspn(name + n, "0123456789abcdef") == CONTROL_DIGITS;
}

/* A socket of the present user, made more than AGE seconds ago. */
static bool is_old(int folder, const char *name, unsigned age)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(st.st_mode) &&
	       st.st_uid == geteuid() && st.st_mtime + (time_t)age < time(NULL);
}

/* NAME has no listener. */
static bool is_dead(int folder, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool dead;

	if (sock < 0)
		return false;
	snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/%s", folder, name);
	dead = connect(sock, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED;
	close(sock);
	return dead;
}

unsigned control_sweep(int folder, unsigned age)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), looked = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	unsigned removed = 0;
	struct dirent *e;

	if (!dir && fd >= 0)
		close(fd);
	while (dir && looked++ < MOST_LOOKED_AT && (e = readdir(dir)))
		if (is_ours(e->d_name) && is_old(fd, e->d_name, age) && is_dead(fd, e->d_name) &&
		    unlinkat(fd, e->d_name, 0) == 0)
			removed++;
	if (dir)
		closedir(dir);
	return removed;
}
