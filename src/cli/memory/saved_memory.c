/*
 * saved_memory.c - two saved readings (`jstrobe memory --json`), side by side: what has grown in between.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli/memory/resident.h"
#include "common/base/buffer.h"
#include "common/base/json_writer.h"
#include "profile/readers/input/json_pull.h"

#define FILE_MAX (1u << 20)

struct saved {
	uint64_t pid, time_ms, schema;
	bool is_memory;
	struct memory_sums sums;
};

static void read_lines(struct json *j, struct saved *s)
{
	const char *key;
	unsigned i;

	if (!json_open(j, '{'))
		return;
	while ((key = json_key(j))) {
		for (i = 0; i < MEMORY_LINES && strcmp(key, memory_keys[i]) != 0; i++)
			;
		if (i < MEMORY_LINES)
			s->sums.lines[i] = json_number(j);
		else
			json_skip(j);
	}
}

static bool parse(const struct buffer *bytes, struct saved *s)
{
	const char *key;
	struct json j;
	bool good;

	json_init(&j, bytes->data, bytes->length);
	if (json_open(&j, '{')) {
		while ((key = json_key(&j)))
			if (strcmp(key, "kind") == 0)
				s->is_memory = strcmp(json_string(&j, NULL), "memory") == 0;
			else if (strcmp(key, "resident") == 0)
				read_lines(&j, s);
			else if (!json_take_numbers(&j, key, {"schema", &s->schema}, {"pid", &s->pid},
						    {"time_ms", &s->time_ms}, {"rss", &s->sums.rss}))
				json_skip(&j);
	}
	good = !j.error && s->is_memory && s->schema == 1;
	json_free(&j);
	return good;
}

/* A reading has its kind at the begin; results of sessions, which may be large, are not read on. */
static bool read_saved(const char *path, struct saved *s)
{
	struct buffer bytes = BUFFER_INIT;
	char piece[65536];
	ssize_t n = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool good;

	memset(s, 0, sizeof(*s));
	while (fd >= 0 && bytes.length < FILE_MAX && (n = read(fd, piece, sizeof(piece))) > 0) {
		buffer_append(&bytes, piece, (size_t)n);
		if (!memmem(bytes.data, MIN(bytes.length, 512u), "\"memory\"", 8))
			break;
	}
	if (fd >= 0)
		close(fd);
	good = n == 0 && !bytes.failed && parse(&bytes, s);
	buffer_free(&bytes);
	return good;
}

static void put_json(const struct saved s[2], struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, JSON_FILE);
	unsigned i, side;

	json_object(&w, NULL);
	json_put_number(&w, "schema", 1);
	json_put_text(&w, "kind", "memory_diff");
	for (side = 0; side < 2; side++) {
		json_object(&w, side ? "after" : "before");
		json_put_numbers(&w, {"pid", s[side].pid}, {"time_ms", s[side].time_ms}, {"rss", s[side].sums.rss});
		json_object(&w, "resident");
		for (i = 0; i < MEMORY_LINES; i++)
			json_put_number(&w, memory_keys[i], s[side].sums.lines[i]);
		json_end(&w);
		json_end(&w);
	}
	json_end(&w);
}

static void put_row(uint64_t before, uint64_t after, const char *title, struct buffer *out)
{
	char a[24], b[24];

	buffer_printf(out, "%10s %10s", memory_size(before, a), memory_size(after, b));
	memory_put_change(after, before, out);
	buffer_printf(out, "  %s\n", title);
}

bool memory_diff(const char *const paths[2], bool json, struct buffer *out, struct error *err)
{
	struct saved s[2];
	bool is[2];
	unsigned i;

	for (i = 0; i < 2; i++)
		is[i] = read_saved(paths[i], &s[i]);
	err->code = 0;
	if (is[0] != is[1])
		error_set(err, EINVAL, "diff: %s is a reading of memory, %s is none", paths[is[1]], paths[is[0]]);
	if (!is[0] || !is[1])
		return false;
	if (json) {
		put_json(s, out);
		return true;
	}
	buffer_printf(out, "%10s %10s  %11s\n", "before", "after", "change");
	for (i = 0; i < MEMORY_LINES; i++)
		if (s[0].sums.lines[i] || s[1].sums.lines[i])
			put_row(s[0].sums.lines[i], s[1].sums.lines[i], memory_titles[i], out);
	put_row(s[0].sums.rss, s[1].sums.rss, "Rss, as the kernel counts it", out);
	return true;
}
