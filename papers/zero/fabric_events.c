// SPDX-License-Identifier: GPL-2.0-only
/* Random numbers and events of a simulation: see fabric.h. */
#include "fabric_internal.h"

/* splitmix64 */
double fabric__random(struct fabric *fabric)
{
	uint64_t x = fabric->random += 0x9e3779b97f4a7c15;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return ((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

void fabric__at(struct fabric *fabric, uint64_t time_ns, enum event_kind kind, uint32_t host)
{
	event_heap__add(&fabric->events,
			&(struct event){
				.time_ns = time_ns,
				.kind = kind,
				.host = host,
				.epoch = fabric->hosts[host].epoch,
			});
}

void fabric__at_machine(struct fabric *fabric, uint64_t time_ns, enum event_kind kind,
			uint32_t machine)
{
	event_heap__add(&fabric->events,
			&(struct event){ .time_ns = time_ns, .kind = kind, .host = machine });
}
