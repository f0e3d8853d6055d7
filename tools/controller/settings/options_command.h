/* SPDX-License-Identifier: GPL-2.0-only */
/* The commands of dart-controller, and which options each of them takes. */
#ifndef CONTROLLER_OPTIONS_COMMAND_H
#define CONTROLLER_OPTIONS_COMMAND_H

#include "options.h"

/*
 * Takes the command at argv[optind], if that is one, and the words that are not agents behind
 * it, past which it moves optind.  Returns 0; -EINVAL with a sentence in @error; or -ENOMEM.
 */
int options_command__take(struct options *options, int argc, char *argv[],
			  struct dart_error *error);
/*
 * When all words are taken: does the command have all that it needs, and nothing else?
 * Returns 0, or -EINVAL with a sentence in @error.
 */
int options_command__check(const struct options *options,
			   struct dart_error *error);

#endif /* CONTROLLER_OPTIONS_COMMAND_H */
