// SPDX-License-Identifier: GPL-2.0-only
/*
 * Answers the requests of <linux/dart_zero.h> in dartd: extents of the region are memory of dartd
 * or maps, at addresses of one reserved range.  Windows and counters do not exist here.
 */
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "agent/base/host.h"
#include "agent/base/log.h"
#include "agent/region/region.h"
#include "answers.h"
#include "extents.h"
#include "gathering.h"
#include "own_sample.h"
#include "way.h"

/* An event that no caller read yet. */
struct pending {
	TAILQ_ENTRY(pending) link;
	struct dart_zero_event event;
};

struct programs_region {
	struct gathering gathering;
	struct extents extents;
	void *records; /* a tsearch() tree of struct record, by id */
	/* Used by all threads, under events_lock: */
	pthread_mutex_t events_lock;
	TAILQ_HEAD(, pending) events;
	int have_events; /* an eventfd */
};

static struct programs_region *state_of(const struct region *region)
{
	return region->state;
}

static int fail(int error)
{
	errno = error < 0 ? -error : error;
	return -1;
}

/* ---- events */

static void tell(struct programs_region *state, uint32_t type, uint32_t id)
{
	struct pending *pending = malloc(sizeof(*pending));

	if (!pending) {
		log__error("out of memory: an event of the region is lost");
		return;
	}
	pending->event = (struct dart_zero_event){ .type = type, .id = id };
	pthread_mutex_lock(&state->events_lock);
	TAILQ_INSERT_TAIL(&state->events, pending, link);
	pthread_mutex_unlock(&state->events_lock);
	eventfd_write(state->have_events, 1);
}

static void on_record_gone(void *owner, uint32_t id)
{
	tell(owner, DART_ZERO_EVENT_RECORD_GONE, id);
}

static void on_namespaces(void *owner)
{
	tell(owner, DART_ZERO_EVENT_NAMESPACES, 0);
}

static const struct gathering_handlers handlers = {
	.on_gone = on_record_gone,
	.on_namespaces = on_namespaces,
};

static void cancel_event(struct programs_region *state, uint32_t id)
{
	struct pending *pending, *next;

	pthread_mutex_lock(&state->events_lock);
	for (pending = TAILQ_FIRST(&state->events); pending; pending = next) {
		next = TAILQ_NEXT(pending, link);
		if (pending->event.id != id)
			continue;
		TAILQ_REMOVE(&state->events, pending, link);
		free(pending);
	}
	pthread_mutex_unlock(&state->events_lock);
}

static ssize_t programs__read(const struct region *region, struct dart_zero_event *events,
			      size_t size)
{
	const size_t room = size / sizeof(*events);
	struct programs_region *state = state_of(region);
	struct pending *pending;
	eventfd_t value;
	size_t count = 0;
	uint32_t id;

	eventfd_read(state->have_events, &value);
	while ((id = slices__next_gone(&state->extents.slices)))
		tell(state, DART_ZERO_EVENT_SLICE_GONE, id);
	pthread_mutex_lock(&state->events_lock);
	while (count < room && (pending = TAILQ_FIRST(&state->events))) {
		events[count++] = pending->event;
		TAILQ_REMOVE(&state->events, pending, link);
		free(pending);
	}
	if (TAILQ_EMPTY(&state->events))
		eventfd_read(state->have_events, &value);
	else
		eventfd_write(state->have_events, 1);
	pthread_mutex_unlock(&state->events_lock);
	return count ? (ssize_t)(count * sizeof(*events)) : fail(EAGAIN);
}

/* ---- records */

/* A sum of words carries from one number to the next unless all numbers are words. */
static bool has_only_words(const struct record *record)
{
	uint32_t i;

	for (i = 0; i < record->piece_count; i++)
		if (record->pieces[i].width != sizeof(uint64_t))
			return false;
	return true;
}

/* Narrows the copy to the bytes of the pieces of @record, in whole words of 8 bytes. */
static void narrow(struct record *record, uint32_t length)
{
	uint32_t first = length, end = 0, i;

	for (i = 0; i < record->piece_count; i++) {
		const struct dart_zero_piece *piece = &record->pieces[i];
		const uint32_t piece_end = piece->offset + piece->width * piece->count;

		if (piece->offset < first)
			first = piece->offset;
		if (piece_end > end)
			end = piece_end;
	}
	first = first / 8 * 8;
	record->question.offset = first;
	record->question.length = (end - first + 7) / 8 * 8;
	for (i = 0; i < record->piece_count; i++)
		record->pieces[i].offset -= first;
	record->question.is_sum = record->form == DART_ZERO_RECORD_SUM && has_only_words(record);
}

