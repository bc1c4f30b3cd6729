/*
 * views.h - the door of the views room: what a person sees of a profile beyond its numbers, with the command's means.
 * The agent is not linked with it.
 */
#ifndef JSTROBE_VIEWS_VIEWS_H
#define JSTROBE_VIEWS_VIEWS_H

#include "profile/writers/format.h"

/* For format_options.views. */
extern const struct format_views views;

#endif
