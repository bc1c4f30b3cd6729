/*
 * formats.c - which writer serves a word or a file name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "profile/model/filter.h"
#include "profile/model/owners.h"
#include "profile/writers/writers.h"

#define KIND_MAX 12 /* letters of a suffix that says what a file is */

/* A recording is written sample by sample while it happens; of sums none can be made. */
#define format_jfr NULL
/* The page is one for both. */
#define calls_page format_page

const struct format formats[] = {
#define FORMAT(name, extensions, function, help) {#name, extensions, help, format_##function, calls_##function},
#include "profile/writers/formats.def"
#undef FORMAT
	{.name = NULL},
};

const struct format *format_by_name(const char *name)
{
	const struct format *f;

	for (f = formats; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

bool format_is_text(const struct format *f)
{
	return f->write && f->write != format_json && f->write != format_page;
}

static void write_one(const struct format *f, const struct profile *p, const struct format_options *options,
		      struct buffer *out)
{
	format_writer *writer = p->calls ? f->write_calls : f->write;

	if (writer)
		writer(p, options, out);
	else
		out->failed = out->failed ? out->failed : ENOTSUP;
}

static void write_all(const struct format *f, const struct profile *const *profiles, uint32_t count,
		      const struct format_options *options, struct buffer *out)
{
	struct format_options own = *options;
	bool json = f->write == format_json;
	uint32_t i;

	own.tree = strcmp(f->name, "tree") == 0;
	if (count > 1 && f->write == format_page) {
		format_pages(profiles, count, &own, out);
		return;
	}
	own.event = count > 1;
	for (i = 0; i < count; i++) {
		if (count > 1 && json)
			buffer_puts(out, i ? ",\n" : "{\"schema\": 1, \"profiles\": [\n");
		else if (i && f->write != format_collapsed && f->write != format_loss)
			buffer_putc(out, '\n');
		write_one(f, profiles[i], &own, out);
	}
	if (count > 1 && json)
		buffer_puts(out, "]}\n");
}

void format_tell(const struct profile *const *profiles, uint32_t count, struct format_told *told)
{
	struct format_options options = {.event = count > 1};
	const struct format *loss = format_by_name("loss");
	uint32_t i;

	buffer_clean_begin(&told->losses);
	for (i = 0; i < count; i++) {
		write_one(loss, profiles[i], &options, &told->losses);
		told->taken += profiles[i]->taken;
		told->stored += profiles[i]->stored;
		told->left += profiles[i]->stored - profiles[i]->left_out;
	}
	buffer_clean_end(&told->losses);
}

static void write_and_tell(const struct format *f, const struct profile *const *shown, uint32_t count,
			   const struct format_options *options, struct buffer *out, struct format_told *told)
{
	write_all(f, shown, count, options, out);
	if (!told)
		return;
	format_tell(shown, count, told);
	told->filtered = filter_is_set(options);
}

/* What the filters leave of SHOWN, in place. */
static void write_filtered(const struct format *f, const struct profile **shown, uint32_t count,
			   const struct format_options *options, struct buffer *out, struct format_told *told)
{
	struct profile *views = calloc(count, sizeof(*views));
	uint32_t i = 0;

	for (; views && i < count; i++) {
		if (filter_apply(shown[i], options, &views[i]))
			break;
		shown[i] = &views[i];
	}
	if (i == count)
		write_and_tell(f, shown, count, options, out, told);
	else
		out->failed = out->failed ? out->failed : ENOMEM;
	while (i-- > 0)
		free((void *)(uintptr_t)views[i].stacks);
	free(views);
}

void format_write(const struct format *f, const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out, struct format_told *told)
{
	struct owners *owners = calloc(count, sizeof(*owners));
	const struct profile **shown = calloc(count, sizeof(*shown));
	bool whole = owners && shown;
	uint32_t i;

	for (i = 0; whole && i < count; i++) {
		bool turned = options->owners && profiles[i]->weight_kind == WEIGHT_WAIT && !profiles[i]->recorded;

		whole = !turned || owners_apply(&owners[i], profiles[i]) == 0;
		shown[i] = turned ? &owners[i].profile : profiles[i];
	}
	if (format_is_text(f))
		buffer_clean_begin(out);
	if (!whole)
		out->failed = out->failed ? out->failed : ENOMEM;
	else if (filter_is_set(options))
		write_filtered(f, shown, count, options, out, told);
	else
		write_and_tell(f, shown, count, options, out, told);
	buffer_clean_end(out);
	for (i = 0; owners && i < count; i++)
		owners_free(&owners[i]);
	free(owners);
	free(shown);
}

/* Whether the space separated LIST holds WORD, in any case. */
static bool has_word(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " ");

		if (n == length && ascii_begins(list, word, n))
			return true;
		list += n;
		list += strspn(list, " ");
	}
	return false;
}

/* What follows the last dot of FILE's name; "" if nothing does. */
static const char *suffix_of(const char *file)
{
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base ? base + 1 : file, '.');

	return dot ? dot + 1 : "";
}

static const struct format *by_suffix(const char *suffix)
{
	const struct format *f;

	for (f = formats; *suffix && f->name; f++)
		if (has_word(f->extensions, suffix))
			return f;
	return NULL;
}

const struct format *format_by_file(const char *file)
{
	const struct format *f = by_suffix(suffix_of(file));

	return f ? f : format_by_name("text");
}

/* Whether who writes SUFFIX thinks of a kind of file: "svg", not the "1" of x.1 or the "%t" of a pattern. */
static bool is_kind(const char *suffix)
{
	size_t n = 0;

	while (ascii_is_letter(suffix[n]) || (n && ascii_is_digit(suffix[n])))
		n++;
	return n && !suffix[n] && n <= KIND_MAX;
}

int format_check_file(const char *file, struct error *err)
{
	const char *suffix = suffix_of(file);

	if (!is_kind(suffix) || by_suffix(suffix))
		return 0;
	return error_set(err, EINVAL, "%s: there is no format .%s; use .html (flame graph), .jfr, .json, .collapsed or "
			 ".txt, or say -o FORMAT ('jstrobe help formats' lists them)", file, suffix);
}
