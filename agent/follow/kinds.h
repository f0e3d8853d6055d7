/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows all objects of a source's kind. */
#ifndef KINDS_H
#define KINDS_H

#include "follower.h"

/* Follows the objects that @choice selects; selector__check_follow() has accepted it. */
int followers__follow(struct followers *followers, const struct source *source,
		      const struct selector_choice *choice,
		      struct follower **follower, struct dart_error *error);

#endif /* KINDS_H */
