/*
 * resident.h - where the resident memory of a process is. Inner header of the folder.
 *
 * One reading of /proc/PID/smaps says which mapping has how many resident bytes. Then all that is known of the
 * process's memory is taken down as claims on address ranges, the surest first: the heap, code and stacks as the
 * JVM's tables tell them, glibc's arenas as their own headers do, files by their names. Where a mapping belongs to
 * several, /proc/PID/pagemap says which of its pages are resident. The sum of the lines is the sum of smaps, always;
 * what nothing is known of has a line of its own.
 *
 * The process is never stopped and nothing is written to it.
 */
#ifndef JSTROBE_CLI_MEMORY_RESIDENT_H
#define JSTROBE_CLI_MEMORY_RESIDENT_H

#include <limits.h>
#include <sys/types.h>

#include "cli/attach/process.h"
#include "common/base/error.h"
#include "common/base/vector.h"

enum memory_line {
#define LINE(key, title, about) MEMORY_##key,
#include "cli/memory/lines.def"
	MEMORY_LINES
};

/* ---- smaps.c ---- */

struct mapping {
	uint64_t start, end, offset, inode;
	uint64_t rss, swap, huge; /* bytes; huge: in transparent huge pages */
	char perms[5];
	char *path; /* "" = none; without " (deleted)" */
};
struct mappings {
	struct mapping *items;
	size_t count, capacity;
	uint64_t rss, pss, swap, huge, hugetlb; /* sums; hugetlb is no part of rss */
};
/* Read the file FD, which is closed, of smaps. 0 or -errno. */
int mappings_read(int fd, struct mappings *m);
void mappings_free(struct mappings *m);
/* The mapping that holds ADDRESS; NULL. */
const struct mapping *mappings_find(const struct mappings *m, uint64_t address);
static inline bool mapping_is_anonymous(const struct mapping *m)
{
	return m->path[0] == '\0' || strncmp(m->path, "[anon", 5) == 0;
}

/* ---- ranges.c ---- */

/* WHAT (static, or NULL) is a part of the line: "card table". */
struct owned_range {
	uint64_t start, end;
	enum memory_line line;
	uint32_t rank; /* lower ones win */
	const char *what;
};
struct ranges {
	struct owned_range *items;
	size_t count, capacity;
	bool failed; /* out of memory */
};
/* Say what [START, END) is; what was said before stays true. */
void ranges_add(struct ranges *c, uint64_t start, uint64_t end, enum memory_line line, const char *what);
/* Order them, so that none overlaps another. They may be added to afterwards, and settled again. */
void ranges_settle(struct ranges *c);
/* Of settled ones, the first that ends behind ADDRESS; its index, c->count if there is none. */
size_t ranges_after(const struct ranges *c, uint64_t address);

/* ---- peek.c ---- */

/* Some entries of pagemap. */
struct peek_window {
	uint64_t from; /* page number of entries[0] */
	size_t count;
	uint64_t entries[512];
};
/* A process's memory as we read it: no page is brought in that is not there, but for pages of files. */
struct peek {
	pid_t pid;
	const struct mappings *maps;
	int pagemap;  /* -1: not permitted */
	bool refused; /* the kernel does not let us read its memory (ptrace) */
	struct peek_window *windows;
	uint64_t cached[64];
	char *cache; /* 64 pages */
};
int peek_open(struct peek *p, pid_t pid, const struct mappings *maps, struct error *err);
void peek_close(struct peek *p);
/* N bytes at ADDRESS; false: not to be had. */
bool peek_read(struct peek *p, uint64_t address, void *to, size_t n);
bool peek_word(struct peek *p, uint64_t address, uint64_t *word);
/* The NUL-ended text at ADDRESS, cut. */
bool peek_text(struct peek *p, uint64_t address, char *to, size_t size);
/* How many bytes of [FROM, TO) are resident, by whole pages; pages of zeros that were only read are among them. */
uint64_t peek_resident(struct peek *p, uint64_t from, uint64_t to);

/* The begin of the first page behind FROM that is resident; TO: none before it. */
uint64_t peek_next(struct peek *p, uint64_t from, uint64_t to);

/* ---- vm_tables.c: what libjvm.so tells debuggers, from outside ---- */

/* The dynamic symbols of the image whose first page is mapped at FIRST (0: none). False: it has none. */
struct image_symbols {
	uint64_t base, end, symbols, names, gnu_hash, hash; /* end: of its zeroed data, too */
};
bool image_symbols_open(struct peek *p, uint64_t first, struct image_symbols *l);
/* The address of the one called NAME; 0: it has none. */
uint64_t image_symbols_find(struct peek *p, const struct image_symbols *l, const char *name);

struct vm_tables;
/* NULL: there are none, or they cannot be read. */
struct vm_tables *vm_tables_open(struct peek *p);
void vm_tables_close(struct vm_tables *t);
/* The offset of a field, -1 if there is none. */
int64_t vm_tables_offset(const struct vm_tables *t, const char *type, const char *field);
/* The address of a static one, 0. */
uint64_t vm_tables_static(const struct vm_tables *t, const char *type, const char *field);
/* What it holds, 0. */
uint64_t vm_tables_value(const struct vm_tables *t, struct peek *p, const char *type, const char *field);
/* The word at OBJECT's FIELD, 0. */
uint64_t vm_tables_at(const struct vm_tables *t, struct peek *p, uint64_t object, const char *type, const char *field);

/* ---- what claims ---- */

struct memory_thread {
	pid_t tid, inner; /* as the process itself numbers it */
	uint64_t stack_low, stack_high; /* of Java threads, by the JVM's table */
	char name[16];
};
struct memory_threads {
	struct memory_thread *items;
	size_t count, capacity;
};

