/*
 * comments.h - what a file for another viewer says of its making, as one line each. Normal code.
 */
#ifndef JSTROBE_EXPORTS_COMMENTS_H
#define JSTROBE_EXPORTS_COMMENTS_H

#include "common/base/buffer.h"
#include "profile/model/profile.h"

/* Append who made it, of what. */
void comments_made(struct buffer *line, const struct profile *p);
/* Append what happened to the samples of P, and what part of them the file has. */
void comments_samples(struct buffer *line, const struct profile *p);

#endif
