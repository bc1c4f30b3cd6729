#include "agent/hooks/dynamic.h"

#include <string.h>

#include "common/base/base.h"

/* glibc stores addresses here, musl offsets. */
static uintptr_t absolute(const struct dl_phdr_info *image, uintptr_t value)
{
	return value < image->dlpi_addr ? value + image->dlpi_addr : value;
}

static size_t stride_of(uintptr_t kind)
{
	return kind == DT_RELA ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel));
}

static void read_entries(const struct dl_phdr_info *image, const ElfW(Dyn) *d, struct dynamic *out)
{
	size_t soname = 0;

	for (; d->d_tag != DT_NULL; d++) {
		uintptr_t at = absolute(image, d->d_un.d_ptr);

		switch (d->d_tag) {
		case DT_SYMTAB: out->symbols = (const void *)at; break;
		case DT_STRTAB: out->strings = (const void *)at; break;
		case DT_SONAME: soname = d->d_un.d_val; break;
		case DT_HASH: out->hash = (const void *)at; break;
		case DT_GNU_HASH: out->gnu_hash = (const void *)at; break;
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
	if (soname && out->strings)
		out->soname = out->strings + soname;
}

bool dynamic_read(const struct dl_phdr_info *image, struct dynamic *out)
{
	const ElfW(Dyn) *dynamic = NULL;
	int i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < image->dlpi_phnum; i++)
		if (image->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(image->dlpi_addr + image->dlpi_phdr[i].p_vaddr);
	if (!dynamic || strstr(image->dlpi_name, "linux-vdso") || strstr(image->dlpi_name, "linux-gate"))
		return false;
	read_entries(image, dynamic, out);
	return out->symbols && out->strings;
}

/* How many symbols there are: the GNU table says only where each of its chains ends. */
static uint32_t count_symbols(const struct dynamic *d)
{
	const uint32_t *buckets, *chains;
	uint32_t i, last = 0, first;

	if (d->hash)
		return d->hash[1];
	if (!d->gnu_hash)
		return 0;
	first = d->gnu_hash[1];
	buckets = d->gnu_hash + 4 + d->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	chains = buckets + d->gnu_hash[0];
	for (i = 0; i < d->gnu_hash[0]; i++)
		last = MAX(last, buckets[i]);
	while (last >= first && !(chains[last - first] & 1))
		last++;
	return last < first ? first : last + 1;
}

void *dynamic_symbol(const struct dl_phdr_info *image, const struct dynamic *d, const char *name)
{
	uint32_t i, count = count_symbols(d);

	for (i = 1; i < count; i++)
		if (d->symbols[i].st_shndx != SHN_UNDEF && strcmp(d->strings + d->symbols[i].st_name, name) == 0)
			return (void *)(image->dlpi_addr + d->symbols[i].st_value);
	return NULL;
}

bool dynamic_contains(const struct dl_phdr_info *image, uintptr_t address, unsigned flags)
{
	int i;

	for (i = 0; i < image->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &image->dlpi_phdr[i];
		uintptr_t start = image->dlpi_addr + p->p_vaddr;

		if (p->p_type == PT_LOAD && (p->p_flags & flags) == flags && address >= start &&
		    address < start + p->p_memsz)
			return true;
	}
	return false;
}
