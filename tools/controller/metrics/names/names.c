// SPDX-License-Identifier: GPL-2.0-only
/* Stores the names of metrics, during and after loading. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/files.h>

#include "names_builder.h"

/* Relative to the directory of the program. */
#define DIRECTORY "../share/dart/schemas/prometheus"

struct loaded_names *loaded_names__new(void)
{
	struct loaded_names *loaded = calloc(1, sizeof(*loaded));

	if (loaded)
		atomic_init(&loaded->holders, 1);
	return loaded;
}

void loaded_names__free(struct loaded_names *loaded)
{
	if (!loaded)
		return;
	text_index__free(&loaded->by_name);
	text_index__free(&loaded->by_source);
	arena__free(&loaded->arena);
	free(loaded->families);
	free(loaded->series);
	free(loaded->places);
	free(loaded);
}

/* Enlarges @array, the address of a pointer of any type; false if memory ran out. */
static bool grow(void *array, uint32_t room, size_t size)
{
	void *old, *larger;

	memcpy(&old, array, sizeof(old));
	larger = reallocarray(old, room, size);
	if (!larger)
		return false;
	memcpy(array, &larger, sizeof(larger));
	return true;
}

int loaded_names__add_family(struct loaded_names *loaded, const struct name_family *family,
			     const struct name_place *place, uint32_t *index)
{
	struct names *names = &loaded->names;
	uint32_t room = loaded->family_room;

	if (names->family_count == room) {
		room = room ? room * 2 : 64;
		if (!grow(&loaded->families, room, sizeof(*family)) ||
		    !grow(&loaded->places, room, sizeof(*place)))
			return -ENOMEM;
		loaded->family_room = room;
	}
	names->families = loaded->families;
	if (text_index__add(&loaded->by_name, family->name, names->family_count))
		return -ENOMEM;
	loaded->families[names->family_count] = *family;
	loaded->places[names->family_count] = *place;
	*index = names->family_count++;
	return 0;
}

/* Appends the series to the list of its source, in the order of the files. */
static int loaded_names__link(struct loaded_names *loaded, uint32_t index)
{
	struct name_series *series = loaded->series;
	uint32_t at = text_index__find(&loaded->by_source, series[index].source);

	if (at == TEXT_INDEX_NONE)
		return text_index__add(&loaded->by_source, series[index].source, index);
	while (series[at].next != NAMES_END)
		at = series[at].next;
	series[at].next = index;
	return 0;
}

int loaded_names__add_series(struct loaded_names *loaded, const struct name_series *series)
{
	struct names *names = &loaded->names;
	uint32_t room = loaded->series_room;

	if (names->series_count == room) {
		room = room ? room * 2 : 64;
		if (!grow(&loaded->series, room, sizeof(*series)))
			return -ENOMEM;
		loaded->series_room = room;
	}
	names->series = loaded->series;
	loaded->series[names->series_count] = *series;
	loaded->series[names->series_count].next = NAMES_END;
	return loaded_names__link(loaded, names->series_count++);
}

bool name__is_valid(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	const size_t length = strlen(name);

	return length && length <= NAMES_LENGTH_MAX && strspn(name, letters) == length &&
	       !(*name >= '0' && *name <= '9') && strncmp(name, "__", 2);
}

void names__find_directory(char path[static PATH_MAX])
{
	dart_files__beside_program(DIRECTORY, path);
}

struct names *names__get(struct names *names)
{
	if (names)
		atomic_fetch_add(&((struct loaded_names *)names)->holders, 1);
	return names;
}

void names__put(struct names *names)
{
	struct loaded_names *loaded = (struct loaded_names *)names;

	if (names && atomic_fetch_sub(&loaded->holders, 1) == 1)
		loaded_names__free(loaded);
}

uint32_t names__of_source(const struct names *names, const char *source)
{
	const struct loaded_names *loaded = (const struct loaded_names *)names;

	return names ? text_index__find(&loaded->by_source, source) : NAMES_END;
}
