/*
 * session_stages.h - the stages of the session that begins, runs or ends (session.run). Inner header.
 */
#ifndef JSTROBE_SESSION_SESSION_STAGES_H
#define JSTROBE_SESSION_SESSION_STAGES_H

#include "agent/session/stages.h"

/* Of a session that samples, and of one that counts calls. Session's lock held. */
extern struct stages session_sampling, session_tracing;
/* A stop ends down to here: nothing is heard of the JVM any more; nothing is sampled. */
#define STAGE_OF_LISTENING "listening"
#define STAGE_OF_SOURCES "sources"

#endif
