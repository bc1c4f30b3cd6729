/*
 * saved.h - results of ours in JSON (docs/json.md), of a recording or of a trace, back into profiles.
 */
#ifndef JSTROBE_CONVERT_SAVED_H
#define JSTROBE_CONVERT_SAVED_H

#include "convert/facts.h"
#include "convert/fold.h"
#include "convert/input.h"
#include "convert/request.h"

/* Whether IN begins as a JSON object does. */
bool saved_is(const struct input *in);
/*
 * Read the events that FAMILIES names ("" = all) into FOLD and FACTS, of these the stacks that REQUEST wants. A trace
 * is the event "calls": its invocations are samples, its wall-clock time is their weight. 0, or a negative errno with
 * the reason.
 */
int saved_read(const struct input *in, const char *families, const struct request_wanted *request,
	       struct fold *fold, struct facts *facts, struct error *err);

#endif
