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
void method_epoch_look(struct method_epochs *e);
/* Whether what was read until now, of a sample of ERA, is of ERA. */
bool method_epoch_is_current(const struct method_epochs *e, uint64_t epoch);
/* Whether what was proved in ERA is so for all of its samples, also those that were taken since. */
bool method_epoch_is_one(const struct method_epochs *e, uint64_t epoch);

#endif
