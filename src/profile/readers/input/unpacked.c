#include "profile/readers/input/unpacked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/readers/read_limits.h"

#define GROWTH 200u
#define LITTLE LIMIT_BYTES(1ull << 30)

static int temporary(struct error *err)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	folder = folder && *folder == '/' ? folder : "/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT)) {
		char name[4096];

		if ((size_t)snprintf(name, sizeof(name), "%s/jstrobe-XXXXXX", folder) < sizeof(name))
			fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	return fd >= 0 ? fd : error_set(err, errno, "%s: no file can be made there to unpack into: %s", folder,
					error_text(errno));
}

int unpacked_begin(struct unpacked *u, const char *name, uint64_t size, struct error *err)
{
	*u = (struct unpacked){.name = name, .size = size, .most = MAX((uint64_t)LITTLE, size * GROWTH),
			       .fd = temporary(err)};
	return MIN(u->fd, 0);
}

int unpacked_put(struct unpacked *u, const void *bytes, size_t n, struct error *err)
{
	int rc;

	u->made += n;
	if (u->made > u->most)
		return error_set(err, EFBIG, "%s: it unpacks to more than %llu times its size, which no profile does; "
				 "unpack it first if that is right", u->name,
				 (unsigned long long)(u->most / u->size));
	rc = n ? buffer_write(u->fd, bytes, n) : 0;
	if (rc)
		error_set(err, -rc, "%s cannot be unpacked into $TMPDIR or /tmp: %s", u->name, error_text(-rc));
	return rc;
}

int unpacked_end(struct unpacked *u, int rc, struct error *err)
{
	if (rc == 0 && !u->made)
		rc = error_set(err, ENODATA, "%s: nothing of it can be unpacked: it is damaged, or empty", u->name);
	if (rc && u->fd >= 0)
		close(u->fd);
	return rc ? rc : u->fd;
}
