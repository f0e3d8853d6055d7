// SPDX-License-Identifier: GPL-2.0-only
/* Hands memory of clients to the next dartd, and writes notes about it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/base/log.h"
#include "agent/base/rdma_base.h"
#include "client_memory_kept.h"
#include "client_memory.h"

/* Bytes of the notes about a memory: several times the largest that fit into the table. */
#define NOTES_MAX (32 << 20)
/* So many crossed out bytes do not matter. */
#define WORN_MIN (1 << 20)

struct memory_name {
	uint64_t inode, base, data;
};

static bool parse_memory(const char *name, struct memory_name *parsed)
{
	int end = 0;

	return sscanf(name, CLIENT_KEPT_MEMORY "%" SCNx64 ",%" SCNx64 ",%" SCNx64 "%n",
		      &parsed->inode, &parsed->base, &parsed->data, &end) == 3 &&
	       !name[end] && rdma_base__is_valid(parsed->base);
}

static void print_memory(const struct client_memory *memory, char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, CLIENT_KEPT_MEMORY "%" PRIx64 ",%" PRIx64 ",%" PRIx64,
		 memory->inode, memory->memories->base, memory->data);
}

static void print_notes(uint64_t inode, uint32_t number, char name[static FD_STORE_NAME_MAX])
{
	snprintf(name, FD_STORE_NAME_MAX, CLIENT_KEPT_NOTES "%" PRIx64 ",%x", inode, number);
}

/* The notes about a memory with the highest number so far. */
struct last_notes {
	char name[FD_STORE_NAME_MAX]; /* "": none */
	uint32_t number;
};

static void compare_notes(void *userdata, const char *name)
{
	struct last_notes *last = userdata;
	uint64_t inode;
	uint32_t number;

	if (sscanf(name, CLIENT_KEPT_NOTES "%" SCNx64 ",%x", &inode, &number) != 2)
		number = 0;
	if (*last->name && number <= last->number)
		return;
	strcpy(last->name, name);
	last->number = number;
}

/*
 * Finds notes of the last dartd about the memory @inode: the last ones, because it may have ended
 * before the service manager had forgotten the ones that they replace.
 */
static bool find_notes(const struct fd_store *kept, uint64_t inode,
		       char name[static FD_STORE_NAME_MAX])
{
	struct last_notes last = { .name = "" };
	char prefix[FD_STORE_NAME_MAX];

	snprintf(prefix, sizeof(prefix), CLIENT_KEPT_NOTES "%" PRIx64 ",", inode);
	fd_store__each(kept, prefix, compare_notes, &last);
	strcpy(name, last.name);
	return *name;
}

uint64_t client_kept__base(const struct fd_store *kept)
{
	char name[FD_STORE_NAME_MAX];
	struct memory_name parsed;

	return fd_store__find(kept, CLIENT_KEPT_MEMORY, name) && parse_memory(name, &parsed) ?
		       parsed.base :
		       0;
}

bool client_kept__parse(const char *name, uint64_t *data)
{
	struct memory_name parsed;

	if (!parse_memory(name, &parsed))
		return false;
	*data = parsed.data;
	return true;
}

/* Each user gets a part of the fd store, which also holds the memory of stores and tables. */
static bool has_room(const struct client_memories *memories, uid_t creator)
{
	const struct client_memory *other;
	uint32_t all = 0, of_user = 0;

	TAILQ_FOREACH(other, &memories->list, link) {
		all += other->notes >= 0;
		of_user += other->notes >= 0 && other->creator == creator;
	}
	return all < CLIENT_KEPT_MAX && (!creator || of_user < CLIENT_KEPT_OF_USER);
}

static int new_notes(void)
{
	return memfd_create("dart_notes", MFD_CLOEXEC);
}

/* Gives the notes to the service manager. */
static void send_notes(const struct client_memory *memory)
{
	char name[FD_STORE_NAME_MAX];
	struct dart_error error;

	print_notes(memory->inode, memory->number, name);
	if (memory->notes >= 0 && fd_store__send(name, memory->notes, &error))
		log__warning("the next dartd does not get notes about memory: %s", error.text);
}

static bool send_memory(const struct client_memory *memory)
{
	char name[FD_STORE_NAME_MAX];
	struct dart_error error;

	print_memory(memory, name);
	return !fd_store__send(name, memory->fd, &error);
}

bool client_kept__keeps(struct client_memory *memory)
{
	if (!memory->is_offered) {
		memory->is_offered = true;
		if (!has_room(memory->memories, memory->creator) || !send_memory(memory))
			return false;
		memory->notes = new_notes();
		send_notes(memory);
	}
	return memory->notes >= 0;
}

