/* SPDX-License-Identifier: GPL-2.0-only */
/* Options of recordings, and of what is replayed of them. */
#ifndef CONTROLLER_OPTIONS_RECORD_H
#define CONTROLLER_OPTIONS_RECORD_H

#include "option_code.h"
#include "options.h"

/*
 * Takes @value of --record, --record-size, --record-files, --speed, --format, --from or --to.
 * Returns 0; -EINVAL with a sentence in @error; or -ENOMEM.
 */
int options_record__parse(struct options *options, enum option_code code,
			  const char *value, struct dart_error *error);

#endif /* CONTROLLER_OPTIONS_RECORD_H */
