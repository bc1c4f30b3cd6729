/*
 * screen.h - a terminal that a command fills again and again: `jstrobe top`, `jstrobe trace --live`.
 */
#ifndef JSTROBE_CLI_LIVE_SCREEN_H
#define JSTROBE_CLI_LIVE_SCREEN_H

#include <termios.h>

#include "common/base/buffer.h"

#define SCREEN_FILTER 64

struct screen {
	bool open, typing;           /* a filter is being typed */
	struct termios former;
	unsigned rows, columns;      /* 24×80 where stdout is no terminal */
	char filter[SCREEN_FILTER];  /* "" = all */
};

/* Take the terminal, if stdin and stdout are one. */
void screen_open(struct screen *s);
void screen_close(struct screen *s);
/* How big it is now. */
void screen_measure(struct screen *s);
/* The next key that is a command, 0 = none; "/" and what is typed after it go into the filter. */
char screen_key(struct screen *s);
/* Show TEXT: in the place of what was there, or, where there is no terminal, below it. */
void screen_show(const struct screen *s, const struct buffer *text);
/* Append a line of TEXT, cut to COLUMNS, without anything that moves a cursor. */
void screen_line(struct buffer *out, const char *text, unsigned columns);

#endif
