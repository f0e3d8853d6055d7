/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layouts that dartd knows, by the build-id of the program: files of the administrator in
 * /etc/dart/layouts/, and the ones that are installed with dartd.  They are read when a program with
 * this build-id is seen, and again after they were changed.
 */
#ifndef APPLICATION_LAYOUTS_H
#define APPLICATION_LAYOUTS_H

#include <limits.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <time.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#include "proc_files.h"

#define LAYOUTS_OF_ADMIN "/etc/dart/layouts"
#define STRANGERS 256

struct layouts {
	char installed[PATH_MAX]; /* the directory of the layouts that came with dartd */
	/* The times of both directories, as they were last seen, and when that was. */
	struct timespec changed[2];
	time_t seen;
	TAILQ_HEAD(known_layouts, known_layout) known;
	TAILQ_HEAD(, known_layout) forgotten; /* but in use */
	unsigned int count; /* of the known ones */
};

void layouts__open(struct layouts *layouts);
void layouts__close(struct layouts *layouts);

/*
 * Finds the layout of a build, which the caller puts back.  Returns 0; -ENOENT if no file
 * describes it; or another -errno if its file cannot be used.
 */
int layouts__find(struct layouts *layouts, const struct dart_application_build_id *id,
		  const struct dart_application_layout **layout, struct dart_error *error);

/* Is there no file about a build? */
bool layouts__lack(const struct layouts *layouts, const struct dart_application_build_id *id);
/* Have files come or gone since the last call?  True, too, if some did in the last moments. */
bool layouts__have_changed(struct layouts *layouts);

void layouts__put(struct layouts *layouts, const struct dart_application_layout *layout);

/*
 * Strangers: files of programs that no layout describes.  A shell starts such programs all the
 * time, and each is examined once.  The table forgets a file when another one needs its place.
 */
struct strangers {
	struct executable_file files[STRANGERS]; /* by hash; the inode 0: none */
};

/* A file that had changed a moment before it was seen is not added: it could again, unseen. */
void strangers__add(struct strangers *strangers, const struct executable_file *file);
/* Does the process execute such a file?  Never waits for a file system. */
bool strangers__have(const struct strangers *strangers, pid_t pid);
void strangers__forget(struct strangers *strangers);

/* Is @name the name of the application?  Its entries are called NAME, and NAME:PART. */
bool layout__is_of(const struct dart_application_layout *layout, const char *name);

#endif /* APPLICATION_LAYOUTS_H */
