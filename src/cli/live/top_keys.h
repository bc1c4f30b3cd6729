/*
 * top_keys.h - the table of keys and views of `jstrobe top` (top_keys.def) as data.
 */
#ifndef JSTROBE_CLI_LIVE_TOP_KEYS_H
#define JSTROBE_CLI_LIVE_TOP_KEYS_H

#include "common/base/buffer.h"

enum top_view_id {
#define VIEW(id, key, word, build, kinds, event, help) TOP_##id,
#include "cli/live/top_keys.def"
	TOP_VIEWS
};

/* What a key does; the first TOP_VIEWS of them show a view. */
enum top_action {
#define VIEW(id, key, word, build, kinds, event, help) TOP_SHOW_##id,
#include "cli/live/top_keys.def"
#define KEY(id, key, name, word, help) TOP_DO_##id,
#include "cli/live/top_keys.def"
	TOP_ACTIONS
};

/* What KEY (a character, or one of enum key) does; TOP_ACTIONS: nothing. */
enum top_action top_key_action(int key);
/* The word for a view: "locks". */
const char *top_view_word(enum top_view_id view);

/* Append the keys as one line, what fits into COLUMNS; ACTIVE is in brackets. */
void top_keys_line(struct buffer *out, enum top_view_id active, unsigned columns);
/* Line number I of the help page for COLUMNS columns, without its end; false: there is none. */
bool top_keys_help(struct buffer *out, size_t i, unsigned columns);
/* Append them as a table in Markdown. */
void top_keys_markdown(struct buffer *out);

#endif
