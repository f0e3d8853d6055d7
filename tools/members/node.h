/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The names and the data of nodes in ZooKeeper, which are hostile until they are checked (see
 * session.h), the list that is written for the controller, and the file with the credentials.
 */
#ifndef MEMBERS_NODE_H
#define MEMBERS_NODE_H

#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#include "tools/controller/settings/shard.h"

#define NODE_BOOT_ID_MAX 40
#define NODE_DATA_MAX 128
#define NODE_AUTH_MAX 512
/* Of the name of a node that says what a member does not reach, with a NUL. */
#define NODE_UNREACHED_MAX (16 + PORTION_SET_TEXT)

struct node {
	char boot_id[NODE_BOOT_ID_MAX]; /* "": not told */
	uint64_t version;
};

/* The number that is the whole name, without leading zeros; 0: it is no member's. */
unsigned int node__member(const char *name);
/*
 * The number of the member that does not reach the portions in @name, N.unreached.DIGITS; 0: it is
 * no such name, and @portions are as before.
 */
unsigned int node__unreached(const char *name, struct portion_set *portions);
void node__print_unreached(unsigned int member, const struct portion_set *portions,
			   char name[static NODE_UNREACHED_MAX]);
/* Returns 0, or -EINVAL with @node as before. */
int node__parse(const char *data, size_t length, struct node *node);
void node__print(const char *boot_id, uint64_t version, char data[static NODE_DATA_MAX]);
/* "" if the host does not tell it. */
void node__read_boot_id(char boot_id[static NODE_BOOT_ID_MAX]);

/* Reads a file that consists of a line USER:PASSWORD.  Returns 0, or -errno with a sentence. */
int node__read_auth(const char *path, char text[static NODE_AUTH_MAX], struct dart_error *error);

/*
 * Replaces the file @path by the list, as tools/controller/discovery/members_file.h describes it,
 * in one step.  Returns 0, or -errno with a sentence in @error.
 */
int node__write_list(const char *path, const struct member_list *list, const char *boot_id,
		     struct dart_error *error);

#endif /* MEMBERS_NODE_H */
