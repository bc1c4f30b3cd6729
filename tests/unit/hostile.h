/*
 * hostile.h - what an agent that is none sends: conversations drawn from a seed, with honest parts, so that they come
 * far, and all that may be wrong with them.
 */
#ifndef HOSTILE_H
#define HOSTILE_H

#include "common/base/buffer.h"
#include "common/control/control.h"

struct hostile {
	uint64_t seed;
	char token[CONTROL_TOKEN_LENGTH + 1]; /* the right one */
};

/* A number below N. */
uint32_t hostile_below(struct hostile *h, uint32_t n);
/* Append the begin of a conversation: most often an honest hello. */
void hostile_hello(struct hostile *h, struct buffer *out);
/* Append what is said next: a message or several, honest, mutated, cut, garbage, or a flood. */
void hostile_words(struct hostile *h, struct buffer *out);

#endif