/* Sets the object that @record asks for. */
static int choose_object(struct record *record, const struct subject *subject,
			 const struct dart_zero_record *wanted)
{
	struct gather_question *question = &record->question;
	char path[64];
	struct stat status;
	int fd, ret;

	question->ifindex = wanted->ifindex;
	question->netns = wanted->netns;
	if (wanted->fd < 0)
		return 0;
	if (fstat(wanted->fd, &status))
		return -EBADF;
	switch (subject->object) {
	case GATHER_OBJECT_NETNS:
	case GATHER_OBJECT_NETDEV:
		/* A descriptor would keep the namespace from ending. */
		question->netns = status.st_ino;
		return 0;
	case GATHER_OBJECT_DISK:
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major(status.st_rdev),
			 minor(status.st_rdev));
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd < 0)
			return errno == ENOENT ? -ENODEV : -errno;
		ret = record__refer(record, fd);
		close(fd);
		return ret;
	case GATHER_OBJECT_CGROUP:
		return record__refer(record, wanted->fd);
	default:
		return -EINVAL;
	}
}

/* Disks that a cgroup can have rows of, as in the module. */
#define DEVICE_ROWS 16

static uint32_t rows_of(const struct programs_region *state, const struct record *record,
			const struct subject *subject)
{
	if (record->form != DART_ZERO_RECORD_COPIES)
		return 1;
	if (record->own)
		return record->own->rows;
	switch (subject->rows) {
	case SOURCE_ROWS_NODE:
		return host__nodes();
	case SOURCE_ROWS_DEVICE:
		return DEVICE_ROWS;
	default:
		return state->gathering.asker.programs.cpu_count;
	}
}

static bool is_too_long(const struct programs_region *state, const struct record *record,
			const struct subject *subject)
{
	const uint64_t copies = subject->object == GATHER_OBJECT_CGROUP ?
					1 :
					state->gathering.asker.programs.cpu_count;

	return !subject->is_sample && !answers__fit(copies, record->question.length);
}

static int new_record(const struct programs_region *state, const struct subject *subject,
		      const struct dart_zero_record *wanted, struct record **result)
{
	const bool has_rows = subject->is_sample ? subject->rows != SOURCE_ROWS_NONE :
						   wanted->form == DART_ZERO_RECORD_COPIES;
	struct record *record;
	int ret;

	if (has_rows != (wanted->form == DART_ZERO_RECORD_COPIES))
		return -EINVAL;
	ret = record__new(wanted, subject->length, &record);
	if (ret)
		return ret;
	record->question.source = wanted->source;
	record->never_falls = wanted->source == DART_ZERO_SOURCE_CGROUP_CPU;
	ret = subject->own ? subject->own->open(wanted, &record->own) :
			     choose_object(record, subject, wanted);
	if (ret) {
		record__free(record);
		return ret;
	}
	if (record->own)
		record->own->kind = subject->own;
	if (!subject->is_sample)
		narrow(record, subject->length);
	if (is_too_long(state, record, subject)) {
		record__free(record);
		return -E2BIG;
	}
	record->rows = rows_of(state, record, subject);
	*result = record;
	return 0;
}

static int compare_ids(const void *left, const void *right)
{
	const struct record *a = left, *b = right;

	return (a->id > b->id) - (a->id < b->id);
}

static int place_record(struct programs_region *state, struct dart_zero_record *wanted,
			struct record *record)
{
	struct extent *extent = extents__find(&state->extents, wanted->slab);
	int ret;

	if (!extent || extent->info.kind != DART_ZERO_EXTENT_RECORDS)
		return -ENOENT;
	ret = record__place(record, &extent->pages);
	if (ret)
		return ret;
	record->id = extents__new_id(&state->extents);
	record->slab = wanted->slab;
	if (!tsearch(record, &state->records, compare_ids)) {
		record__displace(record);
		return -ENOMEM;
	}
	ret = gathering__add(&state->gathering, record, wanted->interval_ms,
			     wanted->flags & DART_ZERO_RECORD_DEFERRABLE);
	if (ret) {
		tdelete(record, &state->records, compare_ids);
		return ret;
	}
	wanted->id = record->id;
	wanted->rows = record->rows;
	wanted->length = (uint64_t)record->row_lines * DART_ZERO_RECORD_LINE;
	wanted->data = extent->info.data + (uint64_t)record->first_line * DART_ZERO_RECORD_LINE;
	return 0;
}

