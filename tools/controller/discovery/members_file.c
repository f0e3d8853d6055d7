// SPDX-License-Identifier: GPL-2.0-only
/* Reads the list of members that another program writes: see members_file.h. */
#include "members_file.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/controller/base/validity.h"

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

static int take_validity(const json_t *value, uint64_t now_ns, uint64_t *valid_ns,
			 struct dart_error *error)
{
	const double seconds = json_number_value(value), now = now_ns / 1e9;

	if (!value)
		return 0;
	if (!json_is_number(value) || !(seconds > 0))
		return dart_error__set(error, EINVAL, "'valid_until' is not a time in seconds");
	if (seconds > now + MEMBERS_FILE_VALID_MAX_S)
		return dart_error__set(error, EINVAL,
				       "'valid_until' is more than %u s away: it counts from the start of this host, as the first number of /proc/uptime",
				       MEMBERS_FILE_VALID_MAX_S);
	/* Not 0, which is without an end. */
	*valid_ns = (uint64_t)(seconds * 1e9) ?: 1;
	return 0;
}

static int take_boot(const json_t *value, const char *boot_id, struct dart_error *error)
{
	if (!value)
		return 0;
	if (!json_is_string(value))
		return dart_error__set(error, EINVAL, "'boot_id' is not a text");
	if (*boot_id && strcmp(json_string_value(value), boot_id))
		return dart_error__set(error, EINVAL, "was written before this host started");
	return 0;
}

static int take_version(const json_t *value, uint64_t *version, struct dart_error *error)
{
	if (value && json_integer_value(value) < 1)
		return dart_error__set(error, EINVAL, "'version' is not a number from 1");
	*version = json_integer_value(value);
	return 0;
}

static int take_agreed(const json_t *value, bool *is_agreed, struct dart_error *error)
{
	if (value && !json_is_boolean(value))
		return dart_error__set(error, EINVAL, "'agreed' is neither true nor false");
	*is_agreed = json_is_true(value);
	return 0;
}

static int take_session(const json_t *value, uint64_t *session_ns, struct dart_error *error)
{
	const double seconds = json_number_value(value);

	if (!value)
		return 0;
	if (!json_is_number(value) || !(seconds > 0) || seconds > MEMBERS_FILE_VALID_MAX_S)
		return dart_error__set(error, EINVAL, "'session' is not a number of seconds up to %u",
				       MEMBERS_FILE_VALID_MAX_S);
	*session_ns = (uint64_t)(seconds * 1e9) ?: 1;
	return 0;
}

/* 0: it is no number of a member that can be told of. */
static unsigned int unreaching_member(const char *text)
{
	char *end;
	const unsigned long number = strtoul(text, &end, 10);

	return *text >= '1' && *text <= '9' && !*end && number <= SHARD_UNREACHED_MEMBERS ? number :
											   0;
}

static int take_unreached(json_t *value, struct portion_set *unreached, struct dart_error *error)
{
	unsigned int member;
	const char *key;
	json_t *text;

	if (!value)
		return 0;
	if (!json_is_object(value))
		return dart_error__set(error, EINVAL, "'unreached' is not an object");
	json_object_foreach(value, key, text) {
		member = unreaching_member(key);
		if (!member)
			return dart_error__set(error, EINVAL,
					       "'unreached' names a member that is not a number from 1 to %u",
					       SHARD_UNREACHED_MEMBERS);
		if (portion_set__parse(json_string_value(text) ?: "", &unreached[member - 1]))
			return dart_error__set(error, EINVAL,
					       "'unreached' of member %u is not a text of %u hexadecimal digits",
					       member, PORTION_SET_TEXT - 1);
	}
	return 0;
}

int members_file__parse(const void *bytes, size_t length, const char *boot_id, uint64_t now_ns,
			struct member_list *list, struct dart_error *error)
{
	struct member_list taken = {};
	json_error_t reason;
	json_t *root;
	int ret;

	if (length > MEMBERS_FILE_BYTES_MAX)
		return dart_error__set(error, EINVAL, "has more than %u bytes",
				       MEMBERS_FILE_BYTES_MAX);
	root = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, &reason);
	if (!root)
		return dart_error__set(error, EINVAL, "line %d: %s", reason.line, reason.text);
	ret = take_members(json_object_get(root, "members"), &taken.present, error) ?:
		      take_boot(json_object_get(root, "boot_id"), boot_id, error)   ?:
		      take_validity(json_object_get(root, "valid_until"), now_ns, &taken.valid_ns,
				    error)					    ?:
		      take_version(json_object_get(root, "version"), &taken.version, error) ?:
		      take_session(json_object_get(root, "session"), &taken.session_ns, error) ?:
		      take_unreached(json_object_get(root, "unreached"), taken.unreached, error) ?:
		      take_agreed(json_object_get(root, "agreed"), &taken.is_agreed, error);
	json_decref(root);
	if (!ret)
		*list = taken;
	return ret;
}

/* Sets @boot_id to "" if it cannot be read. */
static void read_boot_id(char *boot_id, size_t size)
{
	const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	const ssize_t got = fd < 0 ? 0 : read(fd, boot_id, size - 1);

	if (fd >= 0)
		close(fd);
	boot_id[got > 0 ? got : 0] = '\0';
	boot_id[strcspn(boot_id, "\n")] = '\0';
}

static int read_descriptor(int fd, struct member_list *list, struct dart_error *error)
{
	char bytes[MEMBERS_FILE_BYTES_MAX + 1], boot_id[64];
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
	read_boot_id(boot_id, sizeof(boot_id));
	return members_file__parse(bytes, length, boot_id, boottime_ns(), list, error);
}

int members_file__read(const char *path, struct member_list *list, struct dart_error *error)
{
	/* Opening a pipe must not block. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int ret;

	if (fd < 0)
		return dart_error__system(error, errno, "cannot be opened");
	ret = read_descriptor(fd, list, error);
	close(fd);
	return ret;
}
