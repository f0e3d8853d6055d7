// SPDX-License-Identifier: GPL-2.0-only
/* Creates, renames and appends to the files of a recording. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <libdart/clock.h>

#include "chunk.h"
#include "record_file.h"

/* Returns PATH, or PATH.@number; NULL if out of memory. */
static char *path_of(const struct record_file *file, unsigned int number)
{
	char *path;

	if (!number)
		return strdup(file->settings->path);
	if (asprintf(&path, "%s.%u", file->settings->path, number) < 0)
		return NULL;
	return path;
}

/* Renames file @number to the next number; the file may be missing. */
static int move_on(const struct record_file *file, unsigned int number, struct dart_error *error)
{
	char *from = path_of(file, number), *to = path_of(file, number + 1);
	int err = 0;

	if (!from || !to)
		err = dart_error__no_memory(error);
	else if (rename(from, to) && errno != ENOENT)
		err = dart_error__system(error, errno, "cannot rename '%s' to '%s'", from, to);
	free(from);
	free(to);
	return err;
}

static int move_all_on(const struct record_file *file, struct dart_error *error)
{
	unsigned int i;
	int err = 0;

	for (i = file->settings->files - 1; !err && i; i--)
		err = move_on(file, i - 1, error);
	return err;
}

/* Returns 0, or -errno with the length of the file restored. */
static int append(struct record_file *file, const void *bytes, size_t size)
{
	size_t done = 0;
	ssize_t written;
	int err;

	while (done < size) {
		written = write(file->fd, (const char *)bytes + done, size - done);
		if (written >= 0) {
			done += written;
			continue;
		}
		if (errno == EINTR)
			continue;
		err = -errno;
		lseek(file->fd, file->length, SEEK_SET);
		/*
		 * If this fails as well, the next chunk overwrites the rest, or readers find the
		 * file cut.
		 */
		(void)!ftruncate(file->fd, file->length);
		return err;
	}
	file->length += size;
	file->total += size;
	return 0;
}

static int refuse_busy(const char *path, struct dart_error *error)
{
	return dart_error__set(
		error, EBUSY,
		"'%s' is being recorded by another dart-controller: choose another file", path);
}

