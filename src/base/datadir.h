/* datadir.h - where the files that came with the program are. */
#ifndef COALIGN_BASE_DATADIR_H
#define COALIGN_BASE_DATADIR_H

enum { DATADIR_MAX = 512 };

/* PREFIX/share/coalign, where the running program is PREFIX/bin/coalign and that folder exists (so a program that was
 * moved, or staged with DESTDIR, finds its own); else the folder that the build named. Returns path. */
char *datadir(char path[DATADIR_MAX]);

#endif
