/*
 * place.h - what is known at a place of a way through code (code_way.h), on CPUs that link.
 */
#ifndef JSTROBE_WALK_PLACE_H
#define JSTROBE_WALK_PLACE_H

#include "common/base/base.h"

#define KNOWN 32 /* general registers */

struct place {
	uintptr_t pc;
	int64_t released;  /* bytes that sp lies above its value at the beginning */
	int64_t link_at;   /* where the link register was loaded from, seen from the first sp; -1: it was not */
	int64_t fp_at;     /* the same of the frame pointer */
	int64_t stored_at; /* where the way stored it; INT64_MIN: nowhere */
	int64_t base;      /* what the frame pointer is, seen from the first sp, if that is known */
	enum fp_value fp;
	bool called;       /* the link register is what a call left */
	bool lost;         /* sp is not known */
};

struct way_registers {
	uint32_t known;         /* bit by register: its value stands in `value` */
	uintptr_t value[KNOWN];
};

#endif
