#include "profile/writers/page/page_put.h"

#include <errno.h>

#include "common/base/clean.h"
#include "common/base/utf8.h"
#include "profile/writers/protobuf.h"

#include "page_code.h"
#include "page_template.h"

/* TEXT for the inside of an element: names in it may be of any bytes. */
static void put_html(struct buffer *out, const char *text)
{
	struct buffer valid = BUFFER_INIT, seen = BUFFER_INIT;
	size_t i;

	utf8_put(&valid, text);
	clean_put(&seen, valid.length ? valid.data : "", valid.length, CLEAN_TEXT);
	for (i = 0; i < seen.length; i++) {
		if (seen.data[i] == '<')
			buffer_puts(out, "&lt;");
		else if (seen.data[i] == '&')
			buffer_puts(out, "&amp;");
		else
			buffer_putc(out, seen.data[i]);
	}
	if (valid.failed || seen.failed)
		out->failed = out->failed ? out->failed : ENOMEM;
	buffer_free(&valid);
	buffer_free(&seen);
}

void page_begin(struct buffer *out, const char *title, const char *report)
{
	buffer_append(out, page_head, sizeof(page_head) - 1);
	put_html(out, title);
	buffer_append(out, page_style, sizeof(page_style) - 1);
	put_html(out, report);
	buffer_append(out, page_middle, sizeof(page_middle) - 1);
}

static void put_base64(struct buffer *out, const void *bytes, size_t length)
{
	static const char alphabet[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const unsigned char *from = bytes;
	size_t at, left;
	unsigned i;

	for (at = 0; at < length; at += 3) {
		char group[4] = {'=', '=', '=', '='};
		uint32_t bits = 0;

		left = MIN(length - at, (size_t)3);
		for (i = 0; i < left; i++)
			bits |= (uint32_t)from[at + i] << (16 - 8 * i);
		for (i = 0; i <= left; i++)
			group[i] = alphabet[bits >> (18 - 6 * i) & 63];
		buffer_append(out, group, sizeof(group));
	}
}

void page_end(struct buffer *out)
{
	buffer_append(out, page_before_code, sizeof(page_before_code) - 1);
	put_base64(out, page_code, sizeof(page_code));
	buffer_append(out, page_foot, sizeof(page_foot) - 1);
}

static void put_member(struct json_writer *w, const char *key, const struct buffer *bytes)
{
	json_begin_text(w, key);
	put_base64(w->out, bytes->data, bytes->length);
	json_end_text(w);
}

void page_byte(struct page_bytes *e, unsigned byte)
{
	buffer_putc(&e->bytes, (char)byte);
}

void page_bytes_end(struct page_bytes *e)
{
	struct buffer packed = BUFFER_INIT;

	if (e->views && e->views->pack(&e->bytes, &packed)) {
		json_object(e->to, e->key);
		put_member(e->to, "gzip", &packed);
		json_end(e->to);
	} else {
		put_member(e->to, e->key, &e->bytes);
	}
	if (e->bytes.failed && !e->to->out->failed)
		e->to->out->failed = e->bytes.failed;
	buffer_free(&packed);
	buffer_free(&e->bytes);
}

void page_varint(struct page_bytes *e, uint64_t value)
{
	proto_varint(&e->bytes, value);
}

void page_node(struct page_bytes *e, unsigned head, uint32_t up, uint32_t name)
{
	page_byte(e, head | MIN(up, PAGE_HEAD_UP_MORE) << PAGE_HEAD_UP_SHIFT);
	if (up >= PAGE_HEAD_UP_MORE)
		page_varint(e, up - PAGE_HEAD_UP_MORE);
	page_varint(e, name);
}
