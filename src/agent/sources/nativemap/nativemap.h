/*
 * nativemap.h - the fields of the event nativemap. Inner header of the sources room.
 */
#ifndef AGENT_SOURCES_NATIVEMAP_NATIVEMAP_H
#define AGENT_SOURCES_NATIVEMAP_NATIVEMAP_H

#include "common/words/events.h"

/* As its row has them; behind them what only the collector is told: the ticket (map_changes.h). */
enum { NATIVEMAP_ADDRESS, NATIVEMAP_FILE, NATIVEMAP_TICKET = EVENT_FIELDS_MAX - 1 };

#endif
