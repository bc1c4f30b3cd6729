/*
 * keyboard.h - keys out of the bytes that a terminal sends.
 */
#ifndef JSTROBE_CLI_LIVE_KEYBOARD_H
#define JSTROBE_CLI_LIVE_KEYBOARD_H

#include "common/base/base.h"

/* Keys are their bytes; these have more than one, or are none: KEY_NONE, none has come; KEY_OTHER, one unknown here. */
enum key {
	KEY_NONE = 0, KEY_ESCAPE = 27, KEY_UP = 256, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_HOME, KEY_END, KEY_PAGE_UP,
	KEY_PAGE_DOWN, KEY_OTHER,
};

struct keyboard {
	unsigned char bytes[256];
	size_t count;
};

/*
 * Take the next key out of what came. KEY_NONE: nothing is there, or only the begin of a key; with OVER nothing more is
 * on its way, so that is all of it.
 */
int keyboard_next(struct keyboard *k, bool over);

/* A line that is being typed, of at most SIZE bytes with its end: KEY changes TEXT. True: it is finished. */
bool keyboard_type(char *text, size_t size, int key);

#endif
