/*
 * launch.h - starting a program so that its JVM is profiled from the first
 * instruction.
 */
#ifndef JSTROBE_CLI_LAUNCH_H
#define JSTROBE_CLI_LAUNCH_H

#include <sys/types.h>

#include "base/error.h"

struct launch {
	pid_t pid;   /* the child; 0: none */
	int go;      /* the child waits for a byte from here */
	int failure; /* the child's errno, should it fail to become the program */
	bool ended;
	int status;  /* exit status as a shell has it, once ended */
};

/*
 * Fork a child that will become PROGRAM, with AGENT ("-agentpath:…") as the java launcher's first
 * argument, or in JAVA_TOOL_OPTIONS if PROGRAM is something else. It waits for launch_go.
 */
int launch_fork(struct launch *l, char **program, const char *agent, struct error *err);
/* Let the child become the program. */
int launch_go(struct launch *l, struct error *err);
/* Give up before launch_go; safe if nothing was started. */
void launch_abandon(struct launch *l);
/* SIGCHLD has come: note what became of the child. */
void launch_reap(struct launch *l);

#endif
