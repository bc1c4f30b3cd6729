/*
 * firefox_tables.c - categories are what code is on top, or what the thread waited in, so that the graphs of the page
 * are coloured by it.
 */
#include "profile/exports/firefox_tables.h"

#include <stdlib.h>
#include <string.h>

#include "common/words/enum_names.h"

enum category { CATEGORY_OTHER, CATEGORY_JAVA, CATEGORY_JVM, CATEGORY_NATIVE, CATEGORY_KERNEL, CATEGORY_WAITING };

/* Their colours are those that the page knows. The first is its default one; subcategory 0 is the category itself. */
static const struct {
	const char *name, *colour;
} categories[] = {
	[CATEGORY_OTHER] = {"Other", "grey"},
	[CATEGORY_JAVA] = {"Java", "green"},
	[CATEGORY_JVM] = {"JVM", "orange"},
	[CATEGORY_NATIVE] = {"Native", "blue"},
	[CATEGORY_KERNEL] = {"Kernel", "red"},
	[CATEGORY_WAITING] = {"Waiting", "transparent"},
};

struct kind {
	uint32_t category, subcategory;
};

static struct kind kind_of_frame(const struct profile_frame *f, bool known)
{
	static const uint32_t of_type[FRAME_TYPES] = {
		[TYPE_JAVA] = CATEGORY_JAVA, [TYPE_NATIVE] = CATEGORY_NATIVE, [TYPE_JVM] = CATEGORY_JVM,
		[TYPE_KERNEL] = CATEGORY_KERNEL, [TYPE_OTHER] = CATEGORY_OTHER,
	};
	uint32_t category = of_type[frame_type(f)];

	return (struct kind){category, category == CATEGORY_JAVA && known ? f->kind + 1u : 0};
}

/* What the innermost frame of a thread in STATE is: of its own kind IS, or it waits there. */
static struct kind kind_on_top(uint8_t state, struct kind is)
{
	switch (state) {
	case THREAD_BLOCKED:
	case THREAD_PARKED:
	case THREAD_WAITING:
	case THREAD_SLEEPING:
		return (struct kind){CATEGORY_WAITING, state + 1u};
	default:
		return is;
	}
}

/* ---- tables ---- */

static uint32_t add(struct firefox_tables *t, struct lists *to, const uint32_t *words, uint32_t count)
{
	uint32_t number = lists_add(to, words, count);

	t->failed |= number == LISTS_FAILED;
	return number;
}

static uint32_t text(struct firefox_tables *t, const char *name)
{
	uint32_t place = strings_add(&t->texts, name, strlen(name));

	t->failed |= t->texts.failed;
	return add(t, &t->text_places, &place, 1);
}

static uint32_t function(struct firefox_tables *t, const char *name, const char *library)
{
	uint32_t of_library = library ? text(t, library) : 0;
	uint32_t words[2] = {text(t, name), library ? add(t, &t->libraries, &of_library, 1) + 1 : 0};

	return add(t, &t->functions, words, ARRAY_LEN(words));
}

/* The functions of P's frames, and behind them that of a stack without frames; to be freed. */
static uint32_t *functions_of(struct firefox_tables *t, const struct profile *p, const struct format_options *options)
{
	uint32_t *of = calloc((size_t)p->frame_count + 1, sizeof(*of)), i;
	struct format_options own = *options;
	struct name_table names;

	own.lines = false; /* they have a place of their own */
	if (name_table_build(&names, p, format_style(STYLE_TEXT, &own)) || !of) {
		name_table_free(&names);
		free(of);
		return NULL;
	}
	for (i = 0; i < p->frame_count; i++)
		of[i] = function(t, name_text(&names, names.of_frame[i]), p->frames[i].library);
	of[i] = function(t, name_text(&names, names.no_frames), NULL);
	name_table_free(&names);
	return of;
}

static uint32_t stack(struct firefox_tables *t, const struct profile *p, const struct profile_stack *s,
		      const uint32_t *functions)
{
	uint32_t caller = 0, i;

	for (i = 0; i < MAX(s->depth, 1u) && !t->failed; i++) {
		const struct profile_frame *f = s->depth ? &p->frames[s->frames[i]] : NULL;
		struct kind kind = f ? kind_of_frame(f, !p->kinds_unknown) : (struct kind){CATEGORY_OTHER, 0};
		uint32_t words[4] = {functions[f ? s->frames[i] : p->frame_count], f ? (uint32_t)MAX(f->line, 0) : 0};
		uint32_t pair[2] = {caller};

		if (i + 1 >= s->depth)
			kind = kind_on_top(s->state, kind);
		words[2] = kind.category;
		words[3] = kind.subcategory;
		pair[1] = add(t, &t->frames, words, ARRAY_LEN(words));
		caller = add(t, &t->stacks, pair, ARRAY_LEN(pair)) + 1;
	}
	return caller - 1;
}

uint32_t *firefox_stacks(struct firefox_tables *t, const struct profile *p, const struct format_options *options)
{
	uint32_t *functions = functions_of(t, p, options), *of = calloc((size_t)p->stack_count + 1, sizeof(*of)), i;

	for (i = 0; functions && of && i < p->stack_count; i++)
		of[i] = stack(t, p, &p->stacks[i], functions);
	free(functions);
	if (functions && of && !t->failed)
		return of;
	free(of);
	return NULL;
}

/* ---- the file ---- */

