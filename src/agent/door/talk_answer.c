/*
 * talk_answer.c - what the agent answers a command: texts and failures.
 */
#include "agent/door/talk_commands.h"

#include <stdio.h>
#include <string.h>

#define SEND_MS 2000

void talk_say(struct talk *t, enum control_type type, const char *text)
{
	struct error lost;

	/* a command that is gone is noticed at the next receive */
	pthread_mutex_lock(&t->sending);
	control_send_text(t->sock, type, text, SEND_MS, &lost);
	pthread_mutex_unlock(&t->sending);
}

void talk_fail(struct talk *t, enum control_type type, const struct error *why)
{
	char text[640];

	snprintf(text, sizeof(text), "code=%d\nreason=%s\n", why->code, why->text);
	talk_say(t, type, text);
}

void talk_say_buffer(struct talk *t, enum control_type type, struct buffer *b)
{
	struct error lost;
	size_t at, n;
	int rc = 0;

	for (at = 0; rc == 0 && at < b->length; at += n) {
		n = MIN(b->length - at, (size_t)CONTROL_MAX);
		pthread_mutex_lock(&t->sending);
		rc = control_send(t->sock, type, b->data + at, n, -1, SEND_MS, &lost);
		pthread_mutex_unlock(&t->sending);
	}
	buffer_free(b);
}
