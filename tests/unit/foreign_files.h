/*
 * foreign_files.h - files of other profilers for tests: bytes in a file, and what readers make of them.
 */
#ifndef FOREIGN_FILES_H
#define FOREIGN_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/exports/exports.h"
#include "profile/readers/readers.h"
#include "profile/writers/format.h"

/* A file with BYTES; its path. */
static inline const char *foreign_file(const void *bytes, size_t size)
{
	static char path[40];
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("foreign", MFD_CLOEXEC);
	if (ftruncate(fd, 0) || pwrite(fd, bytes, size, 0) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return path;
}

/* The events of such a file, as FORMAT would need them; NULL: refused, with the reason in ERR. */
static inline struct conversion *foreign_read(const void *bytes, size_t size, const char *format, struct error *err)
{
	struct conversion *c = NULL;
	struct options o;

	options_init(&o);
	snprintf(o.format, sizeof(o.format), "%s", format);
	o.threads = format_is_export(format_by_name(format));
	err->code = 0;
	*err->text = '\0';
	return readers_read(foreign_file(bytes, size), &o, false, &c, err) ? NULL : c;
}

/* The same written in FORMAT; the reason if it is refused. The caller frees it. */
static inline char *foreign_as(const void *bytes, size_t size, const char *format)
{
	const struct format_options options = {.threads = true, .total = true, .exports = exports_write};
	struct buffer out = BUFFER_INIT;
	struct error err;
	struct conversion *c = foreign_read(bytes, size, format, &err);
	const struct profile *const *profiles;
	uint32_t count;

	if (!c)
		return strdup(err.text);
	profiles = convert_profiles(c, &count);
	format_write(format_by_name(format), profiles, count, &options, &out, NULL);
	buffer_putc(&out, '\0');
	readers_free(c);
	if (out.failed)
		abort();
	return out.data;
}

/* Whether each beginning of BYTES, and each with one byte changed, is read or refused, but with a reason. */
static inline void foreign_damage(const void *bytes, size_t size, const char *format)
{
	static const unsigned char changes[] = {0x00, 0x7f, 0x80, 0xff};
	unsigned char *copy = malloc(size);
	struct error err;
	struct conversion *c;
	size_t i, k;

	for (i = 1; i < size; i++) {
		memcpy(copy, bytes, i); /* so that the sanitizer sees what is read behind it */
		c = foreign_read(copy, i, format, &err);
		if (!c && (!err.code || !*err.text))
			abort();
		if (c)
			readers_free(c);
	}
	memcpy(copy, bytes, size);
	for (i = 0; i < size; i++)
		for (k = 0; k < ARRAY_LEN(changes); k++) {
			unsigned char before = copy[i];

			copy[i] = changes[k];
			c = foreign_read(copy, size, format, &err);
			if (!c && (!err.code || !*err.text))
				abort();
			if (c)
				readers_free(c);
			copy[i] = before;
		}
	free(copy);
}

#endif
