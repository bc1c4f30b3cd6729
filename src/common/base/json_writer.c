#include "common/base/json_writer.h"

#include "common/base/clean.h"
#include "common/base/utf8.h"

/* ---- texts ---- */

static void put_unit(struct buffer *b, uint32_t c)
{
	if (c > 0xffff)
		buffer_printf(b, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + ((c - 0x10000) & 0x3ff));
	else
		buffer_printf(b, "\\u%04x", c);
}

/* What stands at P, N bytes of UTF-8 or none if N is 0, escaped where it must be; the number of bytes it took. */
static size_t put_character(struct buffer *b, const unsigned char *p, size_t n)
{
	uint32_t c = 0;

	if (n == 0) {
		n = utf8_foreign(p, &c);
		put_unit(b, c);
		return n;
	}
	if (clean_length((const char *)p, n, CLEAN_LINE) == n)
		buffer_append(b, p, n);
	else
		put_unit(b, utf8_character(p, n));
	return n;
}

/* Whether C stands for itself. */
static bool is_plain(unsigned char c, bool in_page)
{
	return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && (c != '<' || !in_page);
}

static void quote(struct buffer *b, const char *text, bool in_page)
{
	const unsigned char *p = (const unsigned char *)text;

	buffer_putc(b, '"');
	while (*p && !b->failed) {
		size_t n = 0;

		while (is_plain(p[n], in_page))
			n++;
		buffer_append(b, p, n);
		p += n;
		n = *p ? utf8_length(p) : 1;
		if (n != 1) {
			p += put_character(b, p, n);
		} else if (*p) {
			if (*p == '"' || *p == '\\')
				buffer_printf(b, "\\%c", *p);
			else
				put_unit(b, *p);
			p++;
		}
	}
	buffer_putc(b, '"');
}

void json_quote(struct buffer *b, const char *text)
{
	quote(b, text, false);
}

/* ---- values ---- */

/* Whether what stands in the innermost object or array has lines of its own. */
static bool on_lines(const struct json_writer *w)
{
	return w->layout != JSON_LINE && (w->depth == 1 || (w->depth == 2 && w->arrays >> w->depth & 1));
}

static void new_line(struct json_writer *w)
{
	buffer_putc(w->out, '\n');
	if (w->layout == JSON_FILE)
		buffer_printf(w->out, "%*s", (int)(2 * w->depth), "");
}

/* Up to the value. */
static void begin(struct json_writer *w, const char *key)
{
	if (w->filled)
		buffer_putc(w->out, ',');
	if (on_lines(w))
		new_line(w);
	else if (w->filled && w->layout == JSON_FILE)
		buffer_putc(w->out, ' ');
	w->filled = true;
	if (!key)
		return;
	quote(w->out, key, w->layout == JSON_PAGE);
	buffer_puts(w->out, w->layout == JSON_FILE ? ": " : ":");
}

void json_object(struct json_writer *w, const char *key)
{
	begin(w, key);
	buffer_putc(w->out, '{');
	w->depth++;
	w->arrays &= ~(1ull << w->depth);
	w->filled = false;
}

void json_array(struct json_writer *w, const char *key)
{
	begin(w, key);
	buffer_putc(w->out, '[');
	w->depth++;
	w->arrays |= 1ull << w->depth;
	w->filled = false;
}

void json_end(struct json_writer *w)
{
	bool array = w->arrays >> w->depth & 1, line = on_lines(w);

	w->depth--;
	if (line)
		new_line(w);
	buffer_puts(w->out, array ? "]" : "}");
	if (!w->depth)
		buffer_putc(w->out, '\n');
	w->filled = w->depth > 0;
}

void json_put_number(struct json_writer *w, const char *key, uint64_t value)
{
	begin(w, key);
	buffer_printf(w->out, "%llu", (unsigned long long)value);
}

void json_put_text(struct json_writer *w, const char *key, const char *text)
{
	begin(w, key);
	quote(w->out, text ? text : "", w->layout == JSON_PAGE);
}

void json_put_value(struct json_writer *w, const char *key, const char *value)
{
	begin(w, key);
	buffer_puts(w->out, value);
}

void json_put_bool(struct json_writer *w, const char *key, bool value)
{
	json_put_value(w, key, value ? "true" : "false");
}

void json_begin_text(struct json_writer *w, const char *key)
{
	begin(w, key);
	buffer_putc(w->out, '"');
}

void json_end_text(struct json_writer *w)
{
	buffer_putc(w->out, '"');
}

void json_put_number_list(struct json_writer *w, const struct json_number *list)
{
	for (; list->key; list++)
		json_put_number(w, list->key, list->value);
}

void json_put_text_list(struct json_writer *w, const struct json_text *list)
{
	for (; list->key; list++)
		json_put_text(w, list->key, list->text);
}

void json_put_objects(struct json_writer *w, const char *key, uint32_t count, json_put_item *put, const void *data)
{
	uint32_t i;

	json_array(w, key);
	for (i = 0; i < count; i++) {
		json_object(w, NULL);
		put(w, i, data);
		json_end(w);
	}
	json_end(w);
}
