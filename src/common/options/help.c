/*
 * What people read of the table: --help, the page of docs, the list of events,
 * and the way back from options to an agent's string.
 */
#include <stdio.h>
#include <string.h>

#include "common/options/option_table.h"

/* "  -i, --interval TIME" */
static void spell(const struct option *p, bool files, bool value, char *out, size_t size)
{
	char letter[8] = "    ", c = option_letter(p, files);

	if (c)
		snprintf(letter, sizeof(letter), "-%c%s ", c, p->name ? "," : " ");
	snprintf(out, size, "%s%s%s%s%s", letter, p->name ? "--" : "", p->name ? p->name : "",
		 value && p->arg ? " " : "", value && p->arg ? p->arg : "");
}

/* What is said of options that mean something else of files (command NULL), or of one command. */
#define JSON_ONLY "json, as --json does; without it the result is a text"
static const struct {
	const char *command, *name, *help;
} other_help[] = {
	{"memory", "duration", "with --watch: stop after 30, 0.2, 500ms, 2m; a bare number is in seconds"},
	{"memory doctor selftest ps list status version", "output", JSON_ONLY},
	{"memory doctor selftest ps list status version", "json", "an object, for programs: docs/reference/json.md"},
	{"stop dump", "event", "which of several events the result shows, as --show does"},
	{NULL, "event", "events of the file, one or several separated by commas: 'jstrobe help families'"},
	{NULL, "latency", "only samples of a thread within spans that take this long (profiler.Span, jdk.MethodTrace); "
			  "a bare number is in ms"},
	{NULL, "reverse", "collapsed stacks begin with their innermost frame; the page opens with callers above "
			  "callees"},
	{NULL, "filter", "only samples of these threads: system thread ids or names, as in 120-127,132,name:http-*; "
			 "* at the begin or end of a name stands for anything"},
};

static const char *help_of(const struct option *p, const char *command, bool files)
{
	size_t i;

	for (i = 0; p->name && i < ARRAY_LEN(other_help); i++)
		if (strcmp(other_help[i].name, p->name) == 0 &&
		    (other_help[i].command ? option_is_named(other_help[i].command, command ? command : "") : files))
			return other_help[i].help;
	return option_text(p)->help;
}

static bool is_of_files(const char *command)
{
	return command && (strcmp(command, "convert") == 0 || strcmp(command, "diff") == 0);
}

void options_put_lines(const char *text, size_t from, struct buffer *out)
{
	size_t at = from, n;

	while (*text) {
		n = strcspn(text, " ");
		if (at > from && at + 1 + n > OPTIONS_HELP_COLUMNS) {
			buffer_printf(out, "\n%*s", (int)from, "");
			at = from;
		}
		if (at > from)
			buffer_putc(out, ' ');
		at += n + (at > from);
		buffer_append(out, text, n);
		text += n + (text[n] != '\0');
	}
	buffer_putc(out, '\n');
}

#define TEXT_FROM 29

/* A line, or a few, on P as COMMAND takes it; TEXT instead of what there is to say. */
static void put_row(const struct option *p, const char *command, const char *text, struct buffer *out)
{
	bool files = is_of_files(command), family = files && p->name && option_is_family(p->name, strlen(p->name));
	struct buffer line = BUFFER_INIT;
	char spelled[64];

	spell(p, files, !family, spelled, sizeof(spelled));
	buffer_printf(out, "  %-26s ", spelled);
	if (strlen(spelled) > TEXT_FROM - 3)
		buffer_printf(out, "\n%*s", TEXT_FROM, "");
	if (text)
		buffer_puts(&line, text);
	else if (family && strcmp(p->name, "cpu-time") != 0)
		buffer_printf(&line, "the same as -e %s", p->name);
	else
		buffer_puts(&line, help_of(p, command, files));
	if (!text && !family && option_text(p)->initial && help_of(p, command, files) == option_text(p)->help)
		buffer_printf(&line, " [%s]", option_text(p)->initial);
	buffer_putc(&line, '\0');
	options_put_lines(line.failed ? "" : line.data, TEXT_FROM, out);
	buffer_free(&line);
}

