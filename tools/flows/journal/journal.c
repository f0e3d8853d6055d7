// SPDX-License-Identifier: GPL-2.0-only
/* The flows on disk: see journal.h. */
#include "journal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal_internal.h"

/* Records of ended flows that are too few to write the file anew. */
#define ENDED_FEW 65536
/* Bytes kept for a next file: a disk that is slower than records come does not take all memory. */
#define KEPT_MAX (64 << 20)

/* ---- reading */

/* Returns 0, or -EBADMSG if it is not a journal. */
static int read_records(FILE *file,
			void (*tell)(void *subject, const struct journal_record *record),
			void *subject, struct journal_found *found)
{
	uint8_t bytes[JOURNAL_RECORD_LENGTH], header[JOURNAL_HEADER_LENGTH];
	struct journal_halves halves = {};
	struct journal_record record;
	enum journal_unpacked unpacked;
	size_t length;

	journal__pack_header(header);
	length = fread(bytes, 1, JOURNAL_HEADER_LENGTH, file);
	if (length < JOURNAL_HEADER_LENGTH || memcmp(bytes, header, sizeof(header)))
		return ferror(file) ? -EIO : -EBADMSG;
	while ((length = fread(bytes, 1, sizeof(bytes), file))) {
		unpacked = length == sizeof(bytes) ? journal__unpack(bytes, &halves, &record) :
						     UNPACKED_DAMAGED;
		found->damaged += unpacked == UNPACKED_DAMAGED;
		if (unpacked != UNPACKED)
			continue;
		found->records++;
		tell(subject, &record);
	}
	return ferror(file) ? -EIO : 0;
}

static int read_file(const struct journal *journal,
		     void (*tell)(void *subject, const struct journal_record *record),
		     void *subject, struct journal_found *found, struct dart_error *error)
{
	char aside[PATH_MAX + 16];
	FILE *file;
	int ret;

	file = fopen(journal->path, "re");
	if (!file && errno == ENOENT)
		return 0;
	if (!file)
		return dart_error__system(error, errno, "cannot open '%s'", journal->path);
	ret = read_records(file, tell, subject, found);
	fclose(file);
	if (ret == -EIO)
		return dart_error__system(error, EIO, "cannot read '%s'", journal->path);
	if (!ret)
		return 0;
	snprintf(aside, sizeof(aside), "%s.damaged", journal->path);
	if (rename(journal->path, aside))
		return dart_error__system(error, errno, "cannot rename '%s'", journal->path);
	found->is_set_aside = true;
	return 0;
}

/* ---- life */

static int lock(struct journal *journal, struct dart_error *error)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s.lock", journal->path);
	journal->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (journal->lock < 0)
		return dart_error__system(error, errno, "cannot create '%s'", path);
	if (!flock(journal->lock, LOCK_EX | LOCK_NB))
		return 0;
	return dart_error__set(error, EBUSY, "'%s' is in use by another dart-flows", journal->path);
}

int journal__open(const char *path,
		  void (*tell)(void *subject, const struct journal_record *record), void *subject,
		  struct journal **made, struct journal_found *found, struct dart_error *error)
{
	struct journal *journal = calloc(1, sizeof(*journal));
	int ret;

	*found = (struct journal_found){};
	if (!journal)
		return dart_error__no_memory(error);
	journal->lock = journal->now.fd = journal->next.fd = -1;
	journal->task.done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = journal->task.done < 0 ? dart_error__system(error, errno, "cannot make an eventfd") :
				       0;
	if (!ret && strlen(path) >= sizeof(journal->path))
		ret = dart_error__set(error, ENAMETOOLONG, "'%s' is too long", path);
	if (!ret) {
		strcpy(journal->path, path);
		snprintf(journal->next_path, sizeof(journal->next_path), "%s.new", path);
		ret = lock(journal, error) ?: read_file(journal, tell, subject, found, error);
	}
	if (ret)
		journal__close(journal);
	else
		*made = journal;
	return ret;
}

void journal__close(struct journal *journal)
{
	if (!journal)
		return;
	journal__stop_anew(journal);
	journal__close_file(&journal->now);
	journal__close_file(&journal->next);
	if (journal->task.done >= 0)
		close(journal->task.done);
	if (journal->lock >= 0)
		close(journal->lock);
	free(journal);
}

/* ---- appending */

void journal__add(struct journal *journal, const struct journal_record *record)
{
	journal__add_to_file(&journal->now, record);
	if (!journal__has_next(journal))
		return;
	journal__add_to_file(&journal->next, record);
	journal->next.has_lost |= journal->next.length > KEPT_MAX;
}

int journal__write(struct journal *journal, struct dart_error *error)
{
	int ret = journal__write_file(&journal->now);

	if (!ret && journal->stage == STAGE_REPLACING)
		ret = journal__write_file(&journal->next);
	return ret ? dart_error__system(error, -ret, "cannot write '%s'", journal->path) : 0;
}

bool journal__is_long(const struct journal *journal, uint64_t live)
{
	return journal->stage == STAGE_NONE &&
	       (journal->now.has_lost || journal->now.records > 2 * live + ENDED_FEW);
}

uint64_t journal__length(const struct journal *journal)
{
	return journal->now.records;
}
