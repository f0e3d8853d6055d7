/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of entries: see <dart/registration.h>. */
#ifndef ENTRY_NAME_H
#define ENTRY_NAME_H

#include <dart/control.h>
#include <dart/registration.h>
#include <libdart/error.h>

/* Returns -EINVAL if a client cannot choose this name for an entry. */
int entry_name__check(const char *name, struct dart_error *error);

/*
 * Writes SOURCE, or SOURCE@LABEL if there is a label, to @name.  Bytes that a
 * name cannot contain become %XX.
 */
int entry_name__of(char name[static DART_CONTROL_ENTRY_NAME_MAX], const char *source,
		   const char *label, struct dart_error *error);

#endif /* ENTRY_NAME_H */
