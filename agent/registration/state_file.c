// SPDX-License-Identifier: GPL-2.0-only
/* Reads and replaces the state file. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <libdart/files.h>
#include <libdart/json.h>

#include "state_file.h"

#define FORMAT "dartd registrations"
#define NEW_NAME STATE_FILE_NAME ".new"
#define REFUSED_NAME STATE_FILE_NAME ".refused"
#define CHECKSUM_SIZE 17
#define BOOT_ID_SIZE 37
/* Of texts that need no escapes. */
#define FILE_FORMAT                                                        \
	"{\"format\":\"%s\",\"version\":%d,\"boot_id\":\"%s\","          \
	"\"checksum\":\"%s\",\"registrations\":%s}"

int state_file__open(struct state_file *file, const char *directory, struct dart_error *error)
{
	int code;

	*file = (struct state_file){ .path = directory, .directory = -1 };
	if (mkdir(directory, 0700) && errno != EEXIST)
		return dart_error__system(error, errno, "cannot create %s", directory);
	file->directory = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (file->directory < 0)
		return dart_error__system(error, errno, "cannot open %s", directory);
	if (!flock(file->directory, LOCK_EX | LOCK_NB))
		return 0;
	code = errno;
	state_file__close(file);
	if (code == EWOULDBLOCK)
		return dart_error__set(
			error, EBUSY,
			"another dartd keeps its state in %s (choose another directory with --state)",
			directory);
	return dart_error__system(error, code, "cannot lock %s", directory);
}

void state_file__close(struct state_file *file)
{
	if (file->directory >= 0)
		close(file->directory);
	file->directory = -1;
}

/* Without /proc all boots are the same. */
static void read_boot_id(char id[BOOT_ID_SIZE])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (!file || !fgets(id, BOOT_ID_SIZE, file))
		*id = '\0';
	if (file)
		fclose(file);
}

/* Reads the registrations of the file; the caller's.  NULL: out of memory. */
static char *print(const json_t *registrations)
{
	return dart_json__print(registrations, JSON_COMPACT | JSON_SORT_KEYS);
}

static void compute_checksum(const char *bytes, char text[CHECKSUM_SIZE])
{
	snprintf(text, CHECKSUM_SIZE, "%016llx",
		 (unsigned long long)XXH64(bytes, strlen(bytes), 0));
}

/* Sets the registrations, borrowed, or returns -errno with the reason. */
static int check(struct state_file *file, json_t *root, json_t **registrations,
		 struct dart_error *error)
{
	const char *format, *boot_id, *checksum;
	char *bytes, computed[CHECKSUM_SIZE], boot[BOOT_ID_SIZE];
	int version;

	if (json_unpack(root, "{s:s, s:i}", "format", &format, "version", &version) ||
	    strcmp(format, FORMAT))
		return dart_error__set(error, EINVAL, "it is not a state file of dartd");
	if (version != STATE_FILE_VERSION)
		return dart_error__set(error, EPROTO,
				       "it has version %d, but this dartd knows version %d",
				       version, STATE_FILE_VERSION);
	if (json_unpack(root, "{s:s, s:i, s:s, s:s, s:o !}", "format", &format, "version", &version,
			"boot_id", &boot_id, "checksum", &checksum, "registrations",
			registrations) ||
	    !json_is_array(*registrations))
		return dart_error__set(error, EINVAL, "it is damaged");
	bytes = print(*registrations);
	if (!bytes)
		return dart_error__no_memory(error);
	compute_checksum(bytes, computed);
	free(bytes);
	if (strcmp(checksum, computed))
		return dart_error__set(error, EINVAL, "it is damaged: its checksum is wrong");
	read_boot_id(boot);
	file->is_same_boot = !strcmp(boot, boot_id);
	return 0;
}

static int read_file(const struct state_file *file, json_t **root, struct dart_error *error)
{
	json_error_t json_error = {};
	struct stat status;
	FILE *stream;
	int fd, ret;

	fd = openat(file->directory, STATE_FILE_NAME,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return dart_error__system(error, errno, "cannot open it");
	stream = fdopen(fd, "r");
	if (!stream) {
		close(fd);
		return dart_error__no_memory(error);
	}
	*root = NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size <= STATE_FILE_MAX)
		*root = json_loadf(stream, JSON_REJECT_DUPLICATES, &json_error);
	if (*root)
		ret = 0;
	else if (ferror(stream))
		ret = dart_error__system(error, EIO, "cannot read it");
	else if (json_error_code(&json_error) == json_error_out_of_memory)
		ret = dart_error__no_memory(error);
	else
		ret = dart_error__set(error, EINVAL, "it is damaged: not a file of JSON");
	fclose(stream);
	return ret;
}

