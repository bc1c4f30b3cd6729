/*
 * method_epochs.h - which eras (agent/zone/method_epoch.h) are still on, as far as the collector can tell.
 *
 * Safepoints are seen afterwards: the collector looks before and after each drain, and begins a new era where one went
 * on. So the last samples of an era may be of the next. All functions are the collector's.
 */
#ifndef JSTROBE_COLLECT_NAMES_METHOD_EPOCHS_H
#define JSTROBE_COLLECT_NAMES_METHOD_EPOCHS_H

#include "agent/zone/method_epoch.h"

/* Look whether safepoints went on: then this is another era. */
void era_look(struct eras *e);
/* Whether what was read until now, of a sample of ERA, is of ERA. */
bool era_is_still(const struct eras *e, uint64_t era);
/* Whether what was proved in ERA is so for all of its samples, also those that were taken since. */
bool era_is_one(const struct eras *e, uint64_t era);

#endif
