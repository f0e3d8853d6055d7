/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file in which another program lists the members of a shard, such as one that holds leases
 * for them: a JSON object with "members", a list of at least one number from 1 to
 * SHARD_MEMBERS_MAX, each once, and if its writer likes:
 *
 *   valid_until  a number, in seconds: the list counts until then, and afterwards this controller
 *                scrapes nothing until there is another list.  The clock is CLOCK_BOOTTIME of the
 *                host, which the first number of /proc/uptime shows: it counts while the host
 *                sleeps, and nobody sets it.  So writer and controller run on one host, and in one
 *                time namespace.  At most MEMBERS_FILE_VALID_MAX_S ahead.
 *   boot_id      a text, of /proc/sys/kernel/random/boot_id: valid_until is a time of this boot.  A
 *                list of another boot is refused.
 *   version      a number from 1: the status of this controller shows the version of the list
 *                that it uses.
 *   session      a number, in seconds: others replace a member whose controller is silent for so long.
 *                A controller with such a list says in its status which agents it does not reach.
 *   unreached    an object: for the number of a member, the portions of agents that it does not
 *                reach, as hexadecimal digits (see settings/shard.h).
 *   agreed       true or false: each other member uses this list, or another that names the member
 *                of this host if this one does.  Then this member need not wait if it joins, or may
 *                end if it leaves.
 *
 * Other members of the object mean nothing.
 *
 *   {"members": [1, 2, 5], "valid_until": 86412.25, "agreed": true}
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
/* Far more than any lease; less than a wall clock that was taken for CLOCK_BOOTTIME. */
#define MEMBERS_FILE_VALID_MAX_S 86400U

/*
 * @boot_id is the boot of this host, or "" if it is not known; @now_ns is CLOCK_BOOTTIME.  Returns
 * 0; -EINVAL with a sentence in @error, with @list as before; or -ENOMEM.
 */
int members_file__parse(const void *bytes, size_t length, const char *boot_id, uint64_t now_ns,
			struct member_list *list, struct dart_error *error);
/* Reads the file @path.  The sentence does not name it.  Likewise, or -errno. */
int members_file__read(const char *path, struct member_list *list, struct dart_error *error);

#endif /* CONTROLLER_MEMBERS_FILE_H */
