/*
 * formats.c - which writer serves a word or a file name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "format/filter.h"
#include "format/writers.h"

const struct format formats[] = {
#define FORMAT(name, extensions, function, help) {#name, extensions, help, format_##function},
#include "format/formats.def"
#undef FORMAT
	{NULL, NULL, NULL, NULL},
};

const struct format *format_by_name(const char *name)
{
	const struct format *f;

	for (f = formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

void format_write(const struct format *format, const struct profile *p,
		  const struct format_options *options, struct buffer *out)
{
	struct profile view;

	if (!filter_is_set(options)) {
		format->write(p, options, out);
		return;
	}
	if (filter_apply(p, options, &view)) {
		out->failed = out->failed ? out->failed : ENOMEM;
		return;
	}
	format->write(&view, options, out);
	free((void *)(uintptr_t)view.stacks);
}

/* Whether the space separated LIST holds WORD, in any case. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == length && !strncasecmp(list, word, n))
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

const struct format *format_by_file(const char *file)
{
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base ? base + 1 : file, '.');
	const struct format *f;

	for (f = formats; dot && dot[1] && f->name; f++)
		if (has_word(f->extensions, dot + 1))
			return f;
	return format_by_name("text");
}
