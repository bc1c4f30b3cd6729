#include "profile/readers/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/readers/input/gunzip.h"
#include "profile/readers/input/unlz4.h"

static int cannot_open(const char *name, int code, struct error *err)
{
	/* the pid of a process, where a result is asked for */
	if (code == ENOENT && *name && name[strspn(name, "0123456789")] == '\0')
		return error_set(err, code, "%s: %s; a result is read here, not a process: 'jstrobe record -f x.json "
				 "%s' makes one", name, error_text(code), name);
	return error_set(err, code, "%s: %s", name, error_text(code));
}

static int map(struct input *in, int fd, uint64_t size, struct error *err)
{
	void *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (bytes == MAP_FAILED)
		return error_set(err, errno, "%s: cannot be mapped: %s", in->name, error_text(errno));
	in->bytes = bytes;
	in->size = size;
	madvise(bytes, (size_t)size, MADV_SEQUENTIAL);
	return 0;
}

/* Put what IN holds in its place. */
static int take_unpacked(struct input *in, int (*unpack)(const struct input *in, bool *cut, struct error *err),
			 struct error *err)
{
	struct input packed = *in;
	struct stat st;
	int fd = unpack(&packed, &in->cut, err), rc;

	if (fd < 0)
		return fd;
	input_close(in);
	rc = fstat(fd, &st) ? error_set(err, errno, "%s: %s", in->name, error_text(errno)) :
	     map(in, fd, (uint64_t)st.st_size, err);
	close(fd);
	return rc;
}

int input_open(struct input *in, const char *name, struct error *err)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), rc = 0;
	struct stat st;

	memset(in, 0, sizeof(*in));
	in->name = name;
	if (fd < 0)
		return cannot_open(name, errno, err);
	if (fstat(fd, &st))
		rc = error_set(err, errno, "%s: %s", name, error_text(errno));
	else if (!S_ISREG(st.st_mode))
		rc = error_set(err, EINVAL, "%s: this is no file; recordings are read from files, "
			       "not from folders or pipes", name);
	else if (st.st_size == 0)
		rc = error_set(err, ENODATA, "%s: the file is empty", name);
	if (rc)
		goto out;
	rc = map(in, fd, (uint64_t)st.st_size, err);
	if (rc == 0 && gunzip_is(in))
		rc = take_unpacked(in, gunzip, err);
	else if (rc == 0 && unlz4_is(in))
		rc = take_unpacked(in, unlz4, err);
out:
	close(fd);
	if (rc)
		input_close(in);
	return rc;
}

void input_note(const struct input *in, struct buffer *notes)
{
	if (in->cut)
		buffer_printf(notes, "%s: the packed file ends too early or is damaged; what stands before that is "
				     "read\n",
			      in->name);
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
