/*
 * source_options.h - what follows from options and events alone, for collector and writers. Inner header.
 */
#ifndef JSTROBE_SESSION_SOURCE_OPTIONS_H
#define JSTROBE_SESSION_SOURCE_OPTIONS_H

#include "agent/collect/collector.h"
#include "agent/sources/engine.h"
#include "common/base/error.h"
#include "common/options/options.h"
#include "profile/writers/format.h"

/* The events of O's list; EVENTS has room for RECORD_EVENTS. Their number, or a negative errno. */
int source_options_events(const struct options *o, struct engine_event *events, struct error *err);
/* Entries of a new queue. */
uint32_t source_options_queue(const struct options *o, const struct engine_event *events, uint32_t count);
/* An empty account for samples of EVENTS as O wants it; NULL when out of memory. */
struct collector *source_options_collector(const struct options *o, const struct engine_event *events, uint32_t count);
/* Whether O asks for a part of what the process does only: of some threads or CPUs, or in user mode. */
bool source_options_partial(const struct options *o);
/* What of O is the writers' business; borrows its texts. */
struct format_options source_options_format(const struct options *o);

#endif
