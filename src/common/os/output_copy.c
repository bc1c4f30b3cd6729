/*
 * Bytes into something that may take none: a pipe whose reader sleeps, a terminal that was stopped, a full disk.
 * Nothing here blocks longer than it was told to.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base/proc_self.h"
#include "common/os/os.h"
#include "common/os/output.h"

#define SMALL 512 /* a pipe or terminal that has room at all has room for so much, but for one that others fill, too */

ssize_t output_write_some(const struct output *o, const void *bytes, size_t n)
{
	struct pollfd p = {.fd = o->fd, .events = POLLOUT};

	if (S_ISSOCK(o->type))
		return send(o->fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (!o->shares)
		return write(o->fd, bytes, n);
	if (poll(&p, 1, 0) == 1)
		return write(o->fd, bytes, MIN(n, (size_t)SMALL));
	errno = EAGAIN;
	return -1;
}

/* Until there is room. 0, -EINTR: a signal waits, or -ETIMEDOUT. */
static int wait_for_room(const struct output *o, const struct output_limits *limits, uint64_t since)
{
	struct pollfd p[2] = {{.fd = o->fd, .events = POLLOUT}, {.fd = limits->wake, .events = POLLIN}};
	uint64_t passed = (os_monotonic() - since) / NS_PER_MS;

	if (passed >= (uint64_t)limits->stalled_ms)
		return -ETIMEDOUT;
	if (poll(p, limits->wake >= 0 ? 2 : 1, (int)((uint64_t)limits->stalled_ms - passed)) > 0 && p[1].revents)
		return -EINTR;
	return 0;
}

bool output_called_off(const struct output_limits *limits)
{
	struct pollfd p = {.fd = limits->wake, .events = POLLIN};

	return limits->wake >= 0 && poll(&p, 1, 0) == 1;
}

static int cannot(const struct output *o, int code, uint64_t done, uint64_t size, int stalled_ms, struct error *err)
{
	const char *name = o->kind == OUTPUT_OPEN ? "stdout" : o->name;

	if (code == ETIMEDOUT)
		return error_set(err, code, "%s: its reader took nothing for %d ms; %llu of %llu bytes of the result "
				 "were written", name, stalled_ms, (unsigned long long)done, (unsigned long long)size);
	if (code == EINTR)
		return error_set(err, code, "%s: called off; %llu of %llu bytes of the result were written", name,
				 (unsigned long long)done, (unsigned long long)size);
	return error_set(err, code, "the result cannot be written to %s: %s%s", name, error_text(code),
			 code == ENOSPC || code == EDQUOT ? "; free some space or choose another place" : "");
}

int output_open_again(int fd, mode_t type)
{
	char self[PROC_SELF_MAX];

	if (!S_ISFIFO(type) && !S_ISCHR(type))
		return -1;
	proc_self_fd(self, fd);
	return open(self, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool output_line(int fd, const char *line, size_t n, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	struct stat st;
	ssize_t done;
	int again;

	if (fstat(fd, &st) || poll(&p, 1, ms) != 1 || p.revents & (POLLERR | POLLNVAL))
		return false;
	if (S_ISSOCK(st.st_mode))
		return send(fd, line, n, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)n;
	again = output_open_again(fd, st.st_mode & S_IFMT);
	/* without one of our own: a pipe with room has room for a line, unless others fill it at this moment */
	done = write(again >= 0 ? again : fd, line, n);
	if (again >= 0)
		close(again);
	return done == (ssize_t)n;
}

int output_copy(struct output *o, int from, uint64_t size, const struct output_limits *limits, uint64_t *done,
		struct error *err)
{
	uint64_t since = os_monotonic();
	char bytes[16384];
	ssize_t n = 0, gone;

	*done = 0;
	while (*done < size) {
		int rc = output_called_off(limits) ? -EINTR : 0;

		if (rc == 0)
			n = pread(from, bytes, (size_t)MIN(size - *done, (uint64_t)sizeof(bytes)), (off_t)*done);
		if (rc == 0 && n <= 0)
			return error_set(err, n ? errno : EIO, "the result cannot be read back: %s",
					 n ? error_text(errno) : "it became shorter");
		gone = rc ? 0 : output_write_some(o, bytes, (size_t)n);
		if (gone > 0) {
			*done += (uint64_t)gone;
			since = os_monotonic();
			continue;
		}
		if (rc == 0 && gone < 0 && errno != EAGAIN && errno != EINTR)
			rc = -errno;
		else if (rc == 0)
			rc = wait_for_room(o, limits, since);
		if (rc)
			return cannot(o, -rc, *done, size, limits->stalled_ms, err);
	}
	return 0;
}
