/*
 * reading.h - what the commands share that read files written earlier: convert and diff.
 */
#ifndef JSTROBE_CLI_READING_H
#define JSTROBE_CLI_READING_H

#include "common/options/options.h"
#include "profile/writers/format.h"

/* A file that is cut while it is read ends the command with a sentence. */
void reading_guard(void);
/* How O wants things shown; COLOUR: where it goes takes colours. */
struct format_options reading_shape(const struct options *o, bool colour);
/* Say each line of NOTES. */
/* The result could not be written, by RC; MOST bytes were allowed. Returns RC. */
int reading_write_failed(int rc, uint64_t most, struct error *err);
void reading_notes(const char *notes);
/* -EINVAL, with a sentence of COMMAND, if the result would be written over IN. */
int reading_check_places(const char *command, const char *in, const struct options *o, struct error *err);

#endif
