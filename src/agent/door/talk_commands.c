/*
 * talk_commands.c - what a command can ask of the agent in a conversation.
 */
#include "agent/door/talk_commands.h"

#include <errno.h>

#include "agent/command/ask.h"
#include "agent/command/lent.h"

/* Status and the like are answered at once, all else by the control thread. */
static int carry_out(struct talk *t, const char *text, struct buffer *answer, struct error *err)
{
	struct asker asker = {.owner = &t->owner, .place = &t->place, .separator = '\n'};
	struct buffer body = BUFFER_INIT, notes = BUFFER_INIT;
	struct options *o = lent_options(err);
	int rc = o ? options_parse_agent(o, text, '\n', err) : -ENOMEM;

	if (rc == 0 && o->action == ACTION_NONE)
		rc = error_set(err, EINVAL, "the command says nothing to do");
	if (rc == 0) {
		rc = ask_at_once(o, &body, err);
		if (rc == -ENOENT)
			rc = ask_command(&asker, text, o, &notes, answer, err);
		talk_say_buffer(t, o->action == ACTION_STATUS ? CONTROL_STATUS : CONTROL_TEXT, &body);
		talk_say_buffer(t, CONTROL_NOTE, &notes);
	}
	lent_back(o);
	return rc;
}

void talk_carry_out(struct talk *t, const char *text)
{
	struct buffer answer = BUFFER_INIT;
	struct error err;
	int rc = carry_out(t, text, &answer, &err);

	command_forget_place(&t->place);
	buffer_putc(&answer, '\0');
	if (rc)
		talk_fail(t, CONTROL_FAILED, &err);
	else
		talk_say(t, CONTROL_DONE, answer.data ? answer.data : "");
	command_show_owner(&t->owner);
	buffer_free(&answer);
}

void talk_vm_death(void)
{
	struct buffer answer = BUFFER_INIT;
	struct error err;
	bool failed;
	struct command_owner *owner = command_vm_death(&answer, &failed, &err);
	struct talk *t = owner ? (struct talk *)((char *)owner - offsetof(struct talk, owner)) : NULL;

	buffer_putc(&answer, '\0');
	if (t && failed)
		talk_fail(t, CONTROL_ENDED, &err);
	else if (t)
		talk_say(t, CONTROL_ENDED, answer.data ? answer.data : "");
	buffer_free(&answer);
}