/* Finds the name and length of the counters that @wanted asks for. */
static int find_subject(struct programs_region *state, const struct dart_zero_record *wanted,
			const struct subject **subject)
{
	struct stat status = { .st_ino = wanted->netns };
	enum gather_statistics statistics;
	int ret;

	*subject = subject__find(wanted->source);
	if (!*subject)
		return -EOPNOTSUPP;
	if (wanted->source != DART_ZERO_SOURCE_NETDEV)
		return 0;
	if (wanted->fd >= 0 && fstat(wanted->fd, &status))
		return -EBADF;
	ret = gathering__statistics(&state->gathering, status.st_ino, wanted->ifindex, &statistics);
	if (!ret)
		*subject = subject__of_statistics(statistics);
	return ret;
}

static int add_record(struct programs_region *state, struct dart_zero_record *wanted)
{
	const struct subject *subject;
	struct record *record;
	int ret;

	ret = find_subject(state, wanted, &subject);
	if (ret)
		return ret;
	if (!wanted->piece_count) {
		wanted->length = subject->length;
		snprintf(wanted->name, sizeof(wanted->name), "%s", subject->name);
		return subject->length ? 0 : -EOPNOTSUPP;
	}
	if (wanted->interval_ms < DART_ZERO_RECORD_MS_MIN ||
	    wanted->interval_ms > DART_ZERO_RECORD_MS_MAX)
		return -EINVAL;
	ret = new_record(state, subject, wanted, &record);
	if (ret)
		return ret;
	ret = place_record(state, wanted, record);
	if (ret)
		record__free(record);
	return ret;
}

/* ---- requests */

static int get_info(const struct programs_region *state, struct dart_zero_info *info)
{
	extents__info(&state->extents, info);
	info->abi_version = DART_ZERO_ABI_VERSION;
	info->cpus = state->gathering.asker.cpus;
	info->flags = DART_ZERO_INFO_NO_WINDOWS;
	return 0;
}

static int remove_record(struct programs_region *state, uint32_t id)
{
	const struct record key = { .id = id };
	struct record **found = tfind(&key, &state->records, compare_ids);
	struct record *record;

	if (!found)
		return -ENOENT;
	record = *found;
	tdelete(record, &state->records, compare_ids);
	gathering__remove(&state->gathering, record);
	cancel_event(state, id);
	record__free(record);
	return 0;
}

static int remove_slice(struct programs_region *state, uint32_t id)
{
	struct extent *extent;

	TAILQ_FOREACH(extent, &state->extents.list, link) {
		if (!extent->slice || extent->slice->id != id)
			continue;
		slices__take_back(&state->extents.slices, extent->slice);
		cancel_event(state, id);
		return 0;
	}
	return -ENOENT;
}

static int remove_part(struct programs_region *state, uint32_t id)
{
	struct extent *extent = extents__find(&state->extents, id);

	if (!extent)
		return remove_record(state, id) && remove_slice(state, id) ? -ENOENT : 0;
	if (extent->pages.records || (extent->slice && extent->slice->id))
		return -EBUSY;
	extents__remove(&state->extents, extent);
	return 0;
}

static int list_namespaces(struct programs_region *state, struct dart_zero_namespaces *list)
{
	uint32_t *inodes, count;
	const bool is_watched = list->flags & DART_ZERO_NAMESPACES_WATCH;
	int ret = gathering__namespaces(&state->gathering, is_watched, &inodes, &count);

	if (ret)
		return ret;
	if (count <= list->count)
		memcpy((void *)(uintptr_t)list->inodes, inodes, count * sizeof(*inodes));
	ret = count <= list->count ? 0 : -ENOSPC;
	list->count = count;
	free(inodes);
	return ret;
}

