/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows the network namespaces of the host, with the names of ip-netns(8). */
#ifndef NAMESPACES_H
#define NAMESPACES_H

#include "follower.h"

/*
 * Registers @source for all namespaces, present and future; gathered as @choice
 * says.
 */
int namespaces__follow(struct followers *followers, const struct source *source,
		       const struct selector_choice *choice,
		       struct follower **follower, struct dart_error *error);

/* To call when the region reports that namespaces were created or ended. */
void namespaces__changed(struct followers *followers);

#endif /* NAMESPACES_H */
