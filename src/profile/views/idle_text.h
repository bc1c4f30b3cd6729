/*
 * idle_text.h - the threads that waited all the time, in words: those that were idle, and those that waited for work or
 * for an answer, with the places where they did.
 */
#ifndef JSTROBE_VIEWS_IDLE_TEXT_H
#define JSTROBE_VIEWS_IDLE_TEXT_H

#include "common/base/buffer.h"
#include "profile/model/work/work.h"

/*
 * The sentence about those of W, of P, to OUT: idle ones, or UNSURE ones; without an end. False: there are none.
 * Without memory places are left out. Normal code.
 */
bool idle_sentence(struct buffer *out, const struct profile *p, const struct work *w, bool unsure);

/* " (22.00 % may be waits for an answer)" to OUT: a part of WHOLE, the time of W's threads; nothing below 1 %. */
void idle_unsure_part(struct buffer *out, const struct work *w, uint64_t whole);

#endif