void options_help_row(const char *command, const char *name, const char *text, struct buffer *out)
{
	const struct option *p;

	for (p = option_table; p->kind; p++)
		if (p->name && strcmp(p->name, name) == 0)
			put_row(p, command, text, out);
}

void options_help(struct buffer *out)
{
	options_help_of(NULL, "", out);
}

void options_help_of(const char *command, const char *but, struct buffer *out)
{
	const struct option *p;
	int group, last = -1;

	for (group = 0; group < OPTION_GROUPS; group++)
		for (p = option_table; p->kind; p++) {
			if ((int)p->group != group || p->when != WHEN_NOW || (!p->name &&
									      !p->letter))
				continue;
			if (command && (!option_is_taken(command, p) || option_is_named(but, p->name)))
				continue;
			if (last != group)
				buffer_printf(out, "%s%s:\n", last < 0 ? "" : "\n", is_of_files(command) &&
					      group == OPTIONS_SAMPLING ? "What to take from the file" :
					      option_group_names[group]);
			last = group;
			put_row(p, command, NULL, out);
		}
}

static const char *const when_words[] = {"", "for experiments", "internal", "not yet"};

static void markdown_row(const struct option *p, struct buffer *out)
{
	char min[32], max[32];
	bool time = p->kind == OPTION_TIME || p->kind == OPTION_DURATION ||
		    p->kind == OPTION_INTERVAL;
	bool value = p->arg != NULL;

	buffer_puts(out, "| ");
	if (p->agent)
		buffer_printf(out, "`%s%s%s`", p->agent,
			      !value ? "" : p->arg[0] == '[' ? "[=" : "=",
			      !value ? "" : p->arg[0] == '[' ? p->arg + 1 : p->arg);
	buffer_puts(out, " | ");
	if (p->letter)
		buffer_printf(out, "`-%c`%s", p->letter, p->name ? " " : "");
	if (p->name)
		buffer_printf(out, "`--%s%s%s`", p->name, value ? " " : "", value ? p->arg : "");
	buffer_puts(out, " | ");
	if (option_text(p)->initial)
		buffer_printf(out, "`%s`", option_text(p)->initial);
	buffer_puts(out, " | ");
	if (p->kind == OPTION_SIZE || p->kind == OPTION_SIZED_EVENT) {
		option_size_text(p->min, min, sizeof(min));
		option_size_text(p->max, max, sizeof(max));
		buffer_printf(out, "%s – %s", min, max);
	} else if (p->max && time) {
		option_time_text(p->min, min, sizeof(min));
		option_time_text(p->max, max, sizeof(max));
		buffer_printf(out, "%s – %s", min, max);
	} else if (p->kind == OPTION_MODE) {
		buffer_printf(out, "%llo – %llo", (unsigned long long)p->min, (unsigned long long)p->max);
	} else if (p->max) {
		buffer_printf(out, "%llu – %llu", (unsigned long long)p->min,
			      (unsigned long long)p->max);
	}
	buffer_printf(out, " | %s | %s |\n", option_text(p)->help, when_words[p->when]);
}

static void event_fields(const struct event_fields *f, struct buffer *out)
{
	const char *separator = "";
	unsigned i;

	for (i = 0; i < f->count; i++) {
		if (f->items[i].kind == EVENT_FIELD_WEIGHT || f->items[i].kind == EVENT_FIELD_ID)
			continue;
		buffer_printf(out, "%s`%s`: %s", separator, f->items[i].key, f->items[i].help);
		separator = "; ";
	}
}

static void event_row(const struct event_row *e, struct buffer *out)
{
	const struct event_fields fields = event_fields_of(e->name);
	char each[32] = "";

	if (weight_is_time(e->weight))
		option_time_text(e->interval, each, sizeof(each));
	else
		snprintf(each, sizeof(each), "%llu", (unsigned long long)e->interval);
	buffer_printf(out, "| `%s` | %s | ", e->name, e->help);
	if (e->available)
		buffer_printf(out, "%s %s", each, e->interval == 1 ? "event" : weight_kind_names[e->weight].words);
	buffer_puts(out, " | ");
	event_fields(&fields, out);
	buffer_printf(out, " | %s |\n", when_words[e->available ? WHEN_NOW : WHEN_LATER]);
}

