/*
 * answers.h - what the short commands answer, as JSON: docs/reference/json.md has the keys. Numbers come from the agent
 * as "key=value" lines, lists as the text that people read.
 */
#ifndef JSTROBE_CLI_ANSWERS_H
#define JSTROBE_CLI_ANSWERS_H

#include "cli/talk/agent.h"
#include "common/base/buffer.h"

/* Append an object. NOTE: what people are told beside the list; "" = nothing. */
void answers_events(const char *note, struct buffer *out);
/* … of what the agent A answered to "list", "version". */
void answers_list(const struct agent *a, struct buffer *out);
void answers_version(const struct agent *a, struct buffer *out);
/* … of its STATUS; NULL: process PID has no agent. */
void answers_status(pid_t pid, const char *status, struct buffer *out);

#endif
