/*
 * conversation.h - the command's side of a conversation as a machine: bytes and the time go in, what became of them
 * comes out. It waits for nothing and calls nothing of the system, so that tests can drive it (tests/unit/
 * test_cli_conversation.c); agent.c has the sockets and the clock.
 *
 * The other side is not trusted: it may send anything, at any speed, in any order, or nothing. So each answer has a
 * limit in messages and bytes of each kind, and a deadline that nothing it sends puts off.
 */
#ifndef JSTROBE_CLI_CONVERSATION_H
#define JSTROBE_CLI_CONVERSATION_H

#include "common/base/buffer.h"
#include "common/base/error.h"
#include "common/control/control.h"

struct conversation {
	char token[CONTROL_TOKEN_LENGTH + 1];
	char version[32];       /* of the agent, as it says; "" until it has said hello */
	struct control_parser in;
	unsigned pending;       /* commands without an answer; only the last one's counts */
	uint64_t until;         /* ns: the answer has to be there by then; 0: none is waited for */
	struct {
		uint32_t messages;
		uint64_t bytes;
	} got[CONTROL_TYPES];   /* since the last command */
	struct buffer text;     /* answer of list, version and the like */
	char *status;           /* the last STATUS; NULL: none yet */
	char *answer;           /* what came with the last DONE or ENDED; NULL: none yet */
	bool ended;             /* the JVM came to its normal end (ENDED was received) */
	struct error end_error; /* code 0: it wrote its result */
	void (*note)(const char *line); /* NULL: notes are not shown */
};

void conversation_init(struct conversation *c);
/* Free all; it is as after conversation_init then. */
void conversation_free(struct conversation *c);
/* A new random token: the agent has to show it. */
int conversation_invite(struct conversation *c, struct error *err);
/*
 * Bytes of a new connection, up to the agent's hello; HELLO is its own. 1: more are needed; 0: it is the agent, *USED
 * bytes were its hello. -EAGAIN: it is another than that; -EPROTO: another build.
 */
int conversation_greet(struct conversation *c, struct control_parser *hello, const void *bytes, size_t n, size_t *used,
		       struct error *err);

/* A command was sent at NOW; its answer has to be there TIMEOUT ns later. */
void conversation_ask(struct conversation *c, uint64_t now, uint64_t timeout);
/*
 * Bytes have come. 1: go on, all were used. 0: that was an answer; *USED bytes belong to it and to what came before.
 * -ESHUTDOWN: the JVM ended, see `ended`; -EPROTO: it broke the rules, or sent more than an answer may have; else what
 * the agent said.
 */
int conversation_take(struct conversation *c, const void *bytes, size_t n, size_t *used, struct error *err);
/* How long from NOW on its answer may still take, in ns; 0: the time is over, and it is not waited for any more. */
uint64_t conversation_left(struct conversation *c, uint64_t now);

#endif
