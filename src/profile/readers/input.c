#include "profile/readers/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int input_open(struct input *in, const char *name, struct error *err)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->name = name;
	if (fd < 0)
		return error_set(err, errno, "%s: %s", name, error_text(errno));
	if (fstat(fd, &st))
		rc = error_set(err, errno, "%s: %s", name, error_text(errno));
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, EINVAL, "%s: this is no file; recordings are read from files, "
			       "not from folders or pipes", name);
	else if (st.st_size == 0)
		rc = error_set(err, ENODATA, "%s: the file is empty", name);
	if (rc)
		goto out;
	in->bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (in->bytes == MAP_FAILED) {
		in->bytes = NULL;
		rc = error_set(err, errno, "%s: cannot be mapped: %s", name, error_text(errno));
		goto out;
	}
	in->size = (uint64_t)st.st_size;
	madvise((void *)(uintptr_t)in->bytes, (size_t)in->size, MADV_SEQUENTIAL);
out:
	close(fd);
	return rc;
}

void input_forget(const struct input *in, uint64_t from, uint64_t up_to)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	from = from / page * page;
	up_to = up_to / page * page;
	if (up_to > from)
		madvise((void *)(uintptr_t)(in->bytes + from), (size_t)(up_to - from),
			MADV_DONTNEED);
}

void input_close(struct input *in)
{
	if (in->bytes)
		munmap((void *)(uintptr_t)in->bytes, (size_t)in->size);
	in->bytes = NULL;
	in->size = 0;
}
