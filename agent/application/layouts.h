/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The layouts that dartd knows, by the build-id of the program: files of the administrator in
 * /etc/dart/layouts/, and the ones that are installed with dartd.  They are read when a program with
 * this build-id is seen, and again after they were changed.
 */
#ifndef APPLICATION_LAYOUTS_H
#define APPLICATION_LAYOUTS_H

#include <sys/queue.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

#define LAYOUTS_OF_ADMIN "/etc/dart/layouts"

struct layouts {
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

void layouts__put(struct layouts *layouts, const struct dart_application_layout *layout);

/* Is @name the name of the application?  Its entries are called NAME, and NAME:PART. */
bool layout__is_of(const struct dart_application_layout *layout, const char *name);

#endif /* APPLICATION_LAYOUTS_H */
