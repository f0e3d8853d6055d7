// SPDX-License-Identifier: LGPL-2.1-or-later
/* Variables and objects of a program: found, allocated, freed, and copied for children. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <dart/registration.h>

#include "zero_internal.h"

/*
 * Whole pages after the variables, which then share no page with other data of the program, unless
 * objects with more variables follow the library.
 */
DART_ZERO_KEPT __attribute__((section("dart_zero"),
			      aligned(DART_ZERO_EDGE))) static char edge[DART_ZERO_EDGE];

/*
 * One for each program, as its section and fork() are: functions of the program find it without an
 * argument.
 */
static struct dart_zero zero = {
	DART_ZERO_INITIALIZER,
};
/* The variables and the room. */
static struct dart_zero_piece pieces[2];
static pthread_once_t has_prepared = PTHREAD_ONCE_INIT;

/* ---- the end of the thread, and fork() */

static void before_fork(void)
{
	pthread_mutex_lock(&zero.lock);
}

static void after_fork_in_parent(void)
{
	pthread_mutex_unlock(&zero.lock);
}

/* The child has no thread, and its values are its own. */
static void after_fork_in_child(void)
{
	int state;

	if (zero.is_shared && dart_zero__copy(&zero))
		abort(); /* else the child would write into the memory of its parent */
	dart_zero__forget_thread(&zero);
	for (state = ZERO_LEAVING; state <= ZERO_LEASED; state++)
		while (!TAILQ_EMPTY(&zero.lists[state]))
			dart_zero__drop(&zero, TAILQ_FIRST(&zero.lists[state]));
	pthread_mutex_unlock(&zero.lock);
}

