/*
 * copy.h - what libcopy.so shows: a session of its own, and marks.
 */
#ifndef COPY_H
#define COPY_H

#include <stdbool.h>
#include <stddef.h>

/* Sample EVENTS ("cpu,wall") at 5 ms; 0, or a negative errno and why in REASON[SIZE]. One session at a time. */
int copy_start(const char *events, char *reason, size_t size);
void copy_stop(void);
/* Whether the calling thread has a record. */
bool copy_knows(void);

/* A recording of this copy listens to what the program marks, or does not any more. */
void copy_listen(bool on);
/* Mark by this copy an event of TYPE (NULL: a span) that says TEXT. */
bool copy_mark(const char *type, const char *text);
/* "TYPE=TEXT " of each mark that this copy has had since the last time, in OUT; how many are lost. */
unsigned long copy_read(char *out, size_t size);

#endif
