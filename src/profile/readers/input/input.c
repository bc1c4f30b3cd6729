#include "profile/readers/input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/readers/input/gunzip.h"
#include "profile/readers/input/unlz4.h"

#define LAYERS 3

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
	bool cut = false;
	struct stat st;
	int fd, rc;

	packed.packed = in->packed = in->packed ? in->packed : in->size;
	fd = unpack(&packed, &cut, err);
	if (fd < 0)
		return fd;
	in->cut |= cut;
	input_close(in);
	rc = fstat(fd, &st) ? error_set(err, errno, "%s: %s", in->name, error_text(errno)) :
	     map(in, fd, (uint64_t)st.st_size, err);
	close(fd);
	return rc;
}

int input_open(struct input *in, const char *name, struct error *err)
{
	unsigned layers = 0;
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
	/* pprof's files are packed, and may be once more */
	for (layers = 0; rc == 0 && layers < LAYERS && (gunzip_is(in) || unlz4_is(in)); layers++)
		rc = take_unpacked(in, gunzip_is(in) ? gunzip : unlz4, err);
	if (rc == 0 && !layers) { /* it may have holes */
		in->file = fd + 1;
		return 0;
	}
out:
	close(fd);
	if (rc)
		input_close(in);
	return rc;
}

/* What the file has at or behind FROM; OTHERWISE: nothing of that is known. */
static uint64_t seek(const struct input *in, uint64_t from, int whence, uint64_t otherwise)
{
	off_t at = in->file && from < in->size ? lseek(in->file - 1, (off_t)from, whence) : -1;

	if (at < 0 && in->file && errno == ENXIO)
		return in->size;
	return at < 0 || (uint64_t)at < from ? otherwise : MIN((uint64_t)at, in->size);
}

uint64_t input_data(const struct input *in, uint64_t from)
{
	return seek(in, from, SEEK_DATA, from);
}

uint64_t input_data_end(const struct input *in, uint64_t from)
{
	return seek(in, from, SEEK_HOLE, in->size);
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
	if (in->file)
		close(in->file - 1);
	in->file = 0;
	in->bytes = NULL;
	in->size = 0;
}
