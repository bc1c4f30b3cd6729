/*
 * process_calls.h - calls by which a program ends, becomes another one, or makes a JVM: replaced in the images of a
 * program that was started with this library preloaded, for as long as it lives.
 *
 * exit() tells who registers for it; _exit() and the like tell no one, and what exec leaves behind of a session are
 * signals that end the next program. Children are none of our business: each hook passes on in a process that is not
 * the one that was preloaded into, also in a child of vfork(), which has its memory.
 */
#ifndef JSTROBE_HOOKS_PROCESS_CALLS_H
#define JSTROBE_HOOKS_PROCESS_CALLS_H

#include <stdbool.h>

/* What is told, on the thread that calls; none is NULL. */
struct process_events {
	void (*begins)(void);     /* main() is about to be called */
	void (*ends)(void);       /* by _exit() and the like */
	void (*becomes)(void);    /* another program, by exec … */
	void (*stays)(void);      /* … which failed: errno is kept */
	void (*main_ends)(void);  /* the main thread, by pthread_exit(); the others go on */
	/* A JVM is about to be made: an option for it, to be freed, or NULL … */
	char *(*jvm_begins)(void);
	void (*jvm_fails)(void);  /* … and could not be */
};

/*
 * EVENTS is kept. Once; any thread. MAIN: from a constructor, main() will be told. False: it will not, as the program
 * does without libc's start.
 */
bool process_calls_install(const struct process_events *events, bool main);
/* Whether a thread of the program is making a JVM, which lets no one in before it is there. Any thread. */
bool process_calls_make_jvm(void);
/* Images may have come since. Nothing, where nothing was installed; any thread in normal code. */
void process_calls_refresh(void);

#endif
