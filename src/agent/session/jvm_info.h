/*
 * jvm_info.h - what a recording says of the JVM, the machine and its own settings.
 */
#ifndef JSTROBE_SESSION_JVM_INFO_H
#define JSTROBE_SESSION_JVM_INFO_H

#include "agent/sinks/recording/recording.h"
#include "agent/sources/engine.h"
#include "common/options/options.h"

/* Give R all there is to know as a session with O begins. Attached thread, or Agent_OnLoad. */
void jvm_info_gather(struct recording *r, const struct options *o, const struct engine_event *events,
		  uint32_t count);
/* NS before R's begin, since the round of a loop before, are in no recording. */
void jvm_info_gap(struct recording *r, uint64_t ns);

#endif
