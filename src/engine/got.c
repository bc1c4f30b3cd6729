/*
 * got.c - replacing a function in other images' global offset tables.
 *
 * The only file (with trap.c, later) that writes into memory of others. A slot is an
 * aligned word: one store replaces it for every thread. Slots in the part that the
 * loader made read-only (RELRO) are made writable for the moment of the store.
 */
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "engine/engine.h"

#if UINTPTR_MAX > UINT32_MAX
#define TYPE_OF(info) ELF64_R_TYPE(info)
#define SYMBOL_OF(info) ELF64_R_SYM(info)
#else
#define TYPE_OF(info) ELF32_R_TYPE(info)
#define SYMBOL_OF(info) ELF32_R_SYM(info)
#endif

struct patch {
	const char *symbol;
	void *from;   /* slots that hold this are replaced … */
	void *to;
	bool lazy;    /* … and those still bound lazily, to the image's own PLT */
	bool skipped; /* an image was met that the loader has not finished */
};

/* Relocations, with addends or without: both begin with place and kind. */
struct relocations {
	const char *first;
	size_t size, stride;
};

struct dynamic {
	const ElfW(Sym) *symbols;
	const char *strings;
	struct relocations plt, data;
};

/* glibc stores addresses here, musl offsets. */
static uintptr_t absolute(const struct dl_phdr_info *image, uintptr_t value)
{
	return value < image->dlpi_addr ? value + image->dlpi_addr : value;
}

static size_t stride_of(uintptr_t kind)
{
	return kind == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
}

static void read_dynamic(const struct dl_phdr_info *image, const ElfW(Dyn) *d, struct dynamic *out)
{
	memset(out, 0, sizeof(*out));
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t at = absolute(image, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB: out->symbols = (const void *)at; break;
		case DT_STRTAB: out->strings = (const void *)at; break;
		case DT_JMPREL: out->plt.first = (const void *)at; break;
		case DT_PLTRELSZ: out->plt.size = d->d_un.d_val; break;
		case DT_PLTREL: out->plt.stride = stride_of(d->d_un.d_val); break;
		case DT_RELA:
		case DT_REL:
			out->data.first = (const void *)at;
			out->data.stride = stride_of((uintptr_t)d->d_tag);
			break;
		case DT_RELASZ:
		case DT_RELSZ: out->data.size = d->d_un.d_val; break;
		}
	}
}

/* Whether SLOT lies in the image's RELRO range; the loader protects whole pages only. */
static bool is_relro(const struct dl_phdr_info *image, uintptr_t slot)
{
	uintptr_t page = (uintptr_t)getpagesize();
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
	FILE *maps = fopen("/proc/self/maps", "re");
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

/*
 * The loader shows an image before it has relocated it (glibc: dlpi_adds grows first). RELRO
 * pages become read-only when that is done and never writable again: a page that is still
 * writable belongs to the loader, and is left alone until the next try.
 */
static bool store(const struct dl_phdr_info *image, void **slot, void *now, void *value)
{
	uintptr_t page = (uintptr_t)slot & ~((uintptr_t)getpagesize() - 1);
	bool relro = is_relro(image, (uintptr_t)slot);

	if (relro && (!is_read_only(page) ||
		      mprotect((void *)page, (size_t)getpagesize(), PROT_READ | PROT_WRITE)))
		return false;
	/* Another tool may have put its hook there since we looked: that one stays. */
	__atomic_compare_exchange_n(slot, &now, value, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	if (relro)
		mprotect((void *)page, (size_t)getpagesize(), PROT_READ);
	return true;
}

/* Whether VALUE lies in the image itself: a relocated slot that is not bound yet. */
static bool is_own_plt(const struct dl_phdr_info *image, uintptr_t value)
{
	int i;

	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && value >= start &&
		    value < start + p->p_memsz)
			return true;
	}
	return false;
}

/* What to do with one slot of the symbol. Other tools' hooks and other definitions stay. */
static void patch_slot(const struct dl_phdr_info *image, void **slot, struct patch *p)
{
	void *now = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

	/* An empty slot is a weak reference that a program asks whether there are threads. */
	if (!now || now == p->to)
		return;
	if (now == p->from || (p->lazy && is_own_plt(image, (uintptr_t)now)))
		p->skipped |= !store(image, slot, now, p->to);
	else if ((uintptr_t)now < image->dlpi_addr)
		p->skipped = true; /* a link-time offset: not relocated yet */
}

static void patch_table(const struct dl_phdr_info *image, const struct dynamic *d,
			const struct relocations *table, struct patch *p)
{
	const char *at = table->first, *end = table->first + table->size;

	for (; at && table->stride && at < end; at += table->stride) {
		const ElfW(Rel) *r = (const void *)at;
		void **slot = (void **)(image->dlpi_addr + r->r_offset);

		if (TYPE_OF(r->r_info) != CPU_JUMP_SLOT && TYPE_OF(r->r_info) != CPU_GLOB_DAT)
			continue;
		if (strcmp(d->strings + d->symbols[SYMBOL_OF(r->r_info)].st_name, p->symbol) == 0)
			patch_slot(image, slot, p);
	}
}

static int patch_image(struct dl_phdr_info *image, size_t size, void *arg)
{
	struct patch *p = arg;
	const ElfW(Dyn) *dynamic = NULL;
	uintptr_t own = (uintptr_t)got_patch;
	struct dynamic d;
	int i;

	(void)size;
	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + h->p_vaddr;

		if (h->p_type == PT_DYNAMIC)
			dynamic = (const void *)start;
		if (h->p_type == PT_LOAD && own >= start && own < start + h->p_memsz)
			return 0; /* our own calls stay */
	}
	if (!dynamic || strstr(image->dlpi_name, "linux-vdso") || strstr(image->dlpi_name, "linux-gate"))
		return 0;
	read_dynamic(image, dynamic, &d);
	if (!d.symbols || !d.strings)
		return 0;
	patch_table(image, &d, &d.plt, p);
	patch_table(image, &d, &d.data, p);
	return 0;
}

bool got_patch(const char *symbol, void *old, void *new)
{
	struct patch p = {.symbol = symbol, .from = old, .to = new, .lazy = true};

	dl_iterate_phdr(patch_image, &p);
	return !p.skipped;
}

void got_restore(const char *symbol, void *new, void *old)
{
	struct patch p = {.symbol = symbol, .from = new, .to = old};

	dl_iterate_phdr(patch_image, &p);
}