void client_kept__resume(struct client_memory *memory, const char *name)
{
	struct fd_store *kept = memory->memories->kept;
	char now[FD_STORE_NAME_MAX], notes[FD_STORE_NAME_MAX];
	uint64_t inode;

	memory->is_offered = true;
	print_memory(memory, now);
	if (!strcmp(now, name)) {
		fd_store__release(kept, name);
	} else {
		/* It got another address. */
		fd_store__forget(kept, name);
		if (!send_memory(memory))
			return;
	}
	if (find_notes(kept, memory->inode, notes))
		sscanf(notes, CLIENT_KEPT_NOTES "%" SCNx64 ",%x", &inode, &memory->number);
	memory->number++;
	memory->notes = new_notes();
}

void client_kept__forget(struct client_memory *memory)
{
	char name[FD_STORE_NAME_MAX];

	if (memory->notes < 0)
		return;
	print_memory(memory, name);
	fd_store__forget(memory->memories->kept, name);
	print_notes(memory->inode, memory->number, name);
	fd_store__forget(memory->memories->kept, name);
}

void client_kept__drop(struct client_memories *memories, const char *name)
{
	char notes[FD_STORE_NAME_MAX], memory[FD_STORE_NAME_MAX];
	struct memory_name parsed;

	strcpy(memory, name);
	while (parse_memory(memory, &parsed) && find_notes(memories->kept, parsed.inode, notes))
		fd_store__forget(memories->kept, notes);
	fd_store__forget(memories->kept, memory);
}

struct client_note client_kept__note(struct client_memory *memory, const char *line, size_t length)
{
	struct client_note note = { .offset = memory->noted, .length = length };

	if (memory->notes < 0 || length > NOTES_MAX - memory->noted ||
	    pwrite(memory->notes, line, length, note.offset) != (ssize_t)length)
		return (struct client_note){};
	memory->noted += length;
	return note;
}

char *client_kept__line(const struct client_memory *memory, const struct client_note *note)
{
	char *line = malloc((size_t)note->length + 1);

	if (!line || pread(memory->notes, line, note->length, note->offset) != note->length) {
		free(line);
		return NULL;
	}
	line[note->length] = '\0';
	return line;
}

/* With one write, so that no crash leaves half of a line. */
void client_kept__cross_out(struct client_memory *memory, struct client_note *note)
{
	if (!note->length)
		return;
	/* The next dartd skips lines that begin so. */
	if (pwrite(memory->notes, "#", 1, note->offset) != 1)
		log__error("a removed slice may come back: %s", strerror(errno));
	memory->crossed_out += note->length;
	*note = (struct client_note){};
}

bool client_kept__is_worn(const struct client_memory *memory)
{
	return memory->crossed_out > WORN_MIN && memory->crossed_out > memory->noted / 2;
}

int client_kept__begin_copy(struct client_memory *memory)
{
	const int former = memory->notes, notes = new_notes();

	if (notes < 0)
		return -1;
	memory->notes = notes;
	memory->number++;
	memory->noted = 0;
	memory->crossed_out = 0;
	return former;
}

void client_kept__copy(struct client_memory *memory, int former, struct client_note *note)
{
	char *line = malloc(note->length);

	if (!line || pread(former, line, note->length, note->offset) != note->length)
		*note = (struct client_note){};
	else
		*note = client_kept__note(memory, line, note->length);
	free(line);
}

void client_kept__end_copy(struct client_memory *memory, int former)
{
	char name[FD_STORE_NAME_MAX];

	send_notes(memory);
	print_notes(memory->inode, memory->number - 1, name);
	fd_store__forget(memory->memories->kept, name);
	close(former);
}

char *client_kept__former_notes(const struct client_memory *memory, size_t *length)
{
	const struct fd_store *kept = memory->memories->kept;
	char name[FD_STORE_NAME_MAX];
	struct stat status;
	char *notes;
	int fd;

	if (!find_notes(kept, memory->inode, name))
		return NULL;
	fd = fd_store__get(kept, name);
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) || status.st_size > NOTES_MAX)
		return NULL;
	notes = malloc(status.st_size + 1);
	if (!notes || pread(fd, notes, status.st_size, 0) != status.st_size) {
		free(notes);
		return NULL;
	}
	*length = status.st_size;
	return notes;
}

void client_kept__replace_notes(struct client_memory *memory)
{
	struct client_memories *memories = memory->memories;
	char name[FD_STORE_NAME_MAX];

	send_notes(memory);
	while (find_notes(memories->kept, memory->inode, name))
		fd_store__forget(memories->kept, name);
}
