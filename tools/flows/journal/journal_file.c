// SPDX-License-Identifier: GPL-2.0-only
/* A file that records are appended to: see journal_internal.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal_internal.h"

#define KEPT 65536 /* bytes that are kept at first */

int journal__append(int fd, const uint8_t *bytes, size_t length)
{
	const off_t before = lseek(fd, 0, SEEK_END);
	size_t done = 0;
	ssize_t written;
	int ret;

	if (before < 0)
		return -errno;
	while (done < length) {
		written = write(fd, bytes + done, length - done);
		if (written > 0) {
			done += written;
			continue;
		}
		if (written < 0 && errno == EINTR)
			continue;
		ret = written ? -errno : -ENOSPC;
		/* A torn record would otherwise shift all that follow. */
		return ftruncate(fd, before) ? -errno : ret;
	}
	return 0;
}

int journal__write_file(struct journal_file *file)
{
	int ret;

	if (file->has_lost)
		return -ENOMEM;
	if (!file->length)
		return 0;
	ret = journal__append(file->fd, file->kept, file->length);
	if (ret)
		return ret;
	file->records += file->kept_records;
	file->kept_records = 0;
	file->length = 0;
	return 0;
}

void journal__add_to_file(struct journal_file *file, const struct journal_record *record)
{
	uint8_t *kept;

	if (file->has_lost)
		return;
	if (file->size - file->length < PACKED_MAX) {
		kept = realloc(file->kept, 2 * file->size + KEPT);
		if (!kept) {
			file->has_lost = true;
			return;
		}
		file->kept = kept;
		file->size = 2 * file->size + KEPT;
	}
	file->length += journal__pack(record, file->kept + file->length);
	file->kept_records++;
}

void journal__close_file(struct journal_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->kept);
}

void journal__sync_directory(const char *of)
{
	char path[PATH_MAX];
	char *slash;
	int fd;

	strcpy(path, of);
	slash = strrchr(path, '/');
	if (!slash)
		return;
	slash[slash == path] = '\0';
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}
