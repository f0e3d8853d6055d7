/* SPDX-License-Identifier: GPL-2.0-only */
/* Follows the network namespaces of the machine, by the names of ip-netns(8). */
#ifndef NAMESPACES_H
#define NAMESPACES_H

#include "follower.h"

/* Registers @source for all namespaces, now and as they come. */
int namespaces__follow(struct followers *followers, const struct source *source,
		       struct follower **follower, struct dart_error *error);

/* The region reported that namespaces came or ended. */
void namespaces__changed(struct followers *followers);

#endif /* NAMESPACES_H */