static void put_subcategories(struct json_writer *w, enum category category)
{
	unsigned i;

	json_array(w, "subcategories");
	json_put_text(w, NULL, "Other");
	for (i = 0; category == CATEGORY_JAVA && i < FRAME_KINDS; i++)
		json_put_text(w, NULL, frame_kind_names[i].word);
	for (i = 0; category == CATEGORY_WAITING && i < THREAD_STATES; i++)
		json_put_text(w, NULL, *thread_state_names[i].word ? thread_state_names[i].word : "not known");
	json_end(w);
}

void firefox_put_categories(struct json_writer *w)
{
	unsigned i;

	json_array(w, "categories");
	for (i = 0; i < ARRAY_LEN(categories); i++) {
		json_object(w, NULL);
		json_put_texts(w, {"name", categories[i].name}, {"color", categories[i].colour});
		put_subcategories(w, (enum category)i);
		json_end(w);
	}
	json_end(w);
}

/* Word WORD of each list as the column KEY; one that is LESS is null, others are made smaller by LESS. */
static void put_column(struct json_writer *w, const char *key, const struct lists *l, unsigned word, uint32_t less)
{
	size_t i;
	uint32_t n;

	json_array(w, key);
	for (i = 0; i < l->places.count; i++) {
		uint32_t value = lists_get(l, (uint32_t)i, &n)[word];

		if (value < less)
			json_put_value(w, NULL, "null");
		else
			json_put_number(w, NULL, value - less);
	}
	json_end(w);
}

/* Those of frames; 0 is none. */
static void put_lines(struct json_writer *w, const struct lists *frames)
{
	size_t i;
	uint32_t n;

	json_array(w, "line");
	for (i = 0; i < frames->places.count; i++) {
		uint32_t line = lists_get(frames, (uint32_t)i, &n)[1];

		if (line)
			json_put_number(w, NULL, line);
		else
			json_put_value(w, NULL, "null");
	}
	json_end(w);
}

/* A column that is VALUE for each list. */
static void put_same(struct json_writer *w, const char *key, const struct lists *l, const char *value)
{
	size_t i;

	json_array(w, key);
	for (i = 0; i < l->places.count; i++)
		json_put_value(w, NULL, value);
	json_end(w);
}

static void end_table(struct json_writer *w, size_t length)
{
	json_put_number(w, "length", length);
	json_end(w);
}

void firefox_put_empty_columns(struct json_writer *w, const char *key, const char *const *columns)
{
	json_object(w, key);
	for (; *columns; columns++) {
		json_array(w, *columns);
		json_end(w);
	}
	end_table(w, 0);
}

static void put_frames(struct json_writer *w, const struct lists *frames)
{
	json_object(w, "frameTable");
	put_same(w, "address", frames, "-1");
	put_same(w, "inlineDepth", frames, "0");
	put_column(w, "category", frames, 2, 0);
	put_column(w, "subcategory", frames, 3, 0);
	put_column(w, "func", frames, 0, 0);
	put_same(w, "nativeSymbol", frames, "null");
	put_same(w, "innerWindowID", frames, "0");
	put_lines(w, frames);
	put_same(w, "column", frames, "null");
	end_table(w, frames->places.count);
}

/* The functions' resources are libraries, by name alone. */
static void put_functions(struct json_writer *w, const struct lists *functions)
{
	size_t i;
	uint32_t n;

	json_object(w, "funcTable");
	put_column(w, "name", functions, 0, 0);
	put_same(w, "isJS", functions, "false");
	put_same(w, "relevantForJS", functions, "false");
	json_array(w, "resource");
	for (i = 0; i < functions->places.count; i++) {
		uint32_t library = lists_get(functions, (uint32_t)i, &n)[1];

		if (library)
			json_put_number(w, NULL, library - 1);
		else
			json_put_value(w, NULL, "-1");
	}
	json_end(w);
	put_same(w, "source", functions, "null");
	put_same(w, "lineNumber", functions, "null");
	put_same(w, "columnNumber", functions, "null");
	end_table(w, functions->places.count);
}

static void put_resources(struct json_writer *w, const struct lists *libraries)
{
	json_object(w, "resourceTable");
	put_same(w, "lib", libraries, "null");
	put_column(w, "name", libraries, 0, 0);
	put_same(w, "host", libraries, "null");
	put_same(w, "type", libraries, "1"); /* a library, in the page's list of types */
	end_table(w, libraries->places.count);
}

void firefox_put_tables(struct json_writer *w, struct firefox_tables *t)
{
	size_t i;
	uint32_t n;

	json_object(w, "shared");
	json_array(w, "stringArray");
	for (i = 0; i < t->text_places.places.count; i++)
		json_put_text(w, NULL, strings_get(&t->texts, *lists_get(&t->text_places, (uint32_t)i, &n)));
	json_end(w);
	firefox_put_empty_table(w, "sources", "id", "filename");
	json_object(w, "stackTable");
	put_column(w, "frame", &t->stacks, 1, 0);
	put_column(w, "prefix", &t->stacks, 0, 1);
	end_table(w, t->stacks.places.count);
	put_frames(w, &t->frames);
	put_functions(w, &t->functions);
	put_resources(w, &t->libraries);
	firefox_put_empty_table(w, "nativeSymbols", "libIndex", "address", "name", "functionSize");
	json_end(w);
}

void firefox_tables_free(struct firefox_tables *t)
{
	strings_free(&t->texts);
	lists_free(&t->text_places);
	lists_free(&t->libraries);
	lists_free(&t->functions);
	lists_free(&t->frames);
	lists_free(&t->stacks);
}
