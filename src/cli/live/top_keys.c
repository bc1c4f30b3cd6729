#include "cli/live/top_keys.h"

#include <string.h>

#include "cli/live/keyboard.h"

struct row {
	int key;
	uint8_t action;
	const char *name, *word, *help; /* word "": it is not in the line; help NULL: another key for the action */
};

static const struct row rows[] = {
#define KEY(id, key, name, word, help) {key, TOP_DO_##id, name, word, help},
#define VIEW(id, key, word, build, kinds, event, help) {key, TOP_SHOW_##id, (const char[]){key, '\0'}, word, help},
#define ALSO(id, key, name) {key, TOP_DO_##id, name, "", NULL},
#include "cli/live/top_keys.def"
};

enum top_action top_key_action(int key)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].key == key || (rows[i].action < TOP_VIEWS && rows[i].key == (key | ('a' ^ 'A'))))
			return (enum top_action)rows[i].action;
	return TOP_ACTIONS;
}

const char *top_view_word(enum top_view_id view)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows) && rows[i].action != view; i++)
		;
	return i < ARRAY_LEN(rows) ? rows[i].word : "";
}

/* As it stands in the line: "q quit"; of a view "Locks", or "[Locks]" where that is ACTIVE. */
static void put_word(struct buffer *out, const struct row *row, enum top_view_id active)
{
	bool marked = row->action == active;

	if (row->action < TOP_VIEWS)
		buffer_printf(out, "%s%c%s%s", marked ? "[" : "", row->key ^ 'a' ^ 'A', row->word + 1,
			      marked ? "]" : "");
	else
		buffer_printf(out, "%s %s", row->name, row->word);
}

void top_keys_line(struct buffer *out, enum top_view_id active, unsigned columns)
{
	size_t begin = out->length, before, help = strlen(rows[0].name) + 2, i;

	for (i = 1; i < ARRAY_LEN(rows); i++) {
		if (!*rows[i].word)
			continue;
		before = out->length;
		if (i > 1)
			buffer_puts(out, rows[i - 1].action < TOP_VIEWS ? " " : "  ");
		put_word(out, &rows[i], active);
		if (out->length - begin + help > columns)
			out->length = before;
	}
	buffer_printf(out, "%s%s", out->length > begin ? "  " : "", rows[0].name);
}

/* The other key for ACTION; NULL: there is none. */
static const char *other(uint8_t action)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(rows); i++)
		if (!rows[i].help && rows[i].action == action)
			return rows[i].name;
	return NULL;
}

static void put_names(struct buffer *out, const struct row *row, const char *quote)
{
	const char *also = other(row->action);

	buffer_printf(out, "%s%s%s", quote, row->name, quote);
	if (also)
		buffer_printf(out, ", %s%s%s", quote, also, quote);
}

/* Where the words from TEXT on that fit into COLUMNS end. */
static size_t words(const char *text, size_t columns)
{
	size_t end = strlen(text), n;

	if (end <= columns)
		return end;
	for (n = columns; n && text[n] != ' '; n--)
		;
	return n ? n : columns;
}

bool top_keys_help(struct buffer *out, size_t wanted, unsigned columns)
{
	unsigned room = columns > 24 ? columns - 12 : 12;
	size_t i, at, n;

	for (i = 0; i < ARRAY_LEN(rows) && rows[i].help; i++) {
		for (at = 0; rows[i].help[at]; at += n + (rows[i].help[at + n] == ' ')) {
			n = words(rows[i].help + at, room);
			if (wanted--)
				continue;
			if (at) {
				buffer_printf(out, "%12s", "");
			} else {
				size_t before = out->length;

				buffer_puts(out, "  ");
				put_names(out, &rows[i], "");
				buffer_printf(out, "%*s", (int)(12 - MIN(out->length - before, (size_t)11)), "");
			}
			buffer_append(out, rows[i].help + at, n);
			return true;
		}
	}
	return false;
}

void top_keys_markdown(struct buffer *out)
{
	size_t i;

	buffer_puts(out, "| key | what it does |\n|---|---|\n");
	for (i = 0; i < ARRAY_LEN(rows) && rows[i].help; i++) {
		buffer_puts(out, "| ");
		put_names(out, &rows[i], "`");
		if (rows[i].action < TOP_VIEWS)
			buffer_printf(out, " | **%s**: %s |\n", rows[i].word, rows[i].help);
		else
			buffer_printf(out, " | %s |\n", rows[i].help);
	}
}
