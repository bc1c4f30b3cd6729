/*
 * reading.h - what the commands share that read files written earlier: convert and diff.
 */
#ifndef JSTROBE_CLI_READING_H
#define JSTROBE_CLI_READING_H

#include "common/options/options.h"
#include "profile/writers/format.h"

/*
 * From now on a file that is cut while it is read ends the command with a sentence; a terminal is told how far it is;
 * and the first Ctrl-C ends the reading, so that what was read is the result: the next one ends the command.
 */
void reading_guard(void);
/* Of the file NAME, from now on. */
void reading_begin(const char *name);
/* The reading is over; whether it was ended so. */
bool reading_end(void);
/* Read how O groups threads, for all shapes from now on. 0 or -EINVAL. */
int reading_groups(const struct options *o, struct error *err);
/* How O wants things shown; COLOUR: where it goes takes colours. */
struct format_options reading_shape(const struct options *o, bool colour);
/* Say each line of NOTES. */
/* The result could not be written, by RC; MOST bytes were allowed. Returns RC. */
int reading_write_failed(int rc, uint64_t most, struct error *err);
void reading_notes(const char *notes);
/* -EINVAL, with a sentence of COMMAND, if the result would be written over IN. */
int reading_check_places(const char *command, const char *in, const struct options *o, struct error *err);

#endif
