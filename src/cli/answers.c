#include "cli/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/json_writer.h"
#include "common/words/events.h"

void answers_events(const char *note, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	const struct event_row *e;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_array(&w, "events");
	for (e = event_rows; e->name; e++) {
		if (!e->available)
			continue;
		json_object(&w, NULL);
		json_put_texts(&w, {"name", e->name}, {"help", e->help});
		json_end(&w);
	}
	json_end(&w);
	json_put_text(&w, "note", note);
	json_end(&w);
}

/* The last place of WORD in LINE; NULL: none. */
static char *last_of(char *line, const char *word)
{
	char *found = NULL, *at = line;

	while ((at = strstr(at, word)))
		found = at++;
	return found;
}

/* Without the blanks at its end. */
static char *trim(char *text)
{
	size_t n = strlen(text);

	while (n && text[n - 1] == ' ')
		text[--n] = '\0';
	return text;
}

/* "cycles      CPU cycles       no: the machine has none": two blanks and more stand between name and text. */
static void put_event(struct json_writer *w, char *line)
{
	char *help = strstr(line, "  "), *yes, *no, *verdict;

	if (!help)
		return;
	*help++ = '\0';
	help += strspn(help, " ");
	yes = last_of(help, " yes");
	no = last_of(help, " no: ");
	verdict = yes > no ? yes : no;
	if (!verdict)
		return;
	*verdict++ = '\0';
	json_object(w, NULL);
	json_put_texts(w, {"name", line}, {"help", trim(help)});
	json_put_bool(w, "available", verdict[0] == 'y');
	json_put_text(w, "because", verdict[0] == 'n' ? verdict + strlen("no: ") : verdict[3] ? verdict + 5 : "");
	json_end(w);
}

void answers_list(const struct agent *a, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	char *text = strndup(a->talk.text.length ? a->talk.text.data : "", a->talk.text.length), *line, *rest;

	json_object(&w, NULL);
	json_put_numbers(&w, {"schema", 1}, {"pid", (uint64_t)a->target.pid});
	json_array(&w, "events");
	for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
		put_event(&w, line);
	json_end(&w);
	json_end(&w);
	free(text);
}

void answers_version(const struct agent *a, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	char version[64];

	snprintf(version, sizeof(version), "%.*s", (int)a->talk.text.length, a->talk.text.length ?
		 a->talk.text.data : "");
	version[strcspn(version, "\n")] = '\0';
	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_text(&w, "version", JSTROBE_VERSION);
	json_put_number(&w, "pid", (uint64_t)a->target.pid);
	json_put_text(&w, "agent", version);
	json_end(&w);
}

/* ---- status ---- */

static void put_number(struct json_writer *w, const char *key, const char *status, const char *name)
{
	json_put_number(w, key, control_number(status, name));
}

static void put_text(struct json_writer *w, const char *key, const char *status, const char *name)
{
	char text[2400] = "";

	control_value(status, name, text, sizeof(text));
	json_put_text(w, key, text);
}

/* Event number E: what is called NAME_E in STATUS. */
static void put_event_status(struct json_writer *w, const char *s, unsigned e)
{
	static const struct {
		const char *key, *name;
	} texts[] = {{"event", "event"}, {"engine", "engine"}, {"unit", "of"}},
	  numbers[] = {{"interval", "interval"}, {"threads_perf", "perf"}, {"threads_timer", "timer"},
		       {"threads_refused", "refused"}};
	char name[32];
	size_t i;

	json_object(w, NULL);
	for (i = 0; i < ARRAY_LEN(texts); i++) {
		snprintf(name, sizeof(name), "%s_%u", texts[i].name, e);
		put_text(w, texts[i].key, s, name);
	}
	for (i = 0; i < ARRAY_LEN(numbers); i++) {
		snprintf(name, sizeof(name), "%s_%u", numbers[i].name, e);
		put_number(w, numbers[i].key, s, name);
	}
	json_end(w);
}

static void put_session(struct json_writer *w, const char *s)
{
	static const char *const samples[] = {"taken", "stored", "open", "lost", "outside"};
	unsigned e, count = (unsigned)control_number(s, "events");
	size_t i;

	put_number(w, "running_for_ns", s, "running_for");
	json_array(w, "events");
	for (e = 0; e < count; e++)
		put_event_status(w, s, e);
	json_end(w);
	json_object(w, "samples");
	for (i = 0; i < ARRAY_LEN(samples); i++)
		put_number(w, samples[i], s, samples[i]);
	json_end(w);
	put_number(w, "threads", s, "threads");
	put_number(w, "queue_bytes", s, "queue_bytes");
	put_number(w, "owner_pid", s, "owner");
	put_text(w, "result", s, "owed");
	put_number(w, "recording_bytes", s, "recording");
	put_number(w, "unwritten", s, "unwritten");
	put_number(w, "last_ns", s, "last");
	put_number(w, "ring_bytes", s, "ring_bytes");
	put_number(w, "streams", s, "streams");
	put_number(w, "streamed", s, "streamed");
	put_number(w, "dropped", s, "dropped");
}

/* A session that counts calls, or gives their classes back. */
static void put_calls(struct json_writer *w, const char *s)
{
	json_object(w, "classes");
	put_number(w, "matched", s, "trace_matched");
	put_number(w, "with_probes", s, "trace_done");
	put_number(w, "left", s, "trace_left");
	json_end(w);
}

void answers_status(pid_t pid, const char *s, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	bool running = s && control_number(s, "running");

	json_object(&w, NULL);
	json_put_numbers(&w, {"schema", 1}, {"pid", (uint64_t)pid});
	json_put_bool(&w, "agent", s != NULL);
	json_put_bool(&w, "running", running);
	if (s) {
		json_put_bool(&w, "has_result", control_number(s, "has_data") != 0);
		put_text(&w, "version", s, "version");
		put_text(&w, "at_work", s, "at_work");
		put_number(&w, "at_work_ns", s, "at_work_for");
	}
	if (running)
		put_session(&w, s);
	if (s && control_number(s, "trace_phase"))
		put_calls(&w, s);
	json_end(&w);
}
