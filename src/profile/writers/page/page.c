/*
 * page.c - the report as one offline HTML file: web/ as the build embedded it, and the data.
 */
#include <string.h>

#include "profile/writers/page/page_put.h"
#include "profile/writers/writers.h"

static void put_head(struct buffer *out, const struct profile *p)
{
	struct buffer title = BUFFER_INIT;

	if (p->title) {
		page_begin(out, p->title);
		return;
	}
	if (p->calls)
		buffer_puts(&title, "Calls");
	else
		buffer_printf(&title, "%s profile", strcmp(p->event, "cpu") ? p->event : "CPU");
	if (*p->main_class)
		buffer_printf(&title, " of %s", p->main_class);
	page_begin(out, buffer_text(&title, out));
	buffer_free(&title);
}

void format_pages(const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out)
{
	int result = 0;
	uint32_t i;

	put_head(out, profiles[0]);
	buffer_puts(out, count > 1 ? "[\n" : "");
	for (i = 0; i < count && !result; i++) {
		buffer_puts(out, i ? ",\n" : "");
		result = page_data_put(out, profiles[i], options, NULL);
	}
	buffer_puts(out, count > 1 ? "]\n" : "");
	page_end(out);
	if (result && !out->failed)
		out->failed = -result;
}

void format_page(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	format_pages(&p, 1, options, out);
}
