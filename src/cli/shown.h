/*
 * shown.h - results on their way to a terminal, or to someone who will look at them in one. The agent wrote them, or a
 * file had their names in it: neither is trusted.
 */
#ifndef JSTROBE_CLI_SHOWN_H
#define JSTROBE_CLI_SHOWN_H

#include "common/base/buffer.h"
#include "common/base/error.h"

/* Whether what is written to FD in the format called FORMAT ("" = none of ours) has to pass here. */
bool shown_is_text(int fd, const char *format);
/*
 * Append BYTES[0..N) to OUT, what a terminal would obey written out; with COLOURS our own sequences for them stay.
 * Lines should come whole.
 */
void shown_put(struct buffer *out, const char *bytes, size_t n, bool colours);

#endif
