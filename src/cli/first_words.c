/*
 * first_words.c - what the words of the first screen mean, for the terminal and as a page.
 */
#include <string.h>

#include "cli/cli.h"
#include "common/base/utf8.h"
#include "common/words/enum_names.h"
#include "profile/model/work/activity.h"

static const struct {
	const char *word, *meaning;
} words[] = {
#define FIRST_WORD(word, meaning) {word, meaning},
#include "cli/first_words.def"
};

#define INDENT 25 /* columns in front of what a word means */

/* The word, padded, or with a line of its own where it is too wide. */
static void put_word(struct buffer *out, const char *word)
{
	int left = INDENT - 2 - (int)utf8_columns(word, strlen(word));

	buffer_printf(out, left > 1 ? "  %s%*s" : "  %s\n%*s", word, left > 1 ? left : INDENT, "");
}

static void put(struct buffer *out, bool markdown, const char *word, const char *meaning)
{
	if (markdown) {
		buffer_printf(out, "| `%s` | %s |\n", word, meaning);
		return;
	}
	put_word(out, word);
	options_put_lines(meaning, INDENT, out);
}

static void put_title(struct buffer *out, bool markdown, const char *title)
{
	if (markdown)
		buffer_printf(out, "\n## %s\n\n| word | what it means |\n|---|---|\n", title);
	else
		buffer_printf(out, "%s%s\n", out->length ? "\n" : "", title);
}

void first_words(struct buffer *out, bool markdown)
{
	size_t i;

	put_title(out, markdown, "Tables, findings, and the line that vouches");
	for (i = 0; i < ARRAY_LEN(words); i++)
		put(out, markdown, words[i].word, words[i].meaning);
	put_title(out, markdown, "What a thread did");
	for (i = 0; i < ACTIVITIES; i++)
		put(out, markdown, activity_names[i].head, activity_names[i].meaning);
	put_title(out, markdown, "Why samples are lost");
	for (i = 0; i < LOSS_REASONS; i++)
		put(out, markdown, loss_names[i].name, loss_names[i].meaning);
}
