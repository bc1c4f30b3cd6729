/*
 * read_limits.h - what a file may ask for whatever its size, by who reads it; each limit stands where it is kept.
 *
 * Fuzzers are built with CONVERT_LIMITS_SMALLER: their inputs are of kilobytes, and have to get there, too.
 */
#ifndef JSTROBE_READERS_READ_LIMITS_H
#define JSTROBE_READERS_READ_LIMITS_H

#ifdef CONVERT_LIMITS_SMALLER
#define LIMIT_BYTES(n) ((n) >> 14)
#define LIMIT_COUNT(n) 6
#else
#define LIMIT_BYTES(n) (n)
#define LIMIT_COUNT(n) (n)
#endif

#endif
