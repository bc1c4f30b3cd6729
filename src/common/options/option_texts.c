/*
 * What is told of each option, beside the table of options.c: only the command tells it.
 */
#include "common/options/option_table.h"

#include "common/base/knob.h"

#define OPTION(kind, place, agent, name, letter, arg, initial, min, max, group, when, help) {initial, help},

const struct option_text option_texts[] = {
#include "common/options/options.def"
};
