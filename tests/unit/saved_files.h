/*
 * saved_files.h - results in JSON for tests: written, changed, put into a file, and read as a conversion. To be included
 * behind cmocka.h.
 */
#ifndef SAVED_FILES_H
#define SAVED_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/readers/readers.h"
#include "profile/writers/format.h"

/* What is read of BYTES[0..SIZE) for FORMAT with what ASK sets (may be NULL) by ARG; NULL: ERR says why. */
static inline struct conversion *saved_file_read(const char *bytes, size_t size, const char *format,
						 void (*ask)(struct options *o, const void *arg), const void *arg,
						 struct error *err)
{
	struct conversion *c = NULL;
	struct options o;
	char path[40];
	int fd = memfd_create("saved", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	options_init(&o);
	strcpy(o.format, format);
	if (ask)
		ask(&o, arg);
	err->code = 0;
	err->text[0] = '\0';
	if (readers_read(path, &o, false, &c, err))
		c = NULL;
	close(fd);
	return c;
}

static inline void saved_file_no_times(struct options *o, const void *arg)
{
	(void)arg;
	o->no_times = true;
}

/* COUNT PROFILES as JSON, NUL-ended, with VIEWS (may be NULL). */
static inline struct buffer saved_file_json(const struct profile *const *profiles, uint32_t count,
					    const struct format_views *views)
{
	struct buffer out = BUFFER_INIT;

	format_write(format_by_name("json"), profiles, count, &(struct format_options){.total = true, .views = views},
		     &out, NULL);
	buffer_putc(&out, '\0');
	assert_int_equal(out.failed, 0);
	out.length--;
	return out;
}

/* TEXT with FROM, which it has once, replaced by TO; to be freed. */
static inline char *saved_file_with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *made = malloc(strlen(text) + strlen(to) + 1);

	assert_non_null(at);
	sprintf(made, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	return made;
}

#endif
