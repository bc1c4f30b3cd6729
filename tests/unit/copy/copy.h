/*
 * copy.h - what libcopy.so shows: a session of its own.
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

#endif
