/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Memory that describes itself: programs keep statistics in files that they have mapped, whose
 * bytes tell the names, types and offsets of the values.
 *
 *   mmv          Memory Mapped Values of Performance Co-Pilot, versions 1 to 3, see mmv(5)
 *   hsperfdata   the performance counters of a Java virtual machine (HotSpot), version 2.0
 *   Varnish      the shared memory of varnishd (VSM) with its statistics (VSC), from 6.0 on
 *
 * The functions below make layouts of these bytes.  The locations of such a layout have addresses
 * of the process, so that each value is fetched out of the memory of the process that writes it: a
 * file that is truncated or unlinked, or whose owner has ended, never shows old values.
 *
 * The bytes are hostile.  A layout holds only locations inside the given memory, and at most
 * DART_APPLICATION_FIELDS_MAX fields and DART_APPLICATION_ROWS_MAX rows for each entry.  Its checks
 * hold while the bytes have the meaning that the layout gives them: make the layout again when one
 * fails.  A value that a row cannot carry, such as a floating-point number or a text of more than
 * 48 bytes, is left out and counted.
 *
 * The functions return 0, and the caller frees *@layout; or they set @error, and return -ENOEXEC if
 * the bytes break a rule of the format, -EAGAIN if the program has not finished writing them, -E2BIG
 * if they describe more than a layout holds, or -ENOMEM.
 */
#ifndef DART_APPLICATION_FORMATS_H
#define DART_APPLICATION_FORMATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/application/layout.h>
#include <libdart/error.h>

/* Bytes of a mapping that a reader looks at; larger mappings are refused. */
#define DART_MAPPED_MAX (16 << 20)
/* Segments with statistics of one varnishd. */
#define DART_VARNISH_SEGMENTS_MAX DART_APPLICATION_ENTRIES_MAX

/* A copy of the bytes that a process has mapped. */
struct dart_mapped {
	const uint8_t *bytes;
	size_t length;
	uint64_t address; /* in the process, below DART_APPLICATION_ADDRESS_END, a multiple of 8 */
};

/* Do @length bytes begin as these formats do? */
bool dart_mmv__begins(const uint8_t *bytes, size_t length);
bool dart_hsperfdata__begins(const uint8_t *bytes, size_t length);

/*
 * Entry "mmv" has the metrics without instances; entry "mmv:SERIAL" has a row for each instance of
 * the instance domain with this number, and the name of the instance in the text field "instance".
 */
int dart_mmv__describe(const struct dart_mapped *mapped, struct dart_application_layout **layout,
		       struct dart_error *error);

/* Entry "jvm".  Command lines, which may contain passwords, are left out. */
int dart_hsperfdata__describe(const struct dart_mapped *mapped,
			      struct dart_application_layout **layout, struct dart_error *error);

/* A file in a directory of varnishd, as far as the process has mapped it. */
struct dart_varnish_file {
	char *name; /* without a directory */
	struct dart_mapped mapped;
};

/*
 * Entry "varnish:KIND" for each segment of statistics that is named in @index, the bytes of the file
 * _.index, and lies in one of @files; the rest of its name, such as "boot.default", is the instance.
 */
int dart_varnish__describe(const char *index, size_t index_length,
			   const struct dart_varnish_file *files, size_t file_count,
			   struct dart_application_layout **layout, struct dart_error *error);

#endif /* DART_APPLICATION_FORMATS_H */
