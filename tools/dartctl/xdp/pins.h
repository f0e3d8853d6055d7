/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * XDP programs stay attached without a process: pins below XDP_PINS, in a directory for each
 * interface, hold their links and maps, and are their only record.
 */
#ifndef PINS_H
#define PINS_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#define XDP_PINS		"/sys/fs/bpf/dart/reporter"

#define XDP_PATH_MAX	64	/* with the NUL */

#define XDP_PIN_LINK	"link"		/* to the interface */
#define XDP_PIN_THROUGH	"through"	/* to the interface that reports leave through */
#define XDP_PIN_COUNTERS	"counters"	/* the map "reporter" */
#define XDP_PIN_REPORTS	"reports"	/* the map "reporter_to" */
#define XDP_PIN_COLLECTORS	"collectors"	/* the map of that name */
#define XDP_PIN_SHARES	"shares"	/* likewise */
#define XDP_PIN_SEQUENCES	"sequences"	/* likewise */
#define XDP_PIN_ANSWERS	"answers"	/* likewise */
#define XDP_PIN_LISTS	"lists"		/* likewise; only of an appender */
#define XDP_PIN_ROWS	"rows"		/* likewise; only of a translator */
#define XDP_PIN_SUMS	"sums"		/* likewise; only of a translator of sketches */
#define XDP_PIN_SKETCHERS	"sketchers"	/* likewise */
#define XDP_PIN_OFFLOAD	"offload"	/* a map with a struct xdp_offload, if one was turned off */
#define XDP_PIN_FLUSH	"flush"		/* takes out waiting entries, paths or sums */

/* Can an interface have this name? */
bool xdp_pins__is_name(const char *name);
/* Writes the name of the interface whose directory is @directory. */
void xdp_pins__interface(const char *directory, char name[IF_NAMESIZE]);

/* Is a program attached, or was one until its interface was removed? */
bool xdp_pins__exist(const char *interface);

/* Creates the directory.  Returns 0, or -errno with a sentence in @error. */
int xdp_pins__create(const char *interface, struct dart_error *error);
/* Pins @fd; returns 0 or -errno. */
int xdp_pins__add(const char *interface, const char *pin, int fd);
/* Opens a pin.  Returns a descriptor or -errno. */
int xdp_pins__open(const char *interface, const char *pin);
/*
 * Opens a pinned map whose values have @value_size bytes.  Returns a descriptor or -errno:
 * -EPROTO if they have another size, because another dartctl has attached the program; the kernel
 * would copy values of that size to the caller.  Sets *@entries to the number of entries unless it
 * is NULL.
 */
int xdp_pins__open_map(const char *interface, const char *pin, size_t value_size,
		       uint32_t *entries);
/* Removes the pins of links; the program is detached soon, its maps stay.  Returns 0 or -errno. */
int xdp_pins__end_links(const char *interface);
/* Removes all pins, which detaches the program.  Returns 0 or -errno. */
int xdp_pins__remove(const char *interface);

#endif /* PINS_H */