static void prepare_once(void)
{
	int state;

	for (state = 0; state < ZERO_STATES; state++)
		TAILQ_INIT(&zero.lists[state]);
	zero.page = sysconf(_SC_PAGESIZE);
	pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* ---- objects */

static size_t units_of(const struct dart_zero_type *type)
{
	return ((size_t)type->length + DART_ZERO_UNIT - 1) / DART_ZERO_UNIT;
}

/* Adds an entry for the bytes at @offset of the memory. */
static struct dart_zero_object *add(const struct dart_zero_type *type, const char *name,
				    size_t offset)
{
	struct dart_zero_object *object = calloc(1, sizeof(*object) + strlen(name) + 1);

	if (!object)
		return NULL;
	strcpy(object->name, name);
	object->type = type;
	object->offset = offset;
	TAILQ_INSERT_TAIL(&zero.lists[ZERO_WAITING], object, link);
	zero.counts[ZERO_WAITING]++;
	return object;
}

/* True if the units from @first on are free; else *@next is where the search may go on. */
static bool are_free(size_t first, size_t units, size_t *next)
{
	size_t i;

	for (i = first; i < first + units; i++) {
		if (!zero.by_unit[i])
			continue;
		*next = i + units_of(zero.by_unit[i]->type);
		return false;
	}
	return true;
}

/* Finds a run of free units from @first on, but before @end; SIZE_MAX if there is none. */
static size_t find_run(size_t first, size_t end, size_t units)
{
	size_t next;

	while (first + units <= end) {
		if (are_free(first, units, &next))
			return first;
		first = next;
	}
	return SIZE_MAX;
}

static bool is_in_room(const void *memory)
{
	return zero.room && (const char *)memory >= zero.room &&
	       (const char *)memory < zero.room + zero.room_bytes;
}

/* Takes units of the room; NULL if it is used up, or not there. */
static void *take(const struct dart_zero_type *type, const char *name)
{
	const size_t all = zero.room_bytes / DART_ZERO_UNIT, units = units_of(type);
	struct dart_zero_object *object;
	size_t unit;

	if (!units || units > all)
		return NULL;
	unit = find_run(zero.next_unit, all, units);
	if (unit == SIZE_MAX)
		unit = find_run(0, all, units);
	if (unit == SIZE_MAX)
		return NULL;
	object = add(type, name, zero.variable_bytes + unit * DART_ZERO_UNIT);
	if (!object)
		return NULL;
	zero.by_unit[unit] = object;
	zero.next_unit = unit + units;
	memset(zero.room + unit * DART_ZERO_UNIT, 0, units * DART_ZERO_UNIT);
	return zero.room + unit * DART_ZERO_UNIT;
}

void *dart_zero_malloc(const struct dart_zero_type *type, const char *name)
{
	void *object;

	pthread_mutex_lock(&zero.lock);
	object = take(type, name);
	if (object)
		dart_zero__wake(&zero);
	pthread_mutex_unlock(&zero.lock);
	if (object)
		return object;
	if (posix_memalign(&object, DART_ZERO_UNIT, units_of(type) * DART_ZERO_UNIT))
		return NULL;
	return memset(object, 0, units_of(type) * DART_ZERO_UNIT);
}

void dart_zero_free(void *memory)
{
	struct dart_zero_object *object;

	if (!is_in_room(memory)) {
		free(memory);
		return;
	}
	pthread_mutex_lock(&zero.lock);
	object = zero.by_unit[((char *)memory - zero.room) / DART_ZERO_UNIT];
	/* The thread may be asking for it, also while it ends. */
	if (!(zero.is_started || zero.is_ending) || !object->is_asked ||
	    object->state == ZERO_REFUSED)
		dart_zero__drop(&zero, object);
	else
		dart_zero__move(&zero, object, ZERO_LEAVING);
	dart_zero__wake(&zero);
	pthread_mutex_unlock(&zero.lock);
}

void dart_zero_get_status(struct dart_zero_status *status)
{
	pthread_mutex_lock(&zero.lock);
	status->registered = zero.counts[ZERO_REGISTERED];
	status->waiting = zero.counts[ZERO_WAITING];
	status->refused = zero.counts[ZERO_REFUSED];
	strcpy(status->reason, zero.reason);
	pthread_mutex_unlock(&zero.lock);
}

/* ---- start and end */

/* Checks that the variables have pages of their own. */
static int find_variables(const struct dart_zero_sections *sections)
{
	if ((uintptr_t)sections->first % zero.page || sections->end != edge + sizeof(edge))
		return -EXDEV;
	zero.variables = sections->first;
	zero.variable_bytes = edge - sections->first;
	return 0;
}

static int reserve_room(size_t room)
{
	const size_t most = DART_REGISTRATION_MEMORY_PAGES_MAX * zero.page;
	void *memory;

	if (zero.variable_bytes > most)
		return -EFBIG;
	if (room > most - zero.variable_bytes)
		return -EINVAL;
	zero.room_bytes = (room + zero.page - 1) / zero.page * zero.page;
	if (!zero.room_bytes)
		return 0;
	zero.by_unit = calloc(zero.room_bytes / DART_ZERO_UNIT, sizeof(struct dart_zero_object *));
	memory = zero.by_unit ? mmap(NULL, zero.room_bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) :
				MAP_FAILED;
	if (memory != MAP_FAILED) {
		zero.room = memory;
		return 0;
	}
	free(zero.by_unit);
	zero.by_unit = NULL;
	zero.room_bytes = 0;
	return -ENOMEM;
}

static void add_piece(char *at, size_t bytes)
{
	if (bytes)
		pieces[zero.piece_count++] = (struct dart_zero_piece){ at, bytes };
}

static int add_variables(const struct dart_zero_sections *sections)
{
	const struct dart_zero_variable *const *shown;
	const struct dart_zero_variable *variable;

	for (shown = sections->variables; shown < sections->variables_end; shown++) {
		variable = *shown;
		if (!add(variable->type, variable->name, (char *)variable->memory - zero.variables))
			return -ENOMEM;
	}
	return 0;
}

/* All entries are new to dartd, as those of a child are. */
static void forget_registrations(void)
{
	static const enum dart_zero_state known[] = { ZERO_REGISTERED, ZERO_REFUSED };
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		while (!TAILQ_EMPTY(&zero.lists[known[i]]))
			dart_zero__move(&zero, TAILQ_FIRST(&zero.lists[known[i]]), ZERO_WAITING);
}

/* The memory of a parent, or of an earlier start, stays as it is. */
static int choose_memory(const struct dart_zero_sections *sections, size_t room)
{
	int ret;

	if (zero.variables)
		return 0;
	ret = find_variables(sections);
	if (!ret)
		ret = reserve_room(room);
	if (!ret)
		ret = add_variables(sections);
	if (ret) {
		zero.variables = NULL;
		return ret;
	}
	zero.pieces = pieces;
	zero.piece_count = 0;
	add_piece(zero.variables, zero.variable_bytes);
	add_piece(zero.room, zero.room_bytes);
	return 0;
}

static int start(const struct dart_zero_sections *sections, const char *name, size_t room,
		 const char *socket)
{
	const size_t length = strlen(name);
	char *prefix;
	int ret;

	if (zero.is_started || zero.is_ending)
		return -EALREADY;
	ret = choose_memory(sections, room);
	if (ret)
		return ret;
	if (!(zero.variable_bytes + zero.room_bytes))
		return -ENODATA;
	prefix = malloc(length + 2);
	if (!prefix)
		return -ENOMEM;
	memcpy(prefix, name, length);
	memcpy(prefix + length, "/", 2);
	free(zero.prefix);
	zero.prefix = prefix;
	zero.socket = socket ? socket : DART_REGISTRATION_SOCKET;
	forget_registrations();
	/* The thread does nothing else before it gets the lock. */
	ret = dart_zero__start_thread(&zero, dart_zero__share);
	zero.is_started = !ret;
	return ret;
}

int dart_zero_start_sections(const struct dart_zero_sections *sections, const char *name,
			     size_t room, const char *socket)
{
	int ret;

	pthread_once(&has_prepared, prepare_once);
	pthread_mutex_lock(&zero.lock);
	ret = start(sections, name, room, socket);
	pthread_mutex_unlock(&zero.lock);
	return ret;
}

static void stop(void)
{
	dart_zero__end_thread(&zero);
	while (!TAILQ_EMPTY(&zero.lists[ZERO_LEAVING]))
		dart_zero__drop(&zero, TAILQ_FIRST(&zero.lists[ZERO_LEAVING]));
	while (!TAILQ_EMPTY(&zero.lists[ZERO_LEASED]))
		dart_zero__drop(&zero, TAILQ_FIRST(&zero.lists[ZERO_LEASED]));
}

void dart_zero_stop(void)
{
	pthread_mutex_lock(&zero.lock);
	if (zero.is_started)
		stop();
	/* Another thread stops it. */
	while (zero.is_ending)
		pthread_cond_wait(&zero.has_ended, &zero.lock);
	pthread_mutex_unlock(&zero.lock);
}