void options_markdown(struct buffer *out)
{
	const struct event_row *e;
	const struct option *p;
	int group;

	buffer_puts(out,
		    "# Options\n\n"
		    "<!-- Made by `jstrobe help --markdown` from src/common/options/options.def; change "
		    "the table, not this page. -->\n\n"
		    "The agent takes its options as one string, "
		    "`-agentpath:/path/libjstrobe.so=start,event=cpu,interval=1ms,file=out.html`;\n"
		    "the command takes them as arguments, `jstrobe record -e cpu -i 1ms -f "
		    "out.html PID`. Names are those that async-profiler made\n"
		    "known. Options marked \"not yet\" are known names whose engine or output "
		    "does not exist yet; they are refused with\n"
		    "`not available yet: NAME`.\n\n"
		    "Each command takes some of them: `jstrobe help COMMAND` shows those that people use, with "
		    "`--all` all that it takes, and\n"
		    "`jstrobe help --interval` says which commands take an option. An option behind a command that "
		    "does not take it is refused,\n"
		    "with the commands that do; by the names `asprof`, `profiler.sh` and `jfrconv` it passes, as "
		    "there.\n");
	for (group = 0; group < OPTION_GROUPS; group++) {
		buffer_printf(out, "\n## %s\n\n", option_group_names[group]);
		buffer_puts(out, "| agent | command | default | range | what it does | "
			    "|\n|---|---|---|---|---|---|\n");
		for (p = option_table; p->kind; p++)
			if ((int)p->group == group)
				markdown_row(p, out);
	}
	buffer_puts(out, "\n## Events\n\n| event | what it samples | a sample each | what it says besides | "
		    "|\n|---|---|---|---|---|\n");
	for (e = event_rows; e->name; e++)
		event_row(e, out);
}

void options_events(struct buffer *out)
{
	const struct event_row *e;

	for (e = event_rows; e->name; e++)
		if (e->available)
			buffer_printf(out, "%-24s %s\n", e->name, e->help);
	buffer_puts(out, "and by name, see docs/reference/events.md: tracepoints (sched:sched_switch), "
		    "uprobe:FUNCTION, kprobe:FUNCTION, mem:SYMBOL,\nFUNCTION (a native one), rNNN, PMU/TERM=VALUE/; "
		    "`jstrobe list PID` says what is permitted there\n");
}

static void item(const char *name, const char *value, char separator, struct buffer *out)
{
	if (out->length)
		buffer_putc(out, separator);
	buffer_puts(out, name);
	if (value)
		buffer_printf(out, "=%s", value);
}

/* Options that stay on the command's side, or travel in another way. */
static bool travels(const struct option *p)
{
	return p->agent && p->size && strcmp(p->agent, "file") != 0 &&
	       strcmp(p->agent, "connect") != 0 && strcmp(p->agent, "token") != 0 &&
	       strcmp(p->agent, "protocol") != 0;
}

static void print_patterns(const char *name, const char *list, char separator, struct buffer *out)
{
	size_t n;

	for (; *list; list += n + (list[n] != '\0')) {
		n = strcspn(list, "\n");
		item(name, "", separator, out);
		buffer_append(out, list, n);
	}
}

static void print_depth(const struct options *o, char separator, struct buffer *out)
{
	char text[32];

	snprintf(text, sizeof(text), o->depth_kept ? "%u/%u" : "%u", o->depth, o->depth_kept);
	item("jstackdepth", text, separator, out);
}

static void print_field(const struct option *p, const struct options *o, char separator,
			struct buffer *out)
{
	const char *field = (const char *)o + p->offset;
	char text[32];
	uint64_t big;
	uint32_t small;

