/*
 * got.c - replacing a function in other images' global offset tables.
 *
 * The only file (with trap.c, later) that writes into memory of others. A slot is an
 * aligned word: one store replaces it for every thread. Slots in the part that the
 * loader made read-only (RELRO) are made writable for the moment of the store.
 */
#include "agent/hooks/got.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/hooks/copies.h"
#include "agent/hooks/dynamic.h"
#include "common/base/proc_self.h"
#include "common/base/soname.h"
#include "cpu.h"

#if UINTPTR_MAX > UINT32_MAX
#define TYPE_OF(info) ELF64_R_TYPE(info)
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define TYPE_OF(info) ELF32_R_TYPE(info)
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

struct patch {
	const struct got_function *functions;
	size_t count;
	bool lazy;    /* slots still bound lazily, to the image's own PLT, are replaced as well */
	bool shared;  /* another profiler writes into slots, too */
	bool skipped; /* an image was met that the loader has not finished */
	size_t replaced; /* slots */
	struct {
		uintptr_t page; /* 0: none */
		bool read_only;
	} known;      /* the page that was asked for last, of the image at hand */
};

static uintptr_t page_bytes(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* Whether SLOT lies in the image's RELRO range; the loader protects whole pages only. */
static bool is_relro(const struct dl_phdr_info *image, uintptr_t slot)
{
	uintptr_t page = page_bytes();
	int i;

	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + p->p_vaddr;
		uintptr_t end = (start + p->p_memsz) & ~(page - 1);

		if (p->p_type == PT_GNU_RELRO && slot >= (start & ~(page - 1)) && slot < end)
			return true;
	}
	return false;
}

/* Whether the page at ADDRESS is read-only by now, from /proc/self/maps. */
static bool is_read_only(uintptr_t address)
{
	char self[PROC_SELF_MAX];
	FILE *maps = fopen(proc_self(self, "maps"), "re");
	unsigned long start, end;
	bool found = false;
	char line[512], mode[8];

	while (maps && !found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx %7s", &start, &end, mode) == 3 && address >= start &&
			address < end;
	if (maps)
		fclose(maps);
	return found && mode[1] == '-';
}

/* The same, remembered: an image has its slots on one page or two, and the table of maps is long. */
static bool is_known_read_only(struct patch *p, uintptr_t page)
{
	if (p->known.page != page) {
		p->known.page = page;
		p->known.read_only = is_read_only(page);
	}
	return p->known.read_only;
}

/*
 * The loader shows an image before it has relocated it (glibc: dlpi_adds grows first). RELRO
 * pages become read-only when that is done and never writable again: a page that is still
 * writable belongs to the loader, and is left alone until the next try. Unless another profiler is
 * there: async-profiler makes such pages writable once and relies on it from then on.
 */
static bool store(const struct dl_phdr_info *image, void **slot, void *now, void *to, struct patch *p)
{
	uintptr_t bytes = page_bytes(), page = (uintptr_t)slot & ~(bytes - 1);
	bool relro = is_relro(image, (uintptr_t)slot);

	if (relro && !p->shared && !is_known_read_only(p, page))
		return false;
	if (relro && mprotect((void *)page, bytes, PROT_READ | PROT_WRITE))
		return false;
	/* Another tool may have put its hook there since we looked: that one stays. */
	p->replaced += __atomic_compare_exchange_n(slot, &now, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	if (relro && !p->shared)
		mprotect((void *)page, bytes, PROT_READ);
	return true;
}

static bool is_among(void *value, const struct got_function *f)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->olds[i] == value)
			return true;
	return false;
}

/* What to do with one slot of F. Other tools' hooks and other definitions stay. */
static void patch_slot(const struct dl_phdr_info *image, const ElfW(Sym) *symbol, void **slot,
		       const struct got_function *f, struct patch *p)
{
	void *now = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	bool lazy = p->lazy && symbol->st_shndx == SHN_UNDEF;

	/* An empty slot is a weak reference that a program asks whether there are threads. */
	if (!now || now == f->new)
		return;
	/* in the image itself: a relocated slot that is not bound yet */
	if (is_among(now, f) || (lazy && dynamic_contains(image, (uintptr_t)now, PF_X)))
		p->skipped |= !store(image, slot, now, f->new, p);
	else if ((uintptr_t)now < image->dlpi_addr)
		p->skipped = true; /* a link-time offset: not relocated yet */
}

