/*
 * session_roots.c - a result is written when the session's lock is free again, and what it tells may be found anew
 * meanwhile: each profile has a copy of its own.
 */
#include "agent/session/session_roots.h"

#include <stdlib.h>
#include <string.h>

#include "agent/sources/live/live_objects.h"
#include "common/base/base.h"
#include "profile/model/human.h"
#include "profile/model/leaks.h"

static struct {
	struct profile_chain chains[LIVE_ROOTS]; /* texts are its own */
	uint32_t count;
	char *told;
} roots;

static void free_chains(struct profile_chain *chains, uint32_t count)
{
	while (count-- > 0) {
		free((void *)(uintptr_t)chains[count].class);
		free((void *)(uintptr_t)chains[count].place);
		free((void *)(uintptr_t)chains[count].caller);
		free((void *)(uintptr_t)chains[count].text);
	}
}

void session_roots_forget(void)
{
	free_chains(roots.chains, roots.count);
	free(roots.told);
	memset(&roots, 0, sizeof(roots));
}

static void keep(const struct leaks *l, const struct leak *row, const char *text)
{
	roots.chains[roots.count++] = (struct profile_chain){
		.class = strdup(name_text(&l->names, row->class)), .place = strdup(name_text(&l->names, row->place)),
		.caller = strdup(name_text(&l->names, row->caller)), .text = *text ? strdup(text) : NULL,
	};
}

static char *what_it_took(const struct live_roots *r)
{
	struct buffer text = BUFFER_INIT;

	buffer_printf(&text, "References were followed for %s, in which the program stood still; %s objects were met",
		      human_time(r->took).text, human_count(r->objects).text);
	if (r->passed)
		buffer_puts(&text, ", not all: --roots-pause was over");
	if (r->full)
		buffer_puts(&text, ", and no more are told apart");
	buffer_putc(&text, '\0');
	return text.data;
}

void session_roots_find(const struct profile *p, uint32_t most, uint64_t pause)
{
	uint64_t ids[LIVE_ROOTS];
	struct live_roots found;
	struct error err;
	struct leaks l;
	uint32_t count, i;

	session_roots_forget();
	if (leaks_find(&l, p)) {
		leaks_free(&l);
		return;
	}
	count = MIN(MIN(l.count, most), (uint32_t)LIVE_ROOTS);
	for (i = 0; i < count; i++)
		ids[i] = l.rows[i].example;
	if (count) {
		bool ok = live_objects_roots(ids, count, pause, &found, &err) == 0;

		for (i = 0; ok && i < count; i++)
			keep(&l, &l.rows[i], found.chains[i].failed ? "" : found.chains[i].data);
		roots.told = ok ? what_it_took(&found) : strdup(err.text);
		live_objects_roots_free(&found);
	} else {
		roots.told = strdup("roots: no references were followed, as nothing surely grew at that moment");
	}
	leaks_free(&l);
}

static const char *copy_of(const char *text)
{
	return text ? strdup(text) : NULL;
}

void session_roots_attach(struct profile *p)
{
	struct profile_chain *chains = p->survivors ? calloc(roots.count + 1, sizeof(*chains)) : NULL;
	uint32_t i;

	if (!chains || !roots.told) {
		free(chains);
		return;
	}
	for (i = 0; i < roots.count; i++) {
		const struct profile_chain *c = &roots.chains[i];

		chains[p->chain_count] = (struct profile_chain){copy_of(c->class), copy_of(c->place),
								copy_of(c->caller), copy_of(c->text)};
		p->chain_count += c->class && chains[p->chain_count].class && chains[p->chain_count].place &&
				  chains[p->chain_count].caller;
	}
	p->chains = chains;
	p->chains_told = copy_of(roots.told);
}

void session_roots_detach(struct profile *p)
{
	struct profile_chain *chains = (struct profile_chain *)(uintptr_t)p->chains;

	free_chains(chains, p->chain_count);
	free(chains);
	free((void *)(uintptr_t)p->chains_told);
	p->chains = NULL;
	p->chain_count = 0;
	p->chains_told = NULL;
}
