/*
 * launch.h - starting a program so that its JVM is profiled from the first
 * instruction.
 */
#ifndef JSTROBE_CLI_LAUNCH_H
#define JSTROBE_CLI_LAUNCH_H

#include <sys/types.h>

#include "cli/talk/agent.h"
#include "cli/talk/picked_up.h"

struct launch {
	pid_t pid;   /* the child; 0: none */
	int go;      /* the child waits for a byte from here */
	int failure; /* the child's errno, should it fail to become the program */
	bool ended;
	int status;  /* exit status as a shell has it, once ended */
	struct picked_up words; /* what a JVM says of the variable that we have set is left out of its stderr */
};

/*
 * Fork a child that will become PROGRAM, whose JVM shall call A with the options O: by "-agentpath:…" as the java
 * launcher's first argument, or in JAVA_TOOL_OPTIONS if PROGRAM is something else. It waits for launch_go.
 */
int launch_fork(struct launch *l, struct agent *a, const struct options *o, char **program, struct error *err);
/* Let the child become the program, NAME in errors. */
int launch_go(struct launch *l, const char *name, struct error *err);
/* Give up before launch_go; safe if nothing was started. */
void launch_abandon(struct launch *l);
/*
 * SIG has come (signals_next): note what became of the child, or pass on to it what it did not get from the terminal
 * itself. False: there is no child, SIG is for us.
 */
bool launch_signal(struct launch *l, int sig, bool from_terminal);
/* Wait for the JVM's call to A, whose a->wake brings signals. 1: the program ended without one, else as agent_greet. */
int launch_greet(struct launch *l, struct agent *a, struct error *err);
/* PROGRAM ended before its JVM called: say so, WHAT ("result") there is none of, and what may be in the way. */
void launch_say_ended(const struct launch *l, char **program, const char *what);
/* Wait until the program has ended; its exit status, or OTHERWISE if that is 0. WAKE: signals. */
int launch_wait(struct launch *l, int wake, int otherwise);

#endif
