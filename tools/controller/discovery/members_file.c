// SPDX-License-Identifier: GPL-2.0-only
/* Reads the list of members that another program writes: see members_file.h. */
#include "members_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int take_member(const json_t *value, struct member_set *members, struct dart_error *error)
{
	const json_int_t number = json_integer_value(value);

	if (!json_is_integer(value) || number < 1 || number > SHARD_MEMBERS_MAX)
		return dart_error__set(error, EINVAL, "a member is not a number from 1 to %u",
				       SHARD_MEMBERS_MAX);
	if (member_set__has(members, number))
		return dart_error__set(error, EINVAL, "member %d is named twice", (int)number);
	member_set__add(members, number);
	return 0;
}

static int take_members(const json_t *list, struct member_set *members, struct dart_error *error)
{
	struct member_set taken = {};
	json_t *value;
	size_t i;

	if (!json_is_array(list))
		return dart_error__set(error, EINVAL,
				       "is not an object with 'members', a list of numbers");
	if (!json_array_size(list))
		return dart_error__set(error, EINVAL, "names no member");
	json_array_foreach(list, i, value)
		if (take_member(value, &taken, error))
			return -EINVAL;
	*members = taken;
	return 0;
}

int members_file__parse(const void *bytes, size_t length, struct member_set *members,
			struct dart_error *error)
{
	json_error_t reason;
	json_t *root;
	int ret;

	if (length > MEMBERS_FILE_BYTES_MAX)
		return dart_error__set(error, EINVAL, "has more than %u bytes",
				       MEMBERS_FILE_BYTES_MAX);
	root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason);
	if (!root)
		return dart_error__set(error, EINVAL, "line %d: %s", reason.line, reason.text);
	ret = take_members(json_object_get(root, "members"), members, error);
	json_decref(root);
	return ret;
}

static int read_descriptor(int fd, struct member_set *members, struct dart_error *error)
{
	char bytes[MEMBERS_FILE_BYTES_MAX + 1];
	struct stat status;
	size_t length = 0;
	ssize_t got;

	if (fstat(fd, &status))
		return dart_error__system(error, errno, "cannot be read");
	if (!S_ISREG(status.st_mode))
		return dart_error__set(error, EINVAL, "is not a file");
	do {
		got = read(fd, bytes + length, sizeof(bytes) - length);
		if (got > 0)
			length += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0)
		return dart_error__system(error, errno, "cannot be read");
	return members_file__parse(bytes, length, members, error);
}

int members_file__read(const char *path, struct member_set *members, struct dart_error *error)
{
	/* Opening a pipe must not block. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int ret;

	if (fd < 0)
		return dart_error__system(error, errno, "cannot be opened");
	ret = read_descriptor(fd, members, error);
	close(fd);
	return ret;
}
