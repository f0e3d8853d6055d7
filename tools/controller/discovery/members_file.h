/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file in which another program lists the members of a shard, such as one that holds leases
 * for them: a JSON object with "members", a list of at least one number from 1 to
 * SHARD_MEMBERS_MAX, each once.  Other members of the object mean nothing.
 *
 *   {"members": [1, 2, 5]}
 *
 * The program replaces the file by a rename, so that no half of it is read; half of it is refused.
 * The file is hostile until it is checked.
 */
#ifndef CONTROLLER_MEMBERS_FILE_H
#define CONTROLLER_MEMBERS_FILE_H

#include <libdart/error.h>

#include "tools/controller/settings/shard.h"

/* Enough for all members, with white space. */
#define MEMBERS_FILE_BYTES_MAX 65536U

/* Returns 0; -EINVAL with a sentence in @error, with @members as before; or -ENOMEM. */
int members_file__parse(const void *bytes, size_t length, struct member_set *members,
			struct dart_error *error);
/* Reads the file @path.  The sentence does not name it.  Likewise, or -errno. */
int members_file__read(const char *path, struct member_set *members, struct dart_error *error);

#endif /* CONTROLLER_MEMBERS_FILE_H */
