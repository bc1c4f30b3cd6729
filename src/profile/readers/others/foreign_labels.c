#include "profile/readers/others/foreign_labels.h"

#include <string.h>

/* What the keys of labels mean, ours and others'. */
enum meaning { MEANS_NAME, MEANS_TID, MEANS_STATE, MEANS_TRACE, MEANS_SPAN, MEANS_SIZE, MEANS_NOTHING };

static const struct {
	const char *key;
	enum meaning meaning;
} meanings[] = {
	{"thread", MEANS_NAME},       {"thread.name", MEANS_NAME},  {"thread_name", MEANS_NAME},
	{"thread name", MEANS_NAME},  {"comm", MEANS_NAME},
	{"thread_id", MEANS_TID},     {"thread.id", MEANS_TID},     {"thread id", MEANS_TID}, {"tid", MEANS_TID},
	{"state", MEANS_STATE},       {"thread.state", MEANS_STATE},
	{"trace_id", MEANS_TRACE},    {"trace id", MEANS_TRACE},    {"trace.id", MEANS_TRACE},
	{"span_id", MEANS_SPAN},      {"span id", MEANS_SPAN},      {"span.id", MEANS_SPAN},
	{"bytes", MEANS_SIZE}, /* of the objects, in Go's profiles: the weight says that */
};

static enum meaning meaning_of(const struct foreign_text *key)
{
	size_t i;

	for (i = 0; i < ARRAY_LEN(meanings); i++)
		if (key->length == strlen(meanings[i].key) && memcmp(key->bytes, meanings[i].key, key->length) == 0)
			return meanings[i].meaning;
	return MEANS_NOTHING;
}

void foreign_labels_begin(struct foreign_labels *l)
{
	l->name.fd = l->labels.fd = l->key.fd = -1;
	l->name.length = l->labels.length = 0;
	l->tid = 0;
	l->state = THREAD_NONE;
	*l->trace = *l->span = '\0';
}

/* TEXT into TO of SIZE bytes, if it fits. */
static bool copy(char *to, size_t size, const struct foreign_text *text)
{
	if (text->length >= size)
		return false;
	memcpy(to, text->bytes, text->length);
	to[text->length] = '\0';
	return true;
}

static uint64_t number_in(const struct foreign_text *text)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < text->length && i < 19; i++) {
		if (text->bytes[i] < '0' || text->bytes[i] > '9')
			return 0;
		n = n * 10 + (uint64_t)(text->bytes[i] - '0');
	}
	return n;
}

static void put_label(struct foreign_labels *l, const struct foreign_text *key, const struct foreign_text *value)
{
	size_t n = l->prefix ? strlen(l->prefix) : 0;

	/* long texts cost what they are long each time */
	if (!l->to->by_context || !read_aggregate_text(l->to, key->length + value->length))
		return;
	if (n && key->length >= n && memcmp(key->bytes, l->prefix, n) == 0)
		read_context_label(&l->labels, key->bytes + n, key->length - n, value->bytes, value->length);
	else
		read_context_label(&l->labels, key->bytes, key->length, value->bytes, value->length);
}

static bool put_state(struct foreign_labels *l, const struct foreign_text *value)
{
	char word[32];

	l->state = copy(word, sizeof(word), value) ? thread_state_by_word(word) : THREAD_NONE;
	return l->state != THREAD_NONE;
}

void foreign_labels_text(struct foreign_labels *l, const struct foreign_text *key, const struct foreign_text *value)
{
	bool known = true;

	switch (meaning_of(key)) {
	case MEANS_NAME:
		l->name.length = 0;
		if (read_aggregate_text(l->to, value->length))
			buffer_append(&l->name, value->bytes, value->length);
		break;
	case MEANS_TID:
		l->tid = number_in(value);
		break;
	case MEANS_STATE:
		known = put_state(l, value);
		break;
	case MEANS_TRACE:
		known = copy(l->trace, sizeof(l->trace), value);
		break;
	case MEANS_SPAN:
		known = copy(l->span, sizeof(l->span), value);
		break;
	default:
		known = false;
	}
	if (!known)
		put_label(l, key, value);
}

void foreign_labels_number(struct foreign_labels *l, const struct foreign_text *key, uint64_t number)
{
	enum meaning meaning = meaning_of(key);
	struct foreign_text value;

	if (meaning == MEANS_TID)
		l->tid = number;
	if (meaning == MEANS_TID || meaning == MEANS_SIZE)
		return;
	l->key.length = 0;
	buffer_printf(&l->key, "%lld", (long long)number); /* both formats have signed ones */
	if (l->key.failed)
		l->to->no_memory = true;
	value = (struct foreign_text){l->key.data, l->key.failed ? 0 : l->key.length};
	put_label(l, key, &value);
}

/* READ_NO_THREAD: nothing is said of it. */
static uint32_t thread_of(struct foreign_labels *l)
{
	uint32_t words[READ_THREAD_WORDS] = {0}, number;

	if (!l->name.length && !l->tid)
		return READ_NO_THREAD;
	words[READ_THREAD_TID] = (uint32_t)MIN(l->tid, (uint64_t)UINT32_MAX);
	if (!l->name.length)
		buffer_printf(&l->name, "[tid=%u]", words[READ_THREAD_TID]);
	words[READ_THREAD_NAME] = strings_add(&l->to->strings, l->name.data, l->name.length);
	number = l->name.failed || l->to->strings.failed ? LISTS_FAILED :
							   lists_add(&l->to->threads, words, READ_THREAD_WORDS);
	l->to->no_memory |= number == LISTS_FAILED;
	return number;
}

static uint32_t context_of(struct foreign_labels *l)
{
	struct profile_trace_context c = {.labels = ""};

	read_context_ids(&c, l->trace, l->span);
	if (l->labels.length) {
		buffer_putc(&l->labels, '\0');
		l->labels.length--;
		c.labels = l->labels.failed ? "" : l->labels.data;
	}
	l->to->no_memory |= l->labels.failed != 0;
	return read_context_number(l->to, &c);
}

struct foreign_place foreign_labels_place(struct foreign_labels *l, const struct foreign_event *event, uint32_t stack)
{
	struct foreign_place at = {.stack = stack, .thread = thread_of(l), .state = (uint8_t)l->state};

	at.apart = l->to->per_thread || event->kind == WEIGHT_WALL || event->kind == WEIGHT_WAIT ? at.thread :
												 READ_NO_THREAD;
	if (l->to->by_context && !l->to->no_memory)
		at.apart = read_context_pair(l->to, at.apart, context_of(l));
	return at;
}

void foreign_labels_free(struct foreign_labels *l)
{
	buffer_free(&l->name);
	buffer_free(&l->labels);
	buffer_free(&l->key);
}
