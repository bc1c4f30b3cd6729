/*
 * agent.h - the command's side of a conversation with the agent in a JVM.
 */
#ifndef JSTROBE_CLI_AGENT_H
#define JSTROBE_CLI_AGENT_H

#include "cli/attach/attach.h"
#include "cli/talk/conversation.h"
#include "common/base/buffer.h"
#include "common/options/options.h"

/* A command that writes a result, or starts a session, is given up after that. */
#define AGENT_ANSWER_MS (600 * 1000)

struct agent {
	struct attach_target target; /* pid 0: the JVM was started by us */
	int wake;                    /* descriptor of our signals */
	int listener, sock;          /* -1: none */
	int folder;                  /* where the listener's socket lies; -1: none */
	char socket_name[64];        /* its name there; "" once it is unlinked */
	struct agent_guest *guests;  /* clients that have connected and not shown the token yet; NULL: none */
	struct conversation talk;
	char *bytes;                 /* what has come of it and is not taken yet: */
	size_t from, to;
	bool owns;                   /* a session that ends with this conversation */
	bool hurried;                /* a signal wants the end */
	char doing[16];              /* what it was asked for last */
	uint64_t asked;              /* … and when, ns */
	bool told;                   /* a terminal shows that it takes long */
};

/* A conversation that has not begun; WAKE as in attach_check. */
void agent_init(struct agent *a, int wake);
/* Attach to process PID, load the agent, shake hands. LIBRARY: what to load instead of ours, or NULL (attach_load). */
int agent_attach(struct agent *a, pid_t pid, const struct options *o, const char *library, struct error *err);
/*
 * Attach to the copy of the agent in process PID that has a session, of those that are loaded; if none has one, to one
 * that holds the data of its last session; else to any. ENOENT (greater than 0): no copy is loaded.
 */
int agent_attach_loaded(struct agent *a, pid_t pid, const struct options *o, struct error *err);
/*
 * For a JVM that we start: listen, and put what its agent must be told, "-agentpath:…", into
 * ARGUMENT[SIZE].
 */
int agent_invite(struct agent *a, const struct options *o, char *argument, size_t size,
		 struct error *err);
/*
 * Whether T's /tmp takes the sockets by which one attaches; and where T can load the agent from, in PATH, and whether
 * that is a copy (attach_library). What attaching decides by, and `doctor` tells beforehand, without MAKE.
 */
int agent_check_tmp(const struct attach_target *t, struct error *err);
int agent_library(const struct attach_target *t, const struct options *o, bool make, char path[PATH_MAX], bool *copied,
		  struct error *err);
/*
 * Wait for the agent on a->listener and shake hands with it. TIMEOUT_MS < 0: for ever. -EINTR: a signal waits; who has
 * connected by then is remembered.
 */
int agent_greet(struct agent *a, int timeout_ms, struct error *err);

/*
 * Before the command: pass the result's open file, which must not be readable by FD (result_write_only), and its NAME
 * for people, or a socket for a stream; or say the PATH at which the agent shall make the file itself. What is passed
 * here, and with --fdtransfer, is all that a target gets of us: docs/inside/security.md.
 */
int agent_send_file(struct agent *a, int fd, const char *name, struct error *err);
int agent_send_stream(struct agent *a, int sock, struct error *err);
int agent_send_place(struct agent *a, const char *path, struct error *err);
/*
 * Have the agent carry out COMMAND (options, one a line) and wait for its end, TIMEOUT_MS at most, whatever it sends
 * meanwhile. Notes are shown as they come. 0: DONE, see a->answer. -ESHUTDOWN: the JVM ended, see
 * a->ended. -EINTR: a signal waits. Else what the agent said.
 */
int agent_command(struct agent *a, const char *command, int timeout_ms, struct error *err);
/* The same for the action and the options of O. */
int agent_obey(struct agent *a, const struct options *o, int timeout_ms, struct error *err);
/* The same without waiting for the end, which agent_listen does. */
int agent_tell(struct agent *a, const struct options *o, int timeout_ms, struct error *err);
/*
 * Handle what comes in within TIMEOUT_MS, or within what is left of the time for the last command if that is less. As
 * agent_command; 0 if that was an answer.
 */
int agent_listen(struct agent *a, int timeout_ms, struct error *err);
/*
 * End the conversation and leave nothing behind; safe at any time after agent_init. A session that ends with it has
 * ended then, unless that takes longer than some seconds (which is said), or a signal comes.
 */
void agent_close(struct agent *a);

/*
 * For the short commands: find the JVM that the command line means, attach, or leave it alone if
 * it was never profiled and ONLY_IF_LOADED. 0, or an exit code (the error is shown).
 */
struct cli;
int agent_open(struct agent *a, const struct cli *cli, bool only_if_loaded, struct error *err);
/*
 * Print what the agent in the JVM that the command line means answers to QUESTION. OTHERWISE, if not NULL: a JVM
 * that was never profiled is left alone, and this line printed. An exit code.
 */
int agent_ask(const struct cli *cli, const char *question, const char *otherwise);
/* The same; what is printed is what PUT appends of the answer. */
int agent_ask_json(const struct cli *cli, const char *question, void (*put)(const struct agent *a, struct buffer *out));
/* Say which other copies of the agent have sessions in the JVM, as its last STATUS told. */
void agent_hint_copies(const struct agent *a);

#endif