static const struct got_function *function_of(const struct patch *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->count; i++)
		if (p->functions[i].symbol[0] == name[0] && strcmp(p->functions[i].symbol, name) == 0)
			return &p->functions[i];
	return NULL;
}

static void patch_table(const struct dl_phdr_info *image, const struct dynamic *d,
			const struct relocations *table, struct patch *p)
{
	const char *at = table->first, *end = table->first + table->size;

	for (; at && table->stride && at < end; at += table->stride) {
		const ElfW(Rel) *r = (const void *)at;
		const ElfW(Sym) *symbol = &d->symbols[SYMBOL_OF(r->r_info)];
		const struct got_function *f;

		if (TYPE_OF(r->r_info) != CPU_JUMP_SLOT && TYPE_OF(r->r_info) != CPU_GLOB_DAT)
			continue;
		f = function_of(p, d->strings + symbol->st_name);
		if (f)
			patch_slot(image, symbol, (void **)(image->dlpi_addr + r->r_offset), f, p);
	}
}

/* Our own calls stay, and those of every copy of us: hooks that call each other never come back. */
static bool is_ours(const struct dl_phdr_info *image, const struct dynamic *d)
{
	uintptr_t own = (uintptr_t)got_patch;
	int i;

	if (d->soname && strcmp(d->soname, OWN_SONAME) == 0)
		return true;
	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_LOAD && own >= start && own < start + h->p_memsz)
			return true;
	}
	return false;
}

static int patch_image(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct patch *p = arg;
	struct dynamic d;

	(void)size;
	if (!dynamic_read(image, &d) || is_ours(image, &d))
		return 0;
	p->known.page = 0;
	patch_table(image, &d, &d.plt, p);
	patch_table(image, &d, &d.data, p);
	return 0;
}

/* async-profiler and what is made of it. */
static int is_other_profiler(struct dl_phdr_info *image, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return strstr(image->dlpi_name, "asyncProfiler") || strstr(image->dlpi_name, "javaProfiler");
}

static bool patch_all(struct patch *p)
{
	p->shared = dl_iterate_phdr(is_other_profiler, NULL) != 0;
	dl_iterate_phdr(patch_image, p);
	return !p->skipped;
}

bool got_patch_functions(const struct got_function *functions, size_t count, bool lazy)
{
	struct patch p = {.functions = functions, .count = count, .lazy = lazy};

	return patch_all(&p);
}

size_t got_replace(const struct got_function *function)
{
	struct patch p = {.functions = function, .count = 1, .lazy = true};

	patch_all(&p);
	return p.replaced;
}

bool got_patch(const char *symbol, void *const *olds, size_t count, void *new)
{
	return got_patch_functions(&(struct got_function){symbol, olds, count, new}, 1, true);
}

bool got_restore(const char *symbol, void *new, void *old)
{
	return got_patch_functions(&(struct got_function){symbol, &new, 1, old}, 1, false);
}

struct definers {
	const char *symbol;
	unsigned count;
};

static int count_definer(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct definers *found = arg;
	struct dynamic d;

	(void)size;
	found->count += dynamic_read(image, &d) && dynamic_symbol(image, &d, found->symbol);
	return 0;
}

unsigned got_definers(const char *symbol)
{
	struct definers found = {symbol, 0};

	dl_iterate_phdr(count_definer, &found);
	return found.count;
}

static int note_changes(struct dl_phdr_info *image, size_t size, void *arg)
{
	*(uint64_t *)arg = image->dlpi_adds + image->dlpi_subs;
	return 1;
}

uint64_t got_image_changes(void)
{
	uint64_t changes = 0;

	dl_iterate_phdr(note_changes, &changes);
	return changes;
}
