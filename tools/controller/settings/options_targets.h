/* SPDX-License-Identifier: GPL-2.0-only */
/* Words and options that say which agents are scraped, and which of their entries. */
#ifndef CONTROLLER_OPTIONS_TARGETS_H
#define CONTROLLER_OPTIONS_TARGETS_H

#include <libdart/error.h>

#include "settings.h"

/* All return 0; -EINVAL with a sentence in @error; or -ENOMEM. */
/* @text is HOST, HOST:PORT or [V6]:PORT. */
int options_targets__add(struct settings *settings, const char *text,
			 struct dart_error *error);
/* @names is NAME,NAME... */
int options_targets__add_entries(struct settings *settings, const char *names,
				 struct dart_error *error);
int options_targets__add_source(struct settings *settings,
				enum source_kind kind, const char *place,
				struct dart_error *error);

#endif /* CONTROLLER_OPTIONS_TARGETS_H */
