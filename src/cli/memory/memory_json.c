/*
 * memory_json.c - a reading as JSON; its keys are in docs/reference/memory.md.
 */
#include "cli/memory/resident.h"
#include "common/base/json_writer.h"

static void put_lines(struct json_writer *w, const struct memory_reading *r)
{
	unsigned i;

	json_object(w, "resident");
	for (i = 0; i < MEMORY_LINES; i++)
		json_put_number(w, memory_keys[i], r->lines[i]);
	json_end(w);
}

static void put_part(struct json_writer *w, uint32_t i, const void *data)
{
	const struct memory_part *part = &((const struct memory_part *)data)[i];

	json_put_texts(w, {"line", memory_keys[part->line]}, {"part", part->what});
	json_put_number(w, "resident", part->rss);
}

static void put_counted(struct json_writer *w, const struct memory_reading *r)
{
	const struct memory_counters *c = &r->counters;
	const struct memory_malloc *m = &r->malloc;

	json_object(w, "jvm");
	json_put_numbers(w, {"heap_used", c->heap_used}, {"heap_committed", c->heap_committed},
			 {"heap_max", c->heap_max}, {"metaspace_used", c->metaspace_used},
			 {"metaspace_committed", c->metaspace_committed}, {"class_space_used", c->class_used},
			 {"class_space_committed", c->class_committed}, {"code_committed", r->code_committed});
	json_end(w);
	json_object(w, "malloc");
	json_put_bool(w, "known", m->known);
	json_put_bool(w, "free_known", m->free_known);
	json_put_numbers(w, {"arenas", m->arenas}, {"system", m->system}, {"free", m->free}, {"large", m->large},
			 {"large_blocks", m->large_count});
	json_end(w);
	json_object(w, "threads");
	json_put_numbers(w, {"java", r->stacks[MEMORY_stacks_java]}, {"jit", r->stacks[MEMORY_stacks_jit]},
			 {"gc", r->stacks[MEMORY_stacks_gc]}, {"other", r->stacks[MEMORY_stacks_other]});
	json_end(w);
}

static void put_cgroup(struct json_writer *w, const struct memory_cgroup *g)
{
	if (!g->version)
		return;
	json_object(w, "cgroup");
	json_put_number(w, "version", (uint64_t)g->version);
	if (g->limit != UINT64_MAX)
		json_put_number(w, "limit", g->limit);
	json_put_numbers(w, {"used", g->used}, {"inactive_file", g->file});
	if (g->swap_limit != UINT64_MAX)
		json_put_number(w, "swap_limit", g->swap_limit);
	json_put_number(w, "swap_used", g->swap_used);
	json_end(w);
}

static void put_nmt_line(struct json_writer *w, uint32_t i, const void *data)
{
	const struct memory_nmt_line *line = &((const struct memory_nmt_line *)data)[i];

	json_put_text(w, "name", line->name);
	json_put_numbers(w, {"committed", line->committed}, {"reserved", line->reserved});
}

static void put_nmt(struct json_writer *w, const struct memory_nmt *n)
{
	if (!n->known)
		return;
	json_object(w, "nmt");
	json_put_numbers(w, {"committed", n->committed}, {"reserved", n->reserved});
	json_put_objects(w, "lines", n->count, put_nmt_line, n->lines);
	json_end(w);
}

void memory_json(const struct memory_reading *r, bool line, struct buffer *out)
{
	struct json_writer w = JSON_WRITER(out, line ? JSON_LINE : JSON_FILE);

	json_object(&w, NULL);
	json_put_numbers(&w, {"schema", 1}, {"pid", (uint64_t)r->pid}, {"time_ms", r->time / NS_PER_MS});
	json_put_text(&w, "kind", "memory");
	json_put_text(&w, "main", r->vm == PROCESS_HOTSPOT ? r->java.main : "");
	json_put_text(&w, "jdk", r->jdk);
	json_put_bool(&w, "jvm_tables", r->tables);
	json_put_numbers(&w, {"rss", r->maps.rss}, {"pss", r->maps.pss}, {"swap", r->maps.swap},
			 {"transparent_huge", r->maps.huge}, {"hugetlb", r->maps.hugetlb});
	put_lines(&w, r);
	json_put_objects(&w, "parts", (uint32_t)r->parts.count, put_part, r->parts.items);
	put_counted(&w, r);
	put_cgroup(&w, &r->cgroup);
	put_nmt(&w, &r->nmt);
	json_end(&w);
}
