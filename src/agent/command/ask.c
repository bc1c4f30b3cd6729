#include "agent/command/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "agent/command/control_thread.h"
#include "agent/command/lent.h"
#include "agent/session/session.h"

/* All of it is the job's own: the one who asks may leave before it is done. */
struct asked {
	struct command command;
	struct command_place place;
	char *text;
	struct error err;
	int rc;
};

static void run(void *arg)
{
	struct asked *a = arg;

	a->rc = control_is_last() ? error_set(&a->err, ESHUTDOWN, "the JVM is ending")
				  : command_carry_out(&a->command, &a->err);
}

static void drop(void *arg)
{
	struct asked *a = arg;

	command_forget_place(&a->place);
	buffer_free(&a->command.notes);
	buffer_free(&a->command.answer);
	lent_back(a->command.options);
	free(a->text);
	free(a);
}

static bool gone(void *arg)
{
	const struct command_owner *o = ((const struct asked *)arg)->command.from;

	return o && command_owner_is_gone(o);
}

static const char *name_of(enum options_action action)
{
	switch (action) {
	case ACTION_START:
		return "start";
	case ACTION_RESUME:
		return "resume";
	case ACTION_STOP:
		return "stop";
	default:
		return "dump";
	}
}

static struct asked *new_asked(const struct asker *asker, const char *text, const struct options *o, struct error *err)
{
	struct asked *a = calloc(1, sizeof(*a));

	if (!a) {
		error_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	a->place = (struct command_place)COMMAND_NO_PLACE;
	if (asker->place) {
		a->place = *asker->place;
		*asker->place = (struct command_place)COMMAND_NO_PLACE;
	}
	buffer_init(&a->command.notes, -1);
	buffer_init(&a->command.answer, -1);
	a->command.from = asker->owner;
	a->command.separator = asker->separator;
	a->command.place = &a->place;
	a->command.text = a->text = strdup(text);
	a->command.options = lent_options(err);
	if (!a->text || !a->command.options) {
		drop(a);
		error_set(err, ENOMEM, "out of memory");
		return NULL;
	}
	*a->command.options = *o;
	return a;
}

int ask_command(const struct asker *asker, const char *text, const struct options *o, struct buffer *notes,
		struct buffer *answer, struct error *err)
{
	struct asked *a = new_asked(asker, text, o, err);
	struct control_job job = {.name = name_of(o->action), .attached = true, .run = run, .drop = drop, .gone = gone,
				  .arg = a};
	struct control_item *item;
	int rc = a ? control_do(&job, &item, err) : -ENOMEM;

	if (rc)
		return rc;
	buffer_append(notes, a->command.notes.data, a->command.notes.length);
	buffer_append(answer, a->command.answer.data, a->command.answer.length);
	rc = a->rc;
	if (rc)
		*err = a->err;
	control_over(item);
	return rc;
}

int ask_at_once(const struct options *o, struct buffer *out, struct error *err)
{
	switch (o->action) {
	case ACTION_STATUS:
		command_put_status(out);
		return 0;
	case ACTION_LIST:
		session_list_events(out);
		return 0;
	case ACTION_METRICS:
		return session_metrics(out, err);
	case ACTION_VERSION:
		buffer_puts(out, JSTROBE_VERSION "\n");
		return 0;
	default:
		return -ENOENT;
	}
}
