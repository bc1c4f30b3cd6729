/*
 * reshape.h - what else jfrconv does with the stacks of a file: fewer of them (--grain, expressions), a category at
 * their root (--classify), fewer frames (--skip), the other way round (--reverse), one kind of code for each call
 * (`ann`).
 */
#ifndef JSTROBE_READERS_RESHAPE_H
#define JSTROBE_READERS_RESHAPE_H

#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/model/profile.h"

/* Whether O asks for any of it. */
bool reshape_is_wanted(const struct options *o);
/*
 * Do it with P, which owns its frames and stacks; *LISTS, to be freed after P, holds what stacks refer to. -EINVAL with
 * the reason, -ENOMEM. P stays one that can be freed.
 */
int reshape(struct profile *p, const struct options *o, uint32_t **lists, struct error *err);

#endif
