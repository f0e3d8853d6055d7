/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Labels of targets: names of any UTF-8, as in Prometheus 3, and texts, which a configuration or a
 * source gives to targets, and which their output has.  An output that takes only plain names,
 * [a-zA-Z_][a-zA-Z0-9_]*, has another one instead: see metrics/label_names.h.
 */
#ifndef CONTROLLER_LABELS_H
#define CONTROLLER_LABELS_H

#include <jansson.h>
#include <stdbool.h>

#include <libdart/error.h>

#include "tools/controller/base/shared_text.h"

/* Of one target. */
#define LABELS_MAX 64
#define LABELS_NAME_MAX 128 /* bytes */
#define LABELS_VALUE_MAX 1024
/* Of the JSON text. */
#define LABELS_TEXT_MAX 16384

/* Does every output take it as it is? */
bool labels__is_plain_name(const char *name);
/*
 * Adds one to the object @labels, or replaces it.  Returns 0; -EINVAL with a sentence in
 * @error; -ENOMEM.
 */
int labels__add(json_t *labels, const char *name, const char *value,
		struct dart_error *error);

/*
 * The labels of @own and those of @defaults that @own does not have, in alphabetical order,
 * as a JSON text in ASCII.  Either may be NULL; @text is NULL if there are none.  Returns 0;
 * -EINVAL with a sentence in @error; -ENOMEM.
 */
int labels__text(const json_t *own, const json_t *defaults,
		 struct shared_text **text, struct dart_error *error);

#endif /* CONTROLLER_LABELS_H */
