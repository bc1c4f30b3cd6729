#include "profile/readers/expressions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/buffer.h"

#define MOST_TIMES 1000 /* {n,m} beyond that takes the C library's memory */

/* What a class of Java's is between brackets; NULL: there is none of that letter. */
static const char *class_of(char letter)
{
	switch (ascii_lower(letter)) {
	case 'd':
		return "0-9";
	case 'w':
		return "a-zA-Z0-9_";
	case 's':
		return " \t\r\n\f\v";
	default:
		return NULL;
	}
}

/* A character that stands for itself. */
static void put_literal(struct buffer *out, char c)
{
	if (strchr(".[]{}()*+?|^$\\", c))
		buffer_putc(out, '\\');
	buffer_putc(out, c);
}

/* What stands behind a backslash at *AT, which is moved past it. */
static bool put_escaped(struct buffer *out, const char **at)
{
	const char *class = class_of(**at), *end;
	char c = *(*at)++;

	if (class) {
		buffer_printf(out, "[%s%s]", c >= 'a' ? "" : "^", class);
		return true;
	}
	if (c == 'Q') {
		end = strstr(*at, "\\E");
		while (**at && *at != end)
			put_literal(out, *(*at)++);
		*at += end ? 2 : 0;
		return true;
	}
	if (c == 'b' || c == 'B') {
		buffer_putc(out, '\\');
		buffer_putc(out, c);
		return true;
	}
	if (!c || ascii_is_letter(c) || ascii_is_digit(c))
		return false;
	put_literal(out, c);
	return true;
}

/* What stands between brackets, into REST but for ']' and '-', which are noted. False: there is no such thing here. */
static bool read_set(struct buffer *rest, const char **at, bool *bracket, bool *minus)
{
	const char *class;
	bool any;

	for (any = false; **at && (**at != ']' || !any); any = true) {
		char c = *(*at)++;
		bool escaped = c == '\\';

		if (escaped)
			c = *(*at)++;
		class = escaped ? class_of(c) : NULL;
		if (!c || (escaped && !class && (ascii_is_letter(c) || ascii_is_digit(c))) || (class && c < 'a') ||
		    (!escaped && (c == '[' || (c == '&' && **at == '&'))) || (c == '[' && strchr(".:=", **at)))
			return false;
		if (class)
			buffer_puts(rest, class);
		else if (escaped && c == ']')
			*bracket = true;
		else if (escaped && c == '-')
			*minus = true;
		else
			buffer_putc(rest, c);
	}
	return *(*at)++ == ']';
}

/* [...] at *AT, behind its bracket. There a backslash means itself, and ']' and '-' are told by their places. */
static bool put_set(struct buffer *out, const char **at)
{
	struct buffer rest = BUFFER_INIT;
	bool bracket = false, minus = false, not = **at == '^', whole;

	*at += not;
	whole = read_set(&rest, at, &bracket, &minus);
	buffer_puts(out, not ? "[^" : "[");
	buffer_puts(out, bracket ? "]" : "");
	buffer_append(out, rest.data, rest.length);
	buffer_puts(out, minus ? "-]" : "]");
	out->failed = out->failed ? out->failed : rest.failed;
	buffer_free(&rest);
	return whole;
}

/* {n,m} at *AT: only small numbers. */
static bool put_times(struct buffer *out, const char **at)
{
	const char *end = strchr(*at, '}'), *p;
	unsigned long n;
	char *rest;

	if (!end)
		return false;
	for (p = *at; p < end; p++)
		if (!ascii_is_digit(*p) && *p != ',')
			return false;
	n = strtoul(*at, &rest, 10);
	if (n > MOST_TIMES || (*rest == ',' && strtoul(rest + 1, NULL, 10) > MOST_TIMES))
		return false;
	buffer_putc(out, '{');
	buffer_append(out, *at, (size_t)(end + 1 - *at));
	*at = end + 1;
	return true;
}

/* PATTERN as the C library spells it, for the whole of a text. False: it cannot. */
static bool translate(struct buffer *out, const char *pattern)
{
	const char *at = pattern;
	char c;

	buffer_puts(out, "^(");
	while ((c = *at)) {
		at++;
		if (c == '\\') {
			if (!put_escaped(out, &at))
				return false;
		} else if (c == '[') {
			if (!put_set(out, &at))
				return false;
		} else if (c == '{') {
			if (!put_times(out, &at))
				return false;
		} else if (c == '(' && *at == '?') {
			if (at[1] != ':')
				return false;
			at += 2;
			buffer_putc(out, '(');
		} else {
			buffer_putc(out, c);
		}
		/* as few as possible, or as many: of a whole text that is the same; what gives nothing back is not */
		if ((c == '*' || c == '+' || c == '?' || c == '{') && *at == '?')
			at++;
		else if ((c == '*' || c == '+' || c == '?' || c == '{') && *at == '+')
			return false;
	}
	buffer_puts(out, ")$");
	buffer_putc(out, '\0');
	return true;
}

static int add(struct expressions *e, const char *pattern, const char *option, struct error *err)
{
	struct buffer spelled = BUFFER_INIT;
	bool known = translate(&spelled, pattern);
	regex_t *new = known && !spelled.failed ? VECTOR_PUSH(&e->items) : NULL;
	char why[128] = "it has something that only Java's expressions have";
	int rc = new ? regcomp(new, spelled.data, REG_EXTENDED | REG_NOSUB) : REG_BADPAT;

	if (new && rc) {
		regerror(rc, new, why, sizeof(why));
		e->items.count--;
	}
	buffer_free(&spelled);
	if (rc == REG_ESPACE || (known && !new))
		return error_set(err, ENOMEM, "out of memory");
	if (rc)
		return error_set(err, EINVAL, "%s '%s': this regular expression is not understood: %s; say it with "
				 ". * + ? | ( ) [ ] and \\ alone", option, pattern, why);
	return 0;
}

int expressions_read(struct expressions *e, const char *list, const char *option, struct error *err)
{
	char *copy = strdup(list), *line, *rest = copy;
	int rc = copy ? 0 : error_set(err, ENOMEM, "out of memory");

	while (rc == 0 && (line = strsep(&rest, "\n")))
		if (*line)
			rc = add(e, line, option, err);
	free(copy);
	return rc;
}

bool expressions_match(const struct expressions *e, const char *text)
{
	size_t i;

	for (i = 0; i < e->items.count; i++)
		if (regexec(&e->items.items[i], text, 0, NULL, 0) == 0)
			return true;
	return false;
}

void expressions_free(struct expressions *e)
{
	while (e->items.count)
		regfree(&e->items.items[--e->items.count]);
	free(e->items.items);
}
