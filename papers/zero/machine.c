// SPDX-License-Identifier: GPL-2.0-only
/* The queue before a link: see machine.h. */
#include "machine.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>

static void machine__grow(struct machine *machine)
{
	uint32_t room = machine->room ? 2 * machine->room : 64;
	struct machine_packet *packets = calloc(room, sizeof(*packets));
	uint32_t to_end = machine->room - machine->first;

	if (!packets)
		err(1, "simulation");
	if (machine->count) {
		/* The ring is full. */
		memcpy(packets, machine->packets + machine->first, to_end * sizeof(*packets));
		memcpy(packets + to_end, machine->packets, machine->first * sizeof(*packets));
	}
	free(machine->packets);
	machine->packets = packets;
	machine->first = 0;
	machine->room = room;
}

void machine__queue(struct machine *machine, const struct machine_packet *packet)
{
	if (machine->count == machine->room)
		machine__grow(machine);
	machine->packets[(machine->first + machine->count++) % machine->room] = *packet;
}

bool machine__take(struct machine *machine, struct machine_packet *packet)
{
	if (!machine->count)
		return false;
	*packet = machine->packets[machine->first];
	machine->first = (machine->first + 1) % machine->room;
	machine->count--;
	return true;
}

void machine__free(struct machine *machine)
{
	free(machine->packets);
	adapter__free(&machine->adapter);
}
