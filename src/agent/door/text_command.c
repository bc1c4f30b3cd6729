#include "agent/door/text_command.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/command/ask.h"
#include "agent/command/pending_output.h"
#include "agent/jvm/log.h"
#include "agent/session/session.h"

void text_command_say_left_out(const struct options *o)
{
	const char *notes;
	size_t n;

	for (notes = o->notes; *notes; notes += n + (notes[n] != '\0')) {
		n = strcspn(notes, "\n");
		log_error("%.*s", (int)n, notes);
	}
}

/* ---- what is said at once ---- */

/* Status as the tool we learned from says it. */
static void say_status(struct buffer *text)
{
	struct session_status s;

	session_get_status(&s);
	if (s.running)
		buffer_printf(text, "Profiling is running for %llu seconds\n",
			      (unsigned long long)(s.running_for / NS_PER_S));
	else
		buffer_puts(text, "Profiler is not active\n");
}

/* Status and the like, into the file that O names or to the one who asks. */
static int tell(struct options *o, struct buffer *answer, struct error *err)
{
	struct buffer text = BUFFER_INIT;
	int rc = o->file[0] ? pending_check_path(o, err) : 0;

	if (rc)
		return rc;
	if (o->action == ACTION_STATUS)
		say_status(&text);
	else
		rc = ask_at_once(o, &text, err);
	if (rc == 0 && o->file[0])
		rc = pending_write_text(o, text.data, text.length, err);
	if (rc == 0 && o->file[0])
		buffer_puts(answer, "OK");
	else if (rc == 0) /* a version is compared, not printed */
		buffer_append(answer, text.data, text.length - (o->action == ACTION_VERSION));
	buffer_free(&text);
	return rc;
}

/* ---- start, stop and dump ---- */

/* The value of KEY ("owed=") among lines KEYS, into VALUE. */
static void value_of(const struct buffer *keys, const char *key, char *value, size_t size)
{
	const char *at = keys->data, *end = at + keys->length;
	size_t n = strlen(key), length;

	value[0] = '\0';
	for (; at < end; at += length + 1) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		length = (size_t)((line_end ? line_end : end) - at);
		if (length < n || strncmp(at, key, n) != 0)
			continue;
		length = MIN(length - n, size - 1);
		memcpy(value, at + n, length);
		value[length] = '\0';
		return;
	}
}

/* What is said of a command that was carried out, by the KEYS that came back. */
static int say_done(const struct options *o, const struct buffer *keys, struct buffer *answer, struct error *err)
{
	char place[2 * OPTIONS_FILE_MAX], ran[24];

	value_of(keys, "owed=", place, sizeof(place));
	value_of(keys, "running_for=", ran, sizeof(ran));
	if (o->action == ACTION_START || o->action == ACTION_RESUME)
		buffer_puts(answer, "Profiling started\n");
	else if (o->file[0] || (o->action == ACTION_DUMP && place[0]))
		buffer_puts(answer, "OK");
	else if (o->action == ACTION_DUMP)
		return error_set(err, EINVAL, "dump: no output format selected; say one, as in dump,collapsed, or a "
				 "file, as in dump,file=out.html");
	else if (place[0])
		buffer_printf(answer, "Profiling stopped after %llu seconds. The result is in %s\n",
			      strtoull(ran, NULL, 10) / NS_PER_S, place);
	else
		buffer_printf(answer, "Profiling stopped after %llu seconds. No dump options specified\n",
			      strtoull(ran, NULL, 10) / NS_PER_S);
	return 0;
}

/* A file in memory, which a result is written to, and once more for us: *OURS. */
static int memory_place(struct command_place *place, int *ours, struct error *err)
{
	place->output = memfd_create("jstrobe result", MFD_CLOEXEC);
	*ours = place->output < 0 ? -1 : fcntl(place->output, F_DUPFD_CLOEXEC, 0);
	return *ours < 0 ? error_set(err, errno, "no memory for the result: %s", error_text(errno)) : 0;
}

static int carry_out(const struct text_command *c, struct buffer *answer, struct error *err)
{
	const struct options *o = c->options;
	bool ends = o->action == ACTION_STOP || o->action == ACTION_DUMP;
	struct command_place place = COMMAND_NO_PLACE;
	struct asker asker = {.place = &place, .separator = c->lines ? '\n' : ','};
	struct buffer notes = BUFFER_INIT, keys = BUFFER_INIT;
	int memory = -1;
	int rc = c->asks && ends && o->format[0] && !o->file[0] ? memory_place(&place, &memory, err) : 0;

	if (rc == 0)
		rc = ask_command(&asker, c->text, o, &notes, &keys, err);
	command_forget_place(&place);
	if (rc == 0)
		log_notes(notes.data, notes.length);
	if (rc == 0 && memory >= 0)
		buffer_append_file(answer, memory);
	else if (rc == 0 && c->asks)
		rc = say_done(o, &keys, answer, err);
	if (memory >= 0)
		close(memory);
	buffer_free(&notes);
	buffer_free(&keys);
	return rc;
}

int text_command_is_of_load(const struct options *o, struct error *err)
{
	const char *name = o->connect[0] ? "connect" : o->disable_all ? "disableall" :
			   o->disable_sampling ? "disable_async_sampling" : NULL;

	if (!name)
		return 0;
	return error_set(err, EINVAL, "%s: only possible where the JVM loads the library as its agent", name);
}

int text_command_is_empty(const struct options *o, struct error *err)
{
	if (o->action != ACTION_NONE || o->file[0] || o->format[0])
		return 0;
	if (o->notes[0]) /* a slip of the pen, perhaps, in what should be done */
		return error_set(err, EINVAL, "nothing to do: %.*s; say start, stop, dump, resume or status",
				 (int)strcspn(o->notes, "\n"), o->notes);
	return error_set(err, EINVAL, "nothing to do; say start, stop, dump, resume or status, as in "
			 "start,event=cpu,file=out.html");
}

int text_command(const struct text_command *c, struct buffer *answer, struct error *err)
{
	struct options *o = c->options;
	bool told = o->action == ACTION_STATUS || o->action == ACTION_LIST || o->action == ACTION_VERSION ||
		    o->action == ACTION_METRICS;
	int rc = text_command_is_empty(o, err);

	if (rc)
		return rc;
	if (told)
		return tell(o, answer, err);
	if (o->action == ACTION_NONE)
		o->action = ACTION_DUMP;
	rc = carry_out(c, answer, err);
	if (rc == 0 && answer->failed)
		rc = error_set(err, answer->failed, "no memory for the answer: %s", error_text(answer->failed));
	return rc;
}
