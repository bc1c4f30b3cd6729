/*
 * stream_records.c - the spellings of a live stream by name.
 */
#include "profile/writers/stream/stream_records.h"

#include <string.h>

static const struct stream_writer *const writers[] = {&stream_ndjson, &stream_kindling};

const struct stream_writer *stream_writer_by_name(const char *name)
{
	size_t i;

	if (!*name)
		return writers[0];
	for (i = 0; i < ARRAY_LEN(writers); i++)
		if (strcmp(writers[i]->name, name) == 0)
			return writers[i];
	return NULL;
}

size_t stream_record_length(const char *bytes, size_t n)
{
	const char *line_end = n ? memchr(bytes, '\n', n) : NULL;

	return line_end ? (size_t)(line_end - bytes) + 1 : 0;
}
