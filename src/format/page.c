/*
 * page.c - the report as one offline HTML file: web/ as the build embedded it, and the data.
 */
#include <string.h>

#include "format/page_data.h"
#include "format/writers.h"
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

static void put_title(struct buffer *out, const struct profile *p)
{
	if (p->title) {
		put_html(out, p->title);
		return;
	}
	put_html(out, strcmp(p->event, "cpu") ? p->event : "CPU");
	buffer_puts(out, " profile");
	if (*p->main_class) {
		buffer_puts(out, " of ");
		put_html(out, p->main_class);
	}
}

void format_pages(const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out)
{
	int result = 0;
	uint32_t i;

	buffer_append(out, page_head, sizeof(page_head) - 1);
	put_title(out, profiles[0]);
	buffer_append(out, page_style, sizeof(page_style) - 1);
	buffer_puts(out, count > 1 ? "[\n" : "");
	for (i = 0; i < count && !result; i++) {
		buffer_puts(out, i ? ",\n" : "");
		result = page_data_put(out, profiles[i], options);
	}
	buffer_puts(out, count > 1 ? "]\n" : "");
	buffer_append(out, page_code, sizeof(page_code) - 1);
	if (result && !out->failed)
		out->failed = -result;
}

void format_page(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	format_pages(&p, 1, options, out);
}
