/* SPDX-License-Identifier: GPL-2.0-only */
/* inotify(7) in an event loop, for files given by a descriptor. */
#ifndef INOTIFY_H
#define INOTIFY_H

#include <stdint.h>
#include <sys/inotify.h>
#include <systemd/sd-event.h>

#include <libdart/error.h>

#define INOTIFY_PATH_MAX 32

int inotify__open(int *fd, sd_event_source **events, sd_event *loop, sd_event_io_handler_t handler,
		  void *userdata, struct dart_error *error);

/* Writes a path that leads to the file that @fd refers to. */
void inotify__path(char path[static INOTIFY_PATH_MAX], int fd);

/* Watches the file that @watched refers to; returns a watch descriptor or -errno. */
int inotify__add(int fd, int watched, uint32_t mask);

/* How to go on after inotify__add() has returned -@code: " (...)" or "". */
const char *inotify__remedy(int code);

/*
 * Calls @take for the first pending events, at most 256; wd is -1 if events were lost.
 * While more are pending the loop calls the handler again, after others had their turns.
 */
void inotify__read(int fd, void (*take)(const struct inotify_event *event, void *userdata),
		   void *userdata);

#endif /* INOTIFY_H */
