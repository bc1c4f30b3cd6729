#include "elf/symbols.h"

void symbols_free(struct symbols *s){(void)s;} size_t symbols_bytes(const struct symbols *s){(void)s;return 0;}
