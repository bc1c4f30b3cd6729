#include "cli/attach/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/os.h"

#define PIECE (64 * 1024) /* longer than a line of /proc/PID/maps can be */

int foreign_open(int folder, const char *path)
{
	int fd = openat(folder, path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

ssize_t foreign_read(int fd, char *bytes, size_t size)
{
	uint64_t until = os_monotonic() + FOREIGN_TIME;
	size_t length = 0;
	ssize_t n = 1;

	while (n > 0 && length + 1 < size) {
		n = pread(fd, bytes + length, size - 1 - length, (off_t)length);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			length += (size_t)n;
		if (n > 0 && os_monotonic() > until) {
			errno = ETIME;
			n = -1;
		}
	}
	bytes[n < 0 ? 0 : length] = '\0';
	return n < 0 ? -errno : (ssize_t)length;
}

void foreign_lines_open(struct foreign_lines *l, int fd, uint64_t max)
{
	*l = (struct foreign_lines){.fd = fd, .bytes = malloc(PIECE), .left = max,
				    .until = os_monotonic() + FOREIGN_TIME};
	if (!l->bytes)
		l->failed = ENOMEM;
}

/* Have more bytes; false: there are none. */
static bool read_on(struct foreign_lines *l)
{
	ssize_t n;

	if (l->from) {
		memmove(l->bytes, l->bytes + l->from, l->to - l->from);
		l->to -= l->from;
		l->from = 0;
	}
	if (!l->left || os_monotonic() > l->until) {
		l->failed = l->left ? ETIME : EFBIG;
		return false;
	}
	do
		n = read(l->fd, l->bytes + l->to, (size_t)MIN(PIECE - l->to, l->left));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		l->failed = errno;
	if (n <= 0)
		return false;
	l->to += (size_t)n;
	l->left -= (uint64_t)n;
	return true;
}

char *foreign_line(struct foreign_lines *l)
{
	bool skip = false;
	char *line, *end;

	while (!l->failed) {
		line = l->bytes + l->from;
		end = memchr(line, '\n', l->to - l->from);
		if (end) {
			l->from = (size_t)(end + 1 - l->bytes);
			*end = '\0';
			if (!skip)
				return line;
			skip = false;
		} else if (l->to - l->from == PIECE) {
			skip = true;
			l->from = l->to = 0;
		} else if (!read_on(l)) {
			break;
		}
	}
	/* the last line may have no end, and there is room for one */
	if (l->failed || skip || l->from == l->to)
		return NULL;
	line = l->bytes + l->from;
	l->bytes[l->to] = '\0';
	l->from = l->to;
	return line;
}

void foreign_lines_close(struct foreign_lines *l)
{
	if (l->fd >= 0)
		close(l->fd);
	free(l->bytes);
	l->bytes = NULL;
	l->fd = -1;
}
