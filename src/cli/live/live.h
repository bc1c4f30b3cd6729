/*
 * live.h - a live stream of a JVM as a command reads it: from a socket whose other end the agent has.
 *
 * The session that runs there is joined if nothing special was asked for, else one of our own is begun, which ends
 * with us.
 */
#ifndef JSTROBE_CLI_LIVE_LIVE_H
#define JSTROBE_CLI_LIVE_LIVE_H

#include "cli/talk/launch.h"

struct live {
	struct agent agent;
	struct launch launch; /* pid 0: the JVM ran before */
	int wake;            /* our signals */
	int sock;            /* our end of the stream; -1: none */
	int interrupts;      /* requests to end */
	int beside;          /* live_wait ends when this is readable, too; -1: nothing */
	bool joined;         /* the session ran before, and goes on */
};

/*
 * Attach to the JVM that CLI names, or start its program, and begin. USUAL: the events to sample if none were asked for
 * and no session runs; NULL: as the options have it. 0, or an exit code (the error is shown).
 */
int live_open(struct live *l, struct cli *cli, const char *usual);
/*
 * Wait at most TIMEOUT_MS for bytes of the stream (EVENTS: POLLIN; 0 = do not look), and, if OUT >= 0, for room there.
 * What the agent or a signal has to say is taken in meanwhile. The poll result: bit 0 = bytes are there, bit 1 = OUT
 * takes some, bit 2 = OUT's reader has left; or a negative errno: -EINTR a request to end, -ESHUTDOWN the JVM
 * ended, else with the reason in ERR.
 */
enum { LIVE_BYTES = 1, LIVE_ROOM = 2, LIVE_GONE = 4 };
int live_wait(struct live *l, bool bytes, int out, int timeout_ms, struct error *err);
/* End the stream, and the session if it is ours; what is on its way can still be read, until read gives 0. */
void live_stop(struct live *l);
void live_close(struct live *l);
/* After live_close: a program that was started is waited for; its exit status, or OTHERWISE. */
int live_wait_program(struct live *l, int otherwise);

#endif
