#include "cli/talk/conversation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ERRNO_END 4096

/*
 * What an answer may have of each kind, many times what agents send: TEXT is the longest (list: some 10 KB, metrics:
 * 20 KB). Of kinds that are not here an agent sends none.
 */
static const struct {
	uint32_t messages;
	uint64_t bytes;
} limits[CONTROL_TYPES] = {
	[CONTROL_NOTE] = {1000, 256 * 1024},
	[CONTROL_TEXT] = {1000, 4 * 1024 * 1024},
	[CONTROL_STATUS] = {100, 1024 * 1024},
	/* of commands that were given up before, too */
	[CONTROL_DONE] = {1000, 1024 * 1024},
	[CONTROL_FAILED] = {1000, 1024 * 1024},
	[CONTROL_ENDED] = {1, CONTROL_MAX},
};

void conversation_init(struct conversation *c)
{
	memset(c, 0, sizeof(*c));
	c->in = (struct control_parser)CONTROL_PARSER_INIT;
	buffer_init(&c->text, -1);
}

void conversation_free(struct conversation *c)
{
	void (*note)(const char *line) = c->note;

	control_parser_free(&c->in);
	buffer_free(&c->text);
	free(c->status);
	free(c->answer);
	conversation_init(c);
	c->note = note;
}

/* ---- hello ------------------------------------------------------------------------ */

int conversation_invite(struct conversation *c, struct error *err)
{
	return control_token(c->token, err);
}

static int check_hello(struct conversation *c, const struct control_message *m, struct error *err)
{
	char token[CONTROL_TOKEN_LENGTH + 1], version[32] = "?", text[256];
	unsigned protocol;

	if (m->type != CONTROL_HELLO || !control_value(m->payload, "token", token, sizeof(token)) ||
	    !control_token_equal(token, c->token))
		return error_set(err, EAGAIN, "a process without our token connected to our socket");
	protocol = (unsigned)control_number(m->payload, "protocol");
	control_value(m->payload, "version", version, sizeof(version));
	snprintf(c->version, sizeof(c->version), "%s", version);
	if (protocol == CONTROL_PROTOCOL)
		return 0;
	snprintf(text, sizeof(text), "the agent library is version %s (protocol %u), this command "
		 "%s (protocol %d); use a command and a library of one version, and restart a JVM "
		 "that holds an older one", version, protocol, JSTROBE_VERSION, CONTROL_PROTOCOL);
	return error_set(err, EPROTO, "%s", text);
}

int conversation_greet(struct conversation *c, struct control_parser *hello, const void *bytes, size_t n, size_t *used,
		       struct error *err)
{
	int rc = control_parse(hello, bytes, n, used, err);

	if (rc == 0)
		return 1;
	/* who cannot even speak is not the agent */
	return rc < 0 ? error_set(err, EAGAIN, "a process that is no agent connected to our socket") :
			check_hello(c, &hello->m, err);
}

/* ---- answers ------------------------------------------------------------------------ */

void conversation_ask(struct conversation *c, uint64_t now, uint64_t timeout)
{
	c->pending++;
	c->until = now + timeout;
	memset(c->got, 0, sizeof(c->got));
	c->text.length = 0;
}

uint64_t conversation_left(struct conversation *c, uint64_t now)
{
	if (!c->until)
		return UINT64_MAX;
	if (now < c->until)
		return c->until - now;
	c->until = 0;
	return 0;
}

static int keep(char **place, const char *text, struct error *err)
{
	char *copy = strdup(text);

	if (!copy)
		return error_set(err, ENOMEM, "out of memory");
	free(*place);
	*place = copy;
	return 0;
}

/* By these numbers the command's own functions speak of signals, time and the connection: no agent may. */
static const int ours[] = {EINTR, ETIMEDOUT, ECONNRESET, ESHUTDOWN, ECANCELED};

/* "code=…\nreason=…" */
static int read_failure(const char *text, struct error *err)
{
	char reason[sizeof(err->text)];
	uint64_t code = control_number(text, "code");
	size_t i;

	if (!control_value(text, "reason", reason, sizeof(reason)))
		strcpy(reason, "the agent gave no reason");
	if (!code || code >= ERRNO_END)
		code = EIO;
	for (i = 0; i < ARRAY_LEN(ours); i++)
		if (code == (uint64_t)ours[i])
			code = EIO;
	return error_set(err, (int)code, "%s", reason);
}

static void show_notes(const struct conversation *c, char *text)
{
	char *line, *rest;

	for (line = c->note ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		c->note(line);
}

/* The answer to a command. 1: to one that was given up. */
static int end_command(struct conversation *c, bool *old)
{
	*old = c->pending > 0 && --c->pending > 0;
	if (!*old)
		c->until = 0;
	return *old;
}

static int count(struct conversation *c, const struct control_message *m, struct error *err)
{
	if (!limits[m->type].messages)
		return error_set(err, EPROTO, "unexpected message %d from the agent", (int)m->type);
	c->got[m->type].messages++;
	c->got[m->type].bytes += m->length;
	if (c->got[m->type].messages <= limits[m->type].messages && c->got[m->type].bytes <= limits[m->type].bytes)
		return 0;
	return error_set(err, EPROTO, "the agent sends without an end (%u messages, %llu bytes of kind %d in one "
			 "answer); it is none of ours, or broken", c->got[m->type].messages,
			 (unsigned long long)c->got[m->type].bytes, (int)m->type);
}

/* Handle a message; 1: go on waiting. */
static int understand(struct conversation *c, struct control_message *m, struct error *err)
{
	bool old;
	int rc = count(c, m, err);

	if (rc)
		return rc;
	switch (m->type) {
	case CONTROL_NOTE:
		show_notes(c, m->payload);
		return 1;
	case CONTROL_TEXT:
		buffer_append(&c->text, m->payload, m->length);
		return 1;
	case CONTROL_STATUS:
		rc = keep(&c->status, m->payload, err);
		return rc ? rc : 1;
	case CONTROL_DONE:
		if (!c->pending)
			return error_set(err, EPROTO, "the agent answers what was not asked");
		if (end_command(c, &old))
			return 1;
		return keep(&c->answer, m->payload, err);
	case CONTROL_FAILED:
		/* unasked, it says why the conversation ends */
		return end_command(c, &old) ? 1 : read_failure(m->payload, err);
	default:
		c->ended = true;
		rc = keep(&c->answer, m->payload, err);
		if (control_number(m->payload, "code"))
			read_failure(m->payload, &c->end_error);
		return rc ? rc : error_set(err, ESHUTDOWN, "the JVM ended");
	}
}

int conversation_take(struct conversation *c, const void *bytes, size_t n, size_t *used, struct error *err)
{
	size_t part;
	int rc = 1;

	for (*used = 0; rc == 1 && *used < n; *used += part) {
		rc = control_parse(&c->in, (const char *)bytes + *used, n - *used, &part, err);
		if (rc == 1)
			rc = understand(c, &c->in.m, err);
		else if (rc == 0)
			rc = 1;
	}
	return rc;
}
