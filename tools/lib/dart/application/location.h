/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Locations of values in the memory of a program, and the build-ids that they hold for. */
#ifndef DART_APPLICATION_LOCATION_H
#define DART_APPLICATION_LOCATION_H

#include <stdbool.h>
#include <stdint.h>

#define DART_APPLICATION_STEPS_MAX 2
#define DART_APPLICATION_BUILD_ID_MAX 32 /* bytes */
/*
 * An address of a process is smaller on all processors: x86 has 47 bits or, with five levels of
 * tables, 56, and arm64 48 or 52.
 */
#define DART_APPLICATION_ADDRESS_END (1ULL << 56)
/* An offset is smaller. */
#define DART_APPLICATION_OFFSET_END (1U << 24)

struct dart_application_build_id {
	uint8_t length; /* bytes; 0: none */
	uint8_t bytes[DART_APPLICATION_BUILD_ID_MAX];
};

/*
 * The location of a value: @address from the load base of the module; then, @steps times, a pointer
 * is fetched from there, and the offset of that step is added to it.  If a pointer is NULL, the
 * value is 0.  Pointers lie at multiples of 8, values at multiples of their width.
 */
struct dart_application_location {
	uint64_t address; /* from the base that the program headers of the module count from */
	uint32_t offsets[DART_APPLICATION_STEPS_MAX]; /* bytes */
	uint8_t steps;
	uint8_t module; /* index */
};

/*
 * Why a value of this @width (1 for a text) cannot lie at @location, as a static sentence; NULL if
 * it can.
 */
const char *dart_application_location__objection(const struct dart_application_location *location,
						 uint32_t width);

/* Parses hexadecimal digits, two for each byte.  False if @text is of another form. */
bool dart_application_build_id__parse(struct dart_application_build_id *id, const char *text);
/* Writes the digits; "" if there is none. */
void dart_application_build_id__print(const struct dart_application_build_id *id,
				      char text[static 2 * DART_APPLICATION_BUILD_ID_MAX + 1]);
bool dart_application_build_id__equals(const struct dart_application_build_id *id,
				       const struct dart_application_build_id *other);

/*
 * Parses a whole number, decimal or hexadecimal after "0x", of at most @most.  False if @text is
 * NULL or of another form.
 */
bool dart_application_number__parse(const char *text, uint64_t most, uint64_t *number);

#endif /* DART_APPLICATION_LOCATION_H */