static int programs__call(const struct region *region, unsigned long request, void *argument)
{
	struct programs_region *state = state_of(region);
	int ret;

	switch (request) {
	case DART_ZERO_IOC_INFO:
		ret = get_info(state, argument);
		break;
	case DART_ZERO_IOC_QUARANTINE:
		ret = 0;
		break;
	case DART_ZERO_IOC_ADD_MAP:
		ret = extents__add_map(&state->extents, argument);
		break;
	case DART_ZERO_IOC_ADD_SLAB:
		ret = extents__add_slab(&state->extents, argument);
		break;
	case DART_ZERO_IOC_ADD_SLICE:
		ret = extents__add_slice(&state->extents, argument);
		break;
	case DART_ZERO_IOC_ADOPT_SLICE:
		ret = extents__adopt_slice(&state->extents, argument);
		break;
	case DART_ZERO_IOC_ADD_RECORD:
		ret = add_record(state, argument);
		break;
	case DART_ZERO_IOC_REMOVE:
		ret = remove_part(state, ((struct dart_zero_remove *)argument)->id);
		break;
	case DART_ZERO_IOC_NAMESPACES:
		ret = list_namespaces(state, argument);
		break;
	case DART_ZERO_IOC_ADD_WINDOW:
	case DART_ZERO_IOC_ADD_COUNTERS:
		ret = -EACCES;
		break;
	default:
		ret = -ENOTTY;
	}
	return ret ? fail(ret) : 0;
}

/* ---- the way */

/* A descriptor that is readable while a slice may be gone or an event is pending. */
static int watch_events(const struct programs_region *state)
{
	struct epoll_event event = { .events = EPOLLIN };
	const int *files = state->extents.slices.files;
	int fd = epoll_create1(EPOLL_CLOEXEC), i, ret;

	if (fd < 0)
		return -errno;
	ret = epoll_ctl(fd, EPOLL_CTL_ADD, state->have_events, &event);
	for (i = 0; !ret && i < SLICES_FILES; i++)
		ret = epoll_ctl(fd, EPOLL_CTL_ADD, files[i], &event);
	if (!ret)
		return fd;
	ret = -errno;
	close(fd);
	return ret;
}

static int programs__open(struct region *region, struct dart_error *error)
{
	struct programs_region *state = calloc(1, sizeof(*state));
	int ret;

	if (!state)
		return dart_error__no_memory(error);
	TAILQ_INIT(&state->events);
	pthread_mutex_init(&state->events_lock, NULL);
	ret = extents__open(&state->extents, error);
	if (ret)
		goto free_state;
	state->have_events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	region->fd = state->have_events < 0 ? -errno : watch_events(state);
	if (region->fd < 0) {
		ret = dart_error__system(error, -region->fd, "cannot wait for region events");
		goto close_events;
	}
	region->cpus = host__cpus();
	ret = subjects__open(error) ?:
		      gathering__open(&state->gathering, region->cpus, &handlers, state, error);
	if (ret)
		goto close_watch;
	region->state = state;
	region->memory = state->extents.memory;
	region->capacity = EXTENTS_CAPACITY;
	region->page_size = state->extents.page_size;
	return 0;

close_watch:
	close(region->fd);
close_events:
	if (state->have_events >= 0)
		close(state->have_events);
	extents__close(&state->extents);
free_state:
	free(state);
	return ret;
}

static void programs__close(struct region *region)
{
	struct programs_region *state = state_of(region);
	struct pending *pending;

	while (state->records)
		remove_record(state, (*(struct record **)state->records)->id);
	gathering__close(&state->gathering);
	while ((pending = TAILQ_FIRST(&state->events))) {
		TAILQ_REMOVE(&state->events, pending, link);
		free(pending);
	}
	close(region->fd);
	close(state->have_events);
	extents__close(&state->extents);
	pthread_mutex_destroy(&state->events_lock);
	free(state);
}

/*
 * Without the lock of the gathering, because old kernels verify a program for seconds: the thread
 * runs only programs of records, which are added later and removed earlier.
 */
static int programs__take_source(struct region *region, const struct source *source,
				 struct dart_error *error)
{
	struct gathering *gathering = &state_of(region)->gathering;
	const int ret = gather_programs__take(&gathering->asker.programs, source, error);

	if (!ret && subject__find(source->id)->object == GATHER_OBJECT_CGROUP)
		gathering__watch_kills(gathering);
	return ret;
}

static void programs__give_source(struct region *region, enum dart_zero_source source)
{
	gather_programs__give(&state_of(region)->gathering.asker.programs, source);
}

static void programs__explain_namespaces(const struct region *region, struct dart_error *error)
{
	*error = state_of(region)->gathering.asker.namespaces.why;
}

const struct region_way programs_way = {
	.name = "programs",
	.why_no_windows = "dartd gathers by eBPF programs",
	.load_for_windows = "the module dart_zero",
	.load_for_sources = "the module dart_zero",
	.has_slab_for_each_slice = true,
	.open = programs__open,
	.close = programs__close,
	.call = programs__call,
	.read = programs__read,
	.take_source = programs__take_source,
	.give_source = programs__give_source,
	.explain_namespaces = programs__explain_namespaces,
};