	switch (p->kind) {
	case OPTION_TIMED_EVENT:
	case OPTION_SIZED_EVENT:
	case OPTION_EVERY_EVENT:
		memcpy(&big, field, sizeof(big));
		if (p->kind == OPTION_TIMED_EVENT)
			option_time_text(big == OPTIONS_ALL ? 0 : big, text, sizeof(text));
		else
			snprintf(text, sizeof(text), "%llu", (unsigned long long)(big == OPTIONS_ALL ? 0 : big));
		item(p->agent, big > 1 ? text : NULL, separator, out);
		break;
	case OPTION_FLAG:
		item(p->agent, NULL, separator, out);
		break;
	case OPTION_TEXT:
	case OPTION_PROFILE:
	case OPTION_EVENT:
	case OPTION_CSTACK:
	case OPTION_WORD:
	case OPTION_MOMENT:
	case OPTION_THREADS:
		item(p->agent, field, separator, out);
		break;
	case OPTION_PATTERNS:
		print_patterns(p->agent, field, separator, out);
		break;
	case OPTION_COUNT:
	case OPTION_OMITTED:
	case OPTION_SIGNAL:
	case OPTION_MODE:
		memcpy(&small, field, sizeof(small));
		snprintf(text, sizeof(text), p->kind == OPTION_MODE ? "%o" : "%u", small);
		item(p->agent, text, separator, out);
		break;
	case OPTION_PERCENT:
		memcpy(&small, field, sizeof(small));
		snprintf(text, sizeof(text), "%u.%03u", small / 1000, small % 1000);
		item(p->agent, text, separator, out);
		break;
	case OPTION_RATE_LIMIT:
		memcpy(&small, field, sizeof(small));
		snprintf(text, sizeof(text), "cpu:%u", small);
		item(p->agent, text, separator, out);
		break;
	case OPTION_RATIO:
		memcpy(&small, field, sizeof(small));
		snprintf(text, sizeof(text), "%u.%03u%%", (small - 1) / 1000, (small - 1) % 1000);
		item(p->agent, text, separator, out);
		break;
	case OPTION_DURATION:
		memcpy(&big, field, sizeof(big));
		snprintf(text, sizeof(text), "%lluns", (unsigned long long)big);
		item(p->agent, text, separator, out);
		break;
	case OPTION_TIME:
	case OPTION_SIZE:
	case OPTION_INTERVAL:
		memcpy(&big, field, sizeof(big));
		snprintf(text, sizeof(text), "%llu", (unsigned long long)big);
		item(p->agent, text, separator, out);
		break;
	default:
		break;
	}
}

/* Whether P was given in O. What stands behind the end of a text is of a longer one before it. */
static bool is_given(const struct option *p, const struct options *o, const struct options *initial)
{
	const char *now = (const char *)o + p->offset, *before = (const char *)initial + p->offset;

	switch (p->kind) {
	case OPTION_TEXT:
	case OPTION_EVENT:
	case OPTION_CSTACK:
	case OPTION_WORD:
	case OPTION_MOMENT:
	case OPTION_THREADS:
		return strcmp(now, before) != 0;
	default:
		return memcmp(now, before, p->size) != 0;
	}
}

/* Methods whose calls are recorded beside samples, as they are said. */
static void print_traced(const struct options *o, const struct options *initial, char separator, struct buffer *out)
{
	char patterns[sizeof(o->traced)], *one, *rest;

	/* as nothing else is said to be sampled, calls would be counted instead */
	if (o->traced[0] && strcmp(o->event, initial->event) == 0)
		item("event", o->event, separator, out);
	strcpy(patterns, o->traced);
	for (one = strtok_r(patterns, ";", &rest); one; one = strtok_r(NULL, ";", &rest))
		item("trace", one, separator, out);
}

void options_print(const struct options *o, char separator, struct buffer *out)
{
	const struct option *p;
	struct options initial;
	char text[48];

	options_init(&initial);
	for (p = option_table; p->kind; p++) {
		if (p->kind == OPTION_ACTION && o->action == (enum options_action)p->action)
			item(p->agent, NULL, separator, out);
		if (travels(p) && is_given(p, o, &initial))
			print_field(p, o, separator, out);
	}
	if (o->depth != initial.depth || o->depth_kept)
		print_depth(o, separator, out);
	print_traced(o, &initial, separator, out);
	if (o->stats)
		item("features", "stats", separator, out);
	if (o->flat) {
		snprintf(text, sizeof(text), "%u", o->flat);
		item("flat", text, separator, out);
	}
	if (o->traces) {
		snprintf(text, sizeof(text), "%u", o->traces);
		item("traces", text, separator, out);
	}
	/* last, for flat= and traces= choose a format as well */
	if (o->format[0])
		item("output", o->format, separator, out);
}
