/*
 * formats.c - which writer serves a word or a file name.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/ascii.h"
#include "common/base/json_writer.h"
#include "profile/model/filter.h"
#include "profile/model/lasting_names.h"
#include "profile/model/owners.h"
#include "profile/writers/writers.h"

#define KIND_MAX 12 /* letters of a suffix that says what a file is */

/* A recording is written sample by sample while it happens; of sums none can be made. */
#define format_jfr NULL
/* The page is one for both. */
#define calls_page format_page
/* packed.h */
#define calls_packed NULL

/* Stands for what options->exports writes: see write_all. */
static void format_export(const struct profile *p, const struct format_options *options, struct buffer *out)
{
	out->failed = out->failed ? out->failed : ENOTSUP;
}

const struct format formats[] = {
#define FORMAT(name, extensions, function, help) {#name, extensions, format_##function, calls_##function},
#define EXPORT(name, extensions, help) {#name, extensions, format_export, NULL},
#include "profile/writers/formats.def"
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
	return f->write && f->write != format_json && f->write != format_page && f->write != format_packed &&
	       f->write != format_export;
}

bool format_is_export(const struct format *f)
{
	return f->write == format_export;
}

bool format_is_page(const struct format *f)
{
	return f->write == format_page;
}

bool format_has_times(const struct format *f)
{
	static const char *const others[] = {"firefox", "perfetto", "otlp", "otlpjson"};
	size_t i;

	for (i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(f->name, others[i]) == 0)
			return true;
	return format_is_page(f) || f->write == format_json;
}

bool format_uses_times(const struct format *f)
{
	return format_has_times(f) || f->write == format_hot;
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

/* In front of the profile number I of several in JSON. */
static void put_between(const struct format_options *options, uint32_t i, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);

	if (i || !options->beside) {
		buffer_puts(out, i ? ",\n" : "{\"schema\": 1, \"profiles\": [\n");
		return;
	}
	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	options->beside->json(options->beside, &w);
	buffer_puts(out, ",\n\"profiles\": [\n");
}

static void write_all(const struct format *f, const struct profile *const *profiles, uint32_t count,
		      const struct format_options *options, struct buffer *out)
{
	struct format_options own = *options;
	bool json = f->write == format_json;
	uint32_t i;

	if (format_is_export(f) && options->exports) {
		options->exports(f, profiles, count, options, out);
		return;
	}
	own.tree = strcmp(f->name, "tree") == 0;
	if (options->beside && f->write == format_hot)
		options->beside->text(options->beside, options->color, out);
	own.event = count > 1;
	if (count > 1 && f->write == format_page) {
		format_pages(profiles, count, &own, out);
		return;
	}
	own.beside = count > 1 && json ? NULL : options->beside;
	for (i = 0; i < count; i++) {
		if (count > 1 && json)
			put_between(options, i, out);
		else if (i && f->write != format_collapsed && f->write != format_loss && f->write != format_packed)
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

/* What stands in the place of a profile. */
struct view {
	struct owners owners;
	struct lasting_names names;
};

/* P as OPTIONS want it, kept in V; NULL: out of memory. */
static const struct profile *view_of(struct view *v, const struct profile *p, const struct format_options *options)
{
	if (options->owners && profile_has_waits(p)) {
		if (owners_apply(&v->owners, p))
			return NULL;
		p = &v->owners.profile;
	}
	if (!options->lasting)
		return p;
	return lasting_names_build(&v->names, p) ? NULL : &v->names.profile;
}

void format_write(const struct format *f, const struct profile *const *profiles, uint32_t count,
		  const struct format_options *options, struct buffer *out, struct format_told *told)
{
	struct view *views = calloc(count, sizeof(*views));
	const struct profile **shown = calloc(count, sizeof(*shown));
	bool whole = views && shown;
	uint32_t i;

	for (i = 0; whole && i < count; i++) {
		shown[i] = view_of(&views[i], profiles[i], options);
		whole = shown[i];
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
	for (i = 0; views && i < count; i++) {
		lasting_names_free(&views[i].names);
		owners_free(&views[i].owners);
	}
	free(views);
	free(shown);
}

/* What follows the last dot of FILE's name; "" if nothing does. */
static const char *suffix_of(const char *file)
{
	const char *base = strrchr(file, '/');
	const char *dot = strrchr(base ? base + 1 : file, '.');

	return dot ? dot + 1 : "";
}

/* How many characters of the end of NAME are a dot and one word of LIST, in any case: the longest; 0: none. */
static size_t tail_of(const char *name, const char *list)
{
	size_t length = strlen(name), most = 0, n;

	for (; *list; list += n, list += strspn(list, " ")) {
		n = strcspn(list, " ");
		if (n >= most && length > n && name[length - n - 1] == '.' && ascii_begins(list, name + length - n, n))
			most = n + 1;
	}
	return most;
}

/* The format whose suffix FILE has, of LENGTH with its dot: x.speedscope.json is no x.json. */
static const struct format *by_suffix(const char *file, size_t *length)
{
	const char *base = strrchr(file, '/');
	const struct format *f, *found = NULL;
	size_t n;

	*length = 0;
	for (f = formats; f->name; f++) {
		n = tail_of(base ? base + 1 : file, f->extensions);
		if (n > *length) {
			*length = n;
			found = f;
		}
	}
	return found;
}

const struct format *format_by_file(const char *file)
{
	size_t length;
	const struct format *f = by_suffix(file, &length);

	return f ? f : format_by_name("text");
}

size_t format_suffix(const char *file)
{
	size_t length;

	by_suffix(file, &length);
	return length;
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

	if (!is_kind(suffix) || format_suffix(file))
		return 0;
	return error_set(err, EINVAL, "%s: there is no format .%s; use .html (flame graph), .jfr, .json, .pb.gz, "
			 ".collapsed or .txt, or say -o FORMAT ('jstrobe help formats' lists them)", file, suffix);
}
