#include "profile/views/short_name.h"

#include <string.h>

#include "common/base/utf8.h"

/* Bytes of the character at TEXT. */
static size_t first(const char *text)
{
	size_t n = 1;

	while (((unsigned char)text[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/*
 * Bytes of the packages in front of NAME, a method or a class, with the dot behind them: parts that begin with a small
 * letter, up to the first that does not. 0: it has none, or is none of Java.
 */
static size_t packages_of(const char *name)
{
	size_t at = 0, n;

	for (;;) {
		n = strcspn(name + at, ".([:` <");
		if (!name[at + n] && name[at] >= 'A' && name[at] <= 'Z')
			return at;
		if (name[at + n] != '.' || !n)
			return 0;
		if (name[at] < 'a' || name[at] > 'z')
			return at;
		at += n + 1;
	}
}

const char *bare_name(const char *name)
{
	return name + packages_of(name);
}

void short_name(struct buffer *out, const char *name, unsigned columns)
{
	size_t packages = packages_of(name), at = 0, n;
	unsigned all = utf8_columns(name, strlen(name)), rest = all - utf8_columns(name, packages);

	while (at < packages && all > columns) {
		n = strcspn(name + at, ".");
		all -= utf8_columns(name + at, n) - 1;
		at += n + 1;
	}
	if (all > columns && rest <= columns) {
		buffer_puts(out, name + packages);
		return;
	}
	if (all > columns) {
		buffer_puts(out, name);
		return;
	}
	for (n = 0; n < at; n += strcspn(name + n, ".") + 1) {
		buffer_append(out, name + n, first(name + n));
		buffer_putc(out, '.');
	}
	buffer_puts(out, name + at);
}