struct memory_malloc {
	bool known;        /* arenas could be read */
	bool free_known;   /* and their lists of free blocks */
	uint32_t arenas;   /* main one included */
	uint64_t system;   /* bytes that arenas have of the system */
	uint64_t free;     /* of them in free blocks, whole pages or not */
	uint64_t large;    /* bytes of blocks that were mapped one by one */
	uint32_t large_count;
};

/* The Java heap as the JVM counts it, bytes; 0 = not known. */
struct memory_counters {
	bool known;
	uint64_t collections;
	uint64_t heap_used, heap_committed, heap_max;
	uint64_t generations_max[2]; /* sum of the generations', and the largest */
	uint64_t survivor_max;       /* of the first generation's second space */
	uint64_t metaspace_used, metaspace_committed;
	uint64_t class_used, class_committed;
};

/* What the JVM's own accounts say, bytes; names are the JVM's. */
struct memory_nmt {
	bool known;
	uint64_t reserved, committed;
	uint32_t count;
	struct memory_nmt_line {
		char name[32];
		uint64_t reserved, committed;
	} lines[48];
};

struct memory_cgroup {
	int version; /* 0: none found */
	uint64_t limit; /* UINT64_MAX: none */
	uint64_t used, file; /* FILE: of them, cache that the kernel can drop */
	uint64_t swap_limit, swap_used;
};

struct memory_part {
	enum memory_line line;
	const char *what;
	uint64_t rss;
};

/* What is left of a reading that is over. */
struct memory_sums {
	uint64_t rss, lines[MEMORY_LINES];
};

/* All of one reading. */
struct memory_reading {
	pid_t pid;
	struct process_status status;
	struct process_java java;
	enum process_vm vm;
	char jdk[48];
	uint64_t time; /* os_realtime */
	struct mappings maps;
	uint64_t lines[MEMORY_LINES];
	uint64_t stacks[MEMORY_LINES]; /* how many, of the stack lines */
	VECTOR(struct memory_part) parts;
	uint64_t heap_reserved;
	uint64_t code_committed;
	struct memory_malloc malloc;
	struct memory_counters counters;
	struct memory_cgroup cgroup;
	struct memory_nmt nmt;
	bool tables; /* the JVM's own could be read */
	bool refused; /* its memory may not be read by us */
	char thp[16]; /* "madvise" */
};

/* What files' names say (files.c): the line of a mapping that nothing else is known of. */
enum memory_line memory_line_of_mapping(const struct mapping *m);
/* The same of mapping I with what lies before it: a library's data have a part without name. */
enum memory_line memory_line_of(const struct mappings *m, size_t i);
/* Each of these adds claims. */
/* In its stead, of a JVM whose memory may not be read (by_form.c). */
void memory_claim_by_form(const struct mappings *m, const struct memory_counters *counters, struct ranges *c);
void memory_claim_vm(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r);
/* Addresses of all classes and of their constants, in order (classes.c). */
struct memory_class {
	uint64_t at;
	bool constants;
};
struct memory_classes {
	struct memory_class *items;
	size_t count, capacity;
};
void memory_find_classes(struct peek *p, const struct vm_tables *t, struct memory_classes *classes);
/* Whether one of them lies in [FROM, TO). */
bool memory_has_class(const struct memory_classes *classes, uint64_t from, uint64_t to);
void memory_claim_metaspace(struct peek *p, const struct memory_classes *classes, struct ranges *c);
void memory_claim_reached(struct peek *p, const struct vm_tables *t, struct ranges *c);
void memory_claim_stacks(struct peek *p, const struct vm_tables *t, struct ranges *c, struct memory_reading *r);
/* What jstrobe's library has mapped for itself. */
void memory_claim_own(struct peek *p, struct ranges *c);
void memory_claim_arenas(struct peek *p, struct ranges *c, struct memory_malloc *m);
void memory_claim_large(struct peek *p, const struct memory_classes *classes, struct ranges *c,
			struct memory_malloc *m);
/* Share the resident bytes among the lines (account.c). */
void memory_account(struct peek *p, const struct ranges *c, struct memory_reading *r);

void memory_read_counters(pid_t pid, const struct process_status *s, struct memory_counters *c);
void memory_read_cgroup(pid_t pid, struct memory_cgroup *g);

/* ---- nmt.c ---- */
struct buffer;
/* Ask the JVM, which is attached to for that. 0, or a negative errno: -ENODATA, it does not count. */
int memory_read_nmt(pid_t pid, uint64_t timeout_ns, struct memory_nmt *n, struct error *err);
/* What TEXT, the JVM's answer, says. */
int memory_nmt_parse(const char *text, struct memory_nmt *n, struct error *err);
void memory_nmt_table(const struct memory_nmt *n, struct buffer *out);

/* ---- take_reading.c ---- */
int memory_read(pid_t pid, struct memory_reading *r, struct error *err);
void memory_reading_free(struct memory_reading *r);

/* ---- table.c, advice.c, memory_json.c ---- */
struct buffer;
extern const char *const memory_keys[], *const memory_titles[];
/* BEFORE: an earlier reading, whose differences are shown; NULL. */
void memory_table(const struct memory_reading *r, const struct memory_sums *before, struct buffer *out);
void memory_advice(const struct memory_reading *r, struct buffer *out);
/* AS: in a JSON_LINE (watch) or a file. */
void memory_json(const struct memory_reading *r, bool line, struct buffer *out);
/* A column of the table: what has become of THEN. */
void memory_put_change(uint64_t now, uint64_t then, struct buffer *out);
/* saved_memory.c: two files with readings, side by side. False: these are none, OUT is as it was. */
bool memory_diff(const char *const paths[2], bool json, struct buffer *out, struct error *err);
/* "412 MB" */
const char *memory_size(uint64_t bytes, char out[24]);

#endif
