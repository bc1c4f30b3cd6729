#include "cli/live/keyboard.h"

#include <stdlib.h>
#include <string.h>

#define CLEAR_LINE 21 /* Ctrl-U */

/* N bytes at the begin are done with. */
static void drop(struct keyboard *k, size_t n)
{
	k->count -= n;
	memmove(k->bytes, k->bytes + n, k->count);
}

/* What the sequence of N bytes is that ends as a key of the keypad or of the cursor does. */
static int key_of(const unsigned char *bytes, size_t n)
{
	static const struct {
		unsigned char end;
		int number;
		enum key key;
	} keys[] = {
		{'A', 0, KEY_UP}, {'B', 0, KEY_DOWN}, {'C', 0, KEY_RIGHT}, {'D', 0, KEY_LEFT}, {'H', 0, KEY_HOME},
		{'F', 0, KEY_END}, {'~', 1, KEY_HOME}, {'~', 7, KEY_HOME}, {'~', 4, KEY_END}, {'~', 8, KEY_END},
		{'~', 5, KEY_PAGE_UP}, {'~', 6, KEY_PAGE_DOWN},
	};
	size_t i;

	for (i = 0; i < ARRAY_LEN(keys); i++)
		if (keys[i].end == bytes[n - 1] && (!keys[i].number || (n == 4 && bytes[2] == '0' + keys[i].number)))
			return (int)keys[i].key;
	return KEY_OTHER;
}

int keyboard_next(struct keyboard *k, bool over)
{
	size_t n = 2;
	int key;

	if (!k->count)
		return KEY_NONE;
	if (k->bytes[0] != KEY_ESCAPE || (k->count == 1 && over) ||
	    (k->count > 1 && k->bytes[1] != '[' && k->bytes[1] != 'O')) {
		key = k->bytes[0];
		drop(k, 1);
		return key;
	}
	/* ESC [ parameters end, ESC O end */
	while (n < k->count && k->bytes[1] == '[' && k->bytes[n] < 0x40 && k->bytes[n] >= 0x20)
		n++;
	if (n >= k->count) {
		if (over || k->count == sizeof(k->bytes))
			k->count = 0;
		return k->count ? KEY_NONE : KEY_OTHER;
	}
	key = key_of(k->bytes, n + 1);
	drop(k, n + 1);
	return key;
}

bool keyboard_type(char *text, size_t size, int key)
{
	size_t n = strlen(text);

	if (key == '\n' || key == '\r')
		return true;
	if (key == KEY_ESCAPE || key == CLEAR_LINE) {
		memset(text, 0, size);
		return key == KEY_ESCAPE;
	}
	if (key == 8 || key == 127) {
		while (n && ((unsigned char)text[--n] & 0xc0) == 0x80)
			text[n] = '\0';
		text[n] = '\0';
	} else if (key >= 32 && key < 256 && n + 1 < size) {
		text[n] = (char)key;
	}
	return false;
}