/* Creates @path, which does not exist, and removes it again if its header cannot be written. */
static int record_file__make(struct record_file *file, const char *path, struct dart_error *error)
{
	struct record_file_header header = {
		.magic = RECORD_FILE_MAGIC,
		.version = htole32(RECORD_VERSION),
		.length = htole32(sizeof(header)),
		.number = htole64(file->number),
		.started_ns = htole64(dart_clock__ns(CLOCK_REALTIME)),
	};
	int err;

	memcpy(header.recording, file->recording, sizeof(header.recording));
	header.checksum = htole64(XXH64(&header, offsetof(struct record_file_header, checksum), 0));
	file->length = 0;
	file->chunks = 0;
	file->has_events = false;
	file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (file->fd < 0)
		return dart_error__system(error, errno, "cannot make '%s'", path);
	/* The lock tells other recorders that this one writes the file. */
	if (flock(file->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK) {
		record_file__close(file);
		return refuse_busy(path, error);
	}
	err = append(file, &header, sizeof(header));
	if (!err)
		return 0;
	unlink(path);
	record_file__close(file);
	return dart_error__system(error, -err, "cannot write '%s'", path);
}

/* The host lost its power before the header of the file was on the disk: it contains nothing. */
static bool is_empty(int fd)
{
	struct stat status;

	return !fstat(fd, &status) && S_ISREG(status.st_mode) && !status.st_size;
}

static int remove_empty(const char *path, int fd, struct dart_error *error)
{
	/* A recorder that has just made it locks it before it writes the header. */
	if (flock(fd, LOCK_EX | LOCK_NB))
		return refuse_busy(path, error);
	if (unlink(path))
		return dart_error__system(error, errno, "cannot remove '%s'", path);
	return 0;
}

/*
 * Renames the file at PATH and all after it, if it is a recording that no recorder writes; removes
 * it if it is empty.
 */
static int check_earlier(const struct record_file *file, int fd, struct dart_error *error)
{
	const char *path = file->settings->path;
	char magic[sizeof(RECORD_FILE_MAGIC) - 1];

	if (is_empty(fd))
		return remove_empty(path, fd, error);
	if (pread(fd, magic, sizeof(magic), 0) != sizeof(magic) ||
	    memcmp(magic, RECORD_FILE_MAGIC, sizeof(magic)))
		return dart_error__set(error, EEXIST,
				       "'%s' exists and is not a recording: choose another file",
				       path);
	if (flock(fd, LOCK_SH | LOCK_NB))
		return refuse_busy(path, error);
	if (file->settings->files == 1)
		return dart_error__set(
			error, EEXIST,
			"'%s' exists: remove it, choose another file, or keep several with --record-files",
			path);
	return move_all_on(file, error);
}

int record_file__open(struct record_file *file, const struct settings_record *settings,
		      struct dart_error *error)
{
	int fd, err;

	*file = (struct record_file){ .settings = settings, .fd = -1 };
	if (getrandom(file->recording, sizeof(file->recording), 0) < 0)
		return dart_error__system(error, errno, "no random numbers");
	fd = open(settings->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 && errno != ENOENT)
		return dart_error__system(error, errno, "cannot open '%s'", settings->path);
	if (fd >= 0) {
		err = check_earlier(file, fd, error);
		close(fd);
		if (err)
			return err;
	}
	return record_file__make(file, settings->path, error);
}

/* Creates the file that follows @file, at @path, and removes a file that a crash left there. */
static int make_next(const struct record_file *file, const char *path, uint64_t room,
		     struct record_file *next, struct dart_error *error)
{
	int err;

	*next = *file;
	next->number++;
	if (unlink(path) && errno != ENOENT)
		return dart_error__system(error, errno, "cannot remove '%s'", path);
	err = record_file__make(next, path, error);
	if (err || !room)
		return err;
	err = -posix_fallocate(next->fd, next->length, room);
	if (!err && ftruncate(next->fd, next->length))
		err = -errno;
	if (!err)
		return 0;
	unlink(path);
	record_file__close(next);
	return dart_error__system(error, -err, "cannot write '%s'", path);
}

/* Removes the oldest file, which the next rotation would replace anyway. */
static void remove_last(const struct record_file *file)
{
	char *path = path_of(file, file->settings->files - 1);

	if (path)
		unlink(path);
	free(path);
}

/* Renames all files to the next number, and @next from @path to PATH. */
static int put_in_place(struct record_file *file, const char *path, struct record_file *next,
			struct dart_error *error)
{
	int err = move_all_on(file, error);

	if (!err && rename(path, file->settings->path))
		err = dart_error__system(error, errno, "cannot rename '%s' to '%s'", path,
					 file->settings->path);
	if (err) {
		unlink(path);
		record_file__close(next);
		return err;
	}
	record_file__close(file);
	*file = *next;
	return 0;
}

int record_file__rotate(struct record_file *file, uint64_t room, struct dart_error *error)
{
	struct record_file next;
	char *path;
	int err;

	if (asprintf(&path, "%s.next", file->settings->path) < 0)
		return dart_error__no_memory(error);
	err = make_next(file, path, room, &next, error);
	if (err && !room) {
		remove_last(file);
		err = make_next(file, path, 0, &next, error);
	}
	if (!err)
		err = put_in_place(file, path, &next, error);
	free(path);
	return err;
}

void record_file__close(struct record_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

bool record_file__has_room(const struct record_file *file, uint64_t size)
{
	return file->length <= file->settings->size && size <= file->settings->size - file->length;
}

int record_file__append(struct record_file *file, uint8_t *chunk, size_t size,
			struct dart_error *error)
{
	int err;

	chunk__number(chunk, file->chunks);
	err = append(file, chunk, size);
	if (err)
		return dart_error__system(error, -err, "cannot write '%s'", file->settings->path);
	file->chunks++;
	return 0;
}
