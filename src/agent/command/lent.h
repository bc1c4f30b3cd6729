/*
 * lent.h - options that are the caller's for the length of one command only.
 *
 * A session copies what it keeps. So that a pointer kept by mistake is found by the first test and not by a thread that
 * begins an hour later, the options of every command lie on pages of their own, which are gone when it has been carried
 * out: also in what is released, as it costs two system calls a command. Any thread in normal code.
 */
#ifndef JSTROBE_COMMAND_LENT_H
#define JSTROBE_COMMAND_LENT_H

#include "common/base/error.h"
#include "common/options/options.h"

/* Options as options_init leaves them, the caller's until lent_back. NULL: out of memory, and ERR says so. */
struct options *lent_options(struct error *err);
/* They are given back: what lies there is overwritten and unmapped. NULL is nothing. */
void lent_back(struct options *o);

#endif
