#include "profile/writers/page/page_put.h"

#include "page_template.h"

/* TEXT for the inside of an element. */
static void put_html(struct buffer *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '<')
			buffer_puts(out, "&lt;");
		else if (*text == '&')
			buffer_puts(out, "&amp;");
		else
			buffer_putc(out, *text);
	}
}

void page_begin(struct buffer *out, const char *title)
{
	buffer_append(out, page_head, sizeof(page_head) - 1);
	put_html(out, title);
	buffer_append(out, page_style, sizeof(page_style) - 1);
}

void page_end(struct buffer *out)
{
	buffer_append(out, page_code, sizeof(page_code) - 1);
}

void page_json(struct buffer *out, const char *text)
{
	struct buffer quoted = BUFFER_INIT;
	size_t i;

	buffer_json(&quoted, text ? text : "");
	for (i = 0; i < quoted.length; i++) {
		if (quoted.data[i] == '<')
			buffer_puts(out, "\\u003c");
		else
			buffer_putc(out, quoted.data[i]);
	}
	if (quoted.failed && !out->failed)
		out->failed = quoted.failed;
	buffer_free(&quoted);
}

void page_string(struct buffer *out, const char *key, const char *value)
{
	buffer_printf(out, "\"%s\":", key);
	page_json(out, value);
	buffer_puts(out, ",\n");
}

void page_number(struct buffer *out, const char *key, uint64_t value)
{
	buffer_printf(out, "\"%s\":%llu,\n", key, (unsigned long long)value);
}

void page_flag(struct buffer *out, const char *key, bool value)
{
	buffer_printf(out, "\"%s\":%s,\n", key, value ? "true" : "false");
}

void page_origin(struct buffer *out, const struct page_origin *o)
{
	page_string(out, "version", JSTROBE_VERSION);
	page_string(out, "event", o->event);
	page_string(out, "engine", o->engine);
	page_string(out, "main", o->main_class);
	page_string(out, "jdk", o->jdk);
	buffer_printf(out, "\"pid\":%d,\n", o->pid);
	page_number(out, "startedMs", o->started_at / NS_PER_MS);
	page_number(out, "duration", o->duration);
	page_number(out, "interval", o->interval);
}

static void put_group(struct page_bytes *e, unsigned characters)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char group[4] = {'=', '=', '=', '='};
	unsigned i;

	for (i = 0; i < characters; i++)
		group[i] = alphabet[e->bits >> (18 - 6 * i) & 63];
	buffer_append(e->out, group, sizeof(group));
	e->bits = 0;
	e->count = 0;
}

void page_byte(struct page_bytes *e, unsigned byte)
{
	e->bits |= (byte & 0xff) << (16 - 8 * e->count);
	if (++e->count == 3)
		put_group(e, 4);
}

void page_varint(struct page_bytes *e, uint64_t value)
{
	while (value > 0x7f) {
		page_byte(e, 0x80 | (unsigned)(value & 0x7f));
		value >>= 7;
	}
	page_byte(e, (unsigned)value);
}

void page_bytes_end(struct page_bytes *e)
{
	if (e->count)
		put_group(e, e->count + 1);
}

void page_node(struct page_bytes *e, unsigned head, uint32_t up, uint32_t name)
{
	page_byte(e, head | MIN(up, PAGE_HEAD_UP_MORE) << PAGE_HEAD_UP_SHIFT);
	if (up >= PAGE_HEAD_UP_MORE)
		page_varint(e, up - PAGE_HEAD_UP_MORE);
	page_varint(e, name);
}
