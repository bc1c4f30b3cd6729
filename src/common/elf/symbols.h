/*
 * symbols.h - the symbol index of one image (inner header of the elf room).
 */
#ifndef JSTROBE_ELF_SYMBOLS_H
#define JSTROBE_ELF_SYMBOLS_H

#include "common/elf/object.h"

struct symbols;

/* Free; NULL is fine. */
void symbols_free(struct symbols *symbols);
/* Memory held; 0 for NULL. */
size_t symbols_bytes(const struct symbols *symbols);

#endif
