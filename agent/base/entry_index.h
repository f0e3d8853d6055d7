/* SPDX-License-Identifier: GPL-2.0-only */
/* Names: a set of strings that are part of something that has to be found. */
#ifndef ENTRY_INDEX_H
#define ENTRY_INDEX_H

/* All zeros is an empty one; it is to be empty again in the end. */
struct names {
	void *root;
};

/* @name, which no other is equal to, stays where it is.  -ENOMEM. */
int names__add(struct names *names, const char *name);
void names__remove(struct names *names, const char *name);
/* The string that was added, or NULL. */
const char *names__find(const struct names *names, const char *name);

#endif /* ENTRY_INDEX_H */
