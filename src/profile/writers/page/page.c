/*
 * page.c - the report as one offline HTML file: web/ as the build embedded it, and the data.
 */
#include <string.h>

#include "profile/writers/page/page_put.h"
#include "profile/writers/writers.h"

/* The title of P's page. */
static void put_title(struct buffer *title, const struct profile *p)
{
	if (p->title) {
		buffer_puts(title, p->title);
		return;
	}
	if (p->calls)
		buffer_puts(title, "Calls");
	else
		buffer_printf(title, "%s profile", strcmp(p->event, "cpu") ? p->event : "CPU");
	if (*p->main_class)
		buffer_printf(title, " of %s", p->main_class);
}

/* For a browser without JavaScript: what the short report says, of each. */
static void put_report(struct buffer *report, const struct profile *const *profiles, uint32_t count,
		       const struct format_options *options)
{
	struct format_options plain = *options;
	uint32_t i;

	plain.color = false;
	plain.width = 0;
	for (i = 0; i < count; i++) {
		plain.beside = i ? NULL : options->beside;
		(profiles[i]->calls ? calls_hot : format_hot)(profiles[i], &plain, report);
		buffer_putc(report, '\n');
	}
}

void format_pages(const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out)
{
	struct buffer title = BUFFER_INIT, report = BUFFER_INIT;
	struct format_options own = *options;
	int result = 0;
	uint32_t i;

	put_title(&title, profiles[0]);
	put_report(&report, profiles, count, options);
	page_begin(out, buffer_text(&title, out), buffer_text(&report, out));
	buffer_free(&title);
	buffer_free(&report);
	buffer_puts(out, count > 1 ? "[\n" : "");
	for (i = 0; i < count && !result; i++) {
		buffer_puts(out, i ? ",\n" : "");
		/* what is of all of them stands in the first */
		own.beside = i ? NULL : options->beside;
		result = page_data_put(out, profiles[i], &own, NULL);
	}
	buffer_puts(out, count > 1 ? "]\n" : "");
	if (options->views)
		buffer_puts(out, options->views->code);
	page_end(out);
	if (result && !out->failed)
		out->failed = -result;
}

void format_page(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	format_pages(&p, 1, options, out);
}
