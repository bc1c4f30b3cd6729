/*
 * output_hidden.h - hidden names, ".NAME.<16 hex digits>.new": inner header of output.c and output_left.c.
 */
#ifndef JSTROBE_OS_OUTPUT_HIDDEN_H
#define JSTROBE_OS_OUTPUT_HIDDEN_H

#include "common/os/output.h"

#define HIDDEN_DIGITS 16
#define HIDDEN_END ".new"

/* What hidden names beside O's name begin with; its length. */
size_t hidden_begin(const struct output *o, char begin[NAME_MAX + 1]);
/* FD, just made, has a writer: us. -EEXIST: it was taken for one that was left, and has gone. */
int output_lock(int fd);
/* Remove hidden files beside O's name that have no writer any more. */
void output_remove_left(const struct output *o);

#endif
