/*
 * got.c - replacing a function in other images' global offset tables.
 *
 * The only file (with trap.c, later) that writes into memory of others. A slot is an
 * 8-byte aligned word: one store replaces it for every thread. Slots in the part that the
 * loader made read-only (RELRO) are made writable for the moment of the store.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/engine.h"

struct patch {
	const char *symbol;
	void *from; /* only slots that hold this; NULL = any but `to` */
	void *to;
};

struct dynamic {
	const ElfW(Sym) *symbols;
	const char *strings;
	const ElfW(Rela) *plt, *rela;
	size_t plt_size, rela_size;
};

/* glibc stores addresses here, musl offsets. */
static uintptr_t absolute(const struct dl_phdr_info *image, uintptr_t value)
{
	return value < image->dlpi_addr ? value + image->dlpi_addr : value;
}

static void read_dynamic(const struct dl_phdr_info *image, const ElfW(Dyn) *d, struct dynamic *out)
{
	memset(out, 0, sizeof(*out));
	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t at = absolute(image, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB: out->symbols = (const void *)at; break;
		case DT_STRTAB: out->strings = (const void *)at; break;
		case DT_JMPREL: out->plt = (const void *)at; break;
		case DT_PLTRELSZ: out->plt_size = d->d_un.d_val; break;
		case DT_RELA: out->rela = (const void *)at; break;
		case DT_RELASZ: out->rela_size = d->d_un.d_val; break;
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

static void store(const struct dl_phdr_info *image, void **slot, void *value)
{
	uintptr_t page = (uintptr_t)slot & ~((uintptr_t)getpagesize() - 1);
	bool relro = is_relro(image, (uintptr_t)slot);

	if (relro && mprotect((void *)page, (size_t)getpagesize(), PROT_READ | PROT_WRITE))
		return;
	__atomic_store_n(slot, value, __ATOMIC_RELEASE);
	if (relro)
		mprotect((void *)page, (size_t)getpagesize(), PROT_READ);
}

static void patch_table(const struct dl_phdr_info *image, const struct dynamic *d,
			const ElfW(Rela) *r, size_t bytes, const struct patch *p)
{
	const ElfW(Rela) *end = (const void *)((const char *)r + bytes);

	for (; r < end; r++) {
		unsigned type = ELF64_R_TYPE(r->r_info);
		void **slot = (void **)(image->dlpi_addr + r->r_offset);

		if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
			continue;
		if (strcmp(d->strings + d->symbols[ELF64_R_SYM(r->r_info)].st_name, p->symbol) != 0)
			continue;
		/* An empty slot is a weak reference that a program asks whether there are threads. */
		if (*slot && *slot != p->to && (!p->from || *slot == p->from))
			store(image, slot, p->to);
	}
}

static int patch_image(struct dl_phdr_info *image, size_t size, void *arg)
{
	const struct patch *p = arg;
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
	if (d.plt)
		patch_table(image, &d, d.plt, d.plt_size, p);
	if (d.rela)
		patch_table(image, &d, d.rela, d.rela_size, p);
	return 0;
}

void got_patch(const char *symbol, void *new)
{
	struct patch p = {symbol, NULL, new};

	dl_iterate_phdr(patch_image, &p);
}

void got_restore(const char *symbol, void *new, void *old)
{
	struct patch p = {symbol, new, old};

	dl_iterate_phdr(patch_image, &p);
}
