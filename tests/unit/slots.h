/*
 * slots.h - what stands in all images' slots of a function, to be compared with what stood there.
 */
#ifndef SLOTS_H
#define SLOTS_H

/* Lines "image +offset: value", the caller's to free. Slots that are bound lazily and were not yet are left out. */
char *slots_of(const char *function);

#endif
