#include "cli/shown.h"

#include <string.h>
#include <unistd.h>

#include "common/base/clean.h"
#include "profile/writers/format.h"

bool shown_is_text(int fd, const char *format)
{
	const struct format *f = format_by_name(format);

	return isatty(fd) || (f && format_is_text(f));
}

/* Length of the sequence for a colour that stands at TEXT[0..N), 0 = it is none of ours. */
static size_t colour(const char *text, size_t n)
{
	const char *const *c;

	for (c = format_colours; *c; c++)
		if (strlen(*c) <= n && memcmp(text, *c, strlen(*c)) == 0)
			return strlen(*c);
	return 0;
}

void shown_put(struct buffer *out, const char *bytes, size_t n, bool colours)
{
	size_t from = 0, at = 0, length;

	while (colours && at < n) {
		const char *escape = memchr(bytes + at, '\033', n - at);

		if (!escape)
			break;
		at = (size_t)(escape - bytes);
		length = colour(escape, n - at);
		if (length) {
			clean_put(out, bytes + from, at - from, CLEAN_TEXT);
			buffer_append(out, escape, length);
			from = at + length;
		}
		at += MAX(length, (size_t)1);
	}
	clean_put(out, bytes + from, n - from, CLEAN_TEXT);
}
