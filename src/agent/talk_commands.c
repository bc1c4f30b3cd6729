/*
 * talk_commands.c - what a command can ask of the agent in a conversation.
 */
#include "agent/talk_commands.h"

#include <errno.h>

#include "agent/lent.h"
#include "agent/session.h"

static bool vm_dead; /* the JVM must not be touched any more */

bool talk_jvm_is_gone(void)
{
	return vm_dead;
}

void talk_carry_out(struct talk *t, const char *text)
{
	struct buffer body = BUFFER_INIT;
	struct error err;
	struct command c = {.from = &t->owner, .text = text, .separator = '\n', .options = lent_options(&err),
			    .place = &t->place, .notes = BUFFER_INIT, .answer = BUFFER_INIT};
	int rc = c.options ? options_parse_agent(c.options, text, '\n', &err) : -ENOMEM;

	switch (rc ? ACTION_NONE : c.options->action) {
	case ACTION_STATUS:
		command_put_status(&body);
		talk_say_buffer(t, CONTROL_STATUS, &body);
		break;
	case ACTION_LIST:
		session_list_events(&body);
		talk_say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_METRICS:
		session_metrics(&body);
		talk_say_buffer(t, CONTROL_TEXT, &body);
		break;
	case ACTION_VERSION:
		talk_say(t, CONTROL_TEXT, JSTROBE_VERSION "\n");
		break;
	default:
		if (!rc)
			rc = command_carry_out(&c, &err);
	}
	lent_back(c.options);
	command_forget_place(&t->place);
	talk_say_buffer(t, CONTROL_NOTE, &c.notes);
	buffer_putc(&c.answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_FAILED, &err);
	else
		talk_say(t, CONTROL_DONE, c.answer.data ? c.answer.data : "");
	buffer_free(&c.answer);
}

void talk_vm_death(void)
{
	struct buffer answer = BUFFER_INIT;
	struct command_owner *owner;
	struct error err;
	struct talk *t;
	bool failed;

	vm_dead = true;
	owner = command_vm_death(&answer, &failed, &err);
	t = owner ? (struct talk *)((char *)owner - offsetof(struct talk, owner)) : NULL;
	buffer_putc(&answer, '\0');
	if (t && failed)
		talk_fail(t, CONTROL_ENDED, &err);
	else if (t)
		talk_say(t, CONTROL_ENDED, answer.data ? answer.data : "");
	buffer_free(&answer);
}
