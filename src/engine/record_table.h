/*
 * record_table.h - free places in the table of thread records. For records.c, whose lock is held at each call but
 * records_open (engine.h).
 */
#ifndef JSTROBE_ENGINE_RECORD_TABLE_H
#define JSTROBE_ENGINE_RECORD_TABLE_H

#include <stdint.h>

struct thread_record;

/* A FREE record, taken once its state says so; NULL when the table is full or the system refuses memory. */
struct thread_record *record_table_unused(void);
/* Record INDEX is FREE (again). */
void record_table_freed(uint32_t index);
/* No record is in use any more: their memory goes back to the system, the addresses stay readable. */
void record_table_release(void);

#endif