/* Puts a damaged file aside; @reason says why. */
static void put_aside(const struct state_file *file, const struct dart_error *reason, int code,
		      struct dart_error *error)
{
	if (renameat(file->directory, STATE_FILE_NAME, file->directory, REFUSED_NAME))
		dart_error__set(error, code, "%s/%s is not used: %s", file->path, STATE_FILE_NAME,
				reason->text);
	else
		dart_error__set(
			error, code,
			"%s/%s is not used: %s (it is now %s; register again what is not in the configuration)",
			file->path, STATE_FILE_NAME, reason->text, REFUSED_NAME);
}

/* The contents are wrong, or the path leads to another kind of file. */
static bool is_damaged(int ret)
{
	return ret == -EINVAL || ret == -EPROTO || ret == -ELOOP;
}

static bool lacks_something(int ret)
{
	return ret == -ENOMEM || ret == -EMFILE || ret == -ENFILE;
}

json_t *state_file__load(struct state_file *file, struct dart_error *error)
{
	json_t *root = NULL, *registrations = NULL;
	struct dart_error reason;
	int ret;

	*error->text = '\0';
	if (file->directory < 0) {
		file->is_new = true;
		return json_array();
	}
	ret = read_file(file, &root, &reason);
	if (ret == -ENOENT) {
		file->is_new = true;
		return json_array();
	}
	ret = ret ?: check(file, root, &registrations, &reason);
	if (!ret) {
		json_incref(registrations);
		json_decref(root);
		return registrations;
	}
	json_decref(root);
	if (lacks_something(ret)) {
		dart_error__set(error, -ret, "%s/%s: %s", file->path, STATE_FILE_NAME, reason.text);
		return NULL;
	}
	if (is_damaged(ret)) {
		put_aside(file, &reason, -ret, error);
	} else {
		dart_error__set(
			error, -ret,
			"%s/%s is not used: %s (what is registered is not kept until dartd can read it and is restarted)",
			file->path, STATE_FILE_NAME, reason.text);
		state_file__close(file);
	}
	return json_array();
}

static int replace(const struct state_file *file, const char *bytes)
{
	int fd, ret;

	fd = openat(file->directory, NEW_NAME,
		    O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	ret = dart_files__write(fd, bytes, strlen(bytes));
	if (!ret && fsync(fd))
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	if (!ret && renameat(file->directory, NEW_NAME, file->directory, STATE_FILE_NAME))
		ret = -errno;
	if (ret)
		unlinkat(file->directory, NEW_NAME, 0);
	else if (fsync(file->directory))
		ret = -errno;
	return ret;
}

int state_file__save(const struct state_file *file, json_t *registrations, struct dart_error *error)
{
	char checksum[CHECKSUM_SIZE], boot_id[BOOT_ID_SIZE], *list, *bytes;
	int ret;

	if (file->directory < 0) {
		json_decref(registrations);
		return dart_error__set(error, ENOENT, "there is no directory for the state");
	}
	list = registrations ? print(registrations) : NULL;
	json_decref(registrations);
	if (!list)
		return dart_error__no_memory(error);
	compute_checksum(list, checksum);
	read_boot_id(boot_id);
	ret = asprintf(&bytes, FILE_FORMAT, FORMAT, STATE_FILE_VERSION, boot_id, checksum, list);
	free(list);
	if (ret < 0)
		return dart_error__no_memory(error);
	ret = ret > STATE_FILE_MAX ? -EFBIG : replace(file, bytes);
	free(bytes);
	if (ret == -EFBIG)
		return dart_error__set(error, EFBIG,
				       "%s/%s would have more than %d MiB (unregister something)",
				       file->path, STATE_FILE_NAME, STATE_FILE_MAX >> 20);
	if (ret)
		return dart_error__system(error, -ret, "cannot write %s/%s",
					  file->path, STATE_FILE_NAME);
	return 0;
}
