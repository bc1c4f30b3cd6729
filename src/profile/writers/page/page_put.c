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
