/*
 * soname.h - by what each build of the agent's library is known, whatever its file is called.
 */
#ifndef JSTROBE_BASE_SONAME_H
#define JSTROBE_BASE_SONAME_H

#define OWN_SONAME "libjstrobe.so"

#endif
