/*
 * screen.h - a terminal that a command fills again and again: `jstrobe top`, `jstrobe trace --live`.
 *
 * It is given back before the command ends, whatever ends it, and while the user has it stopped (Ctrl-Z). A command
 * that goes on in the background leaves the terminal alone until it is in front again.
 */
#ifndef JSTROBE_CLI_LIVE_SCREEN_H
#define JSTROBE_CLI_LIVE_SCREEN_H

#include <termios.h>

#include "cli/live/keyboard.h"
#include "common/base/buffer.h"

#define SCREEN_FILTER 128

/* For screen_styled, where the terminal has colours. */
#define SCREEN_BOLD "\033[1m"
#define SCREEN_DIM "\033[2m"
#define SCREEN_REVERSE "\033[7m"

struct screen {
	bool open, typing;           /* a filter is being typed */
	bool away;                   /* the terminal is someone else's for now */
	bool changed, blank;         /* what is shown is not what should be; nothing of it can stay */
	bool gone;                   /* no key will ever come again */
	struct termios former;
	unsigned rows, columns;      /* 24×80 where stdout is no terminal */
	char filter[SCREEN_FILTER];  /* "" = all */
	struct keyboard keyboard;
	int signals, events;         /* descriptors: signals about the terminal; that, and the keyboard */
};

/* Take the terminal, if stdin and stdout are one. */
void screen_open(struct screen *s);
void screen_close(struct screen *s);
/* A descriptor that is readable once there is something for screen_key; -1: nothing is waited for. */
int screen_events(const struct screen *s);
/* How big it is now. */
void screen_measure(struct screen *s);
/* The next key that is a command, KEY_NONE: none; "/" and what is typed after it go into the filter. */
int screen_key(struct screen *s);
/* Show TEXT: in the place of what was there, or, where there is no terminal, below it. */
void screen_show(struct screen *s, const struct buffer *text);
/* Append a line of TEXT, cut to COLUMNS, without anything that moves a cursor. */
void screen_line(struct buffer *out, const char *text, unsigned columns);
/* The same in STYLE; "": none. */
void screen_styled(struct buffer *out, const char *text, unsigned columns, const char *style);

#endif
