/*
 * knob.h - faults that only tests may ask for: a part that fails as if the machine refused it, a collector that comes
 * late. Nothing of them is in what users get: files that include this one are compiled a second time for tests, with
 * JSTROBE_TESTED (`make knobs`; the unit tests are linked with these).
 *
 * Types must not depend on it, for all other files are compiled once.
 */
#ifndef JSTROBE_BASE_KNOB_H
#define JSTROBE_BASE_KNOB_H

#ifdef JSTROBE_TESTED
#define KNOBS 1
#else
#define KNOBS 0
#endif

/* X where there are knobs, else false; X is compiled in any case. */
#define KNOB(x) (KNOBS && (x))

#endif
