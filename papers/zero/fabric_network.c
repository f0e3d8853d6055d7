// SPDX-License-Identifier: GPL-2.0-only
/* Machines and the switch between them and the controller: see fabric.h. */
#include "fabric_internal.h"

#define SERVICE_BYTES 1000

static struct machine *fabric__machine(struct fabric *fabric, uint32_t host)
{
	return &fabric->machines[host % fabric->machine_count];
}

uint64_t fabric__request(struct fabric *fabric, uint32_t host)
{
	return adapter__use(&fabric__machine(fabric, host)->adapter, host / fabric->machine_count,
			    fabric->now_ns);
}

static uint64_t transfer_ns(uint32_t bytes, double bytes_ns)
{
	return bytes / bytes_ns + 0.5;
}

/* @machine has a packet of @host, or of a service. */
static void fabric__queue(struct fabric *fabric, struct machine *machine, uint32_t host)
{
	machine__queue(machine, &(struct machine_packet){
					.host = host,
					.epoch = host == MACHINE_SERVICE ?
							 0 :
							 fabric->hosts[host].epoch,
					.queued_ns = fabric->now_ns,
				});
	if (!machine->is_sending)
		fabric__at_machine(fabric, fabric->now_ns, EVENT_SEND, machine - fabric->machines);
	machine->is_sending = true;
}

void fabric__answer(struct fabric *fabric, struct host *host)
{
	const uint32_t index = host - fabric->hosts;

	fabric__queue(fabric, fabric__machine(fabric, index), index);
}

/* A packet of a service leaves its machine: nothing of it matters from then on. */
static void fabric__note_service(struct fabric *fabric, uint64_t waited_ns)
{
	struct fabric_result *result = fabric->result;

	result->service_packets++;
	result->service_mean_ns += waited_ns;
	result->service_max_ns = later(result->service_max_ns, waited_ns);
}

void fabric__send(struct fabric *fabric, struct machine *machine)
{
	const struct fabric_settings *settings = fabric->settings;
	const uint32_t index = machine - fabric->machines;
	uint32_t bytes = CREDIT_FRAGMENT;
	struct machine_packet packet;
	uint64_t end_ns;

	if (fabric->now_ns >= fabric->pause_ns && fabric->now_ns < fabric->pause_end_ns) {
		fabric__at_machine(fabric, fabric->pause_end_ns, EVENT_SEND, index);
		return;
	}
	machine->is_sending = machine__take(machine, &packet);
	if (!machine->is_sending)
		return;
	if (packet.host == MACHINE_SERVICE) {
		bytes = SERVICE_BYTES;
		fabric__note_service(fabric, fabric->now_ns - packet.queued_ns);
	}
	end_ns = fabric->now_ns + transfer_ns(bytes, settings->host_bytes_ns);
	if (packet.host != MACHINE_SERVICE)
		event_heap__add(&fabric->events,
				&(struct event){
					.time_ns = end_ns + settings->round_trip_ns / 4,
					.kind = EVENT_AT_SWITCH,
					.host = packet.host,
					.epoch = packet.epoch,
				});
	fabric__at_machine(fabric, end_ns, EVENT_SEND, index);
}

void fabric__serve(struct fabric *fabric, struct machine *machine)
{
	const struct fabric_settings *settings = fabric->settings;
	const struct fabric_result *result = fabric->result;

	if (result->scrapes + result->missed + result->failed ==
	    (uint64_t)settings->hosts * settings->scrapes)
		return;
	fabric__queue(fabric, machine, MACHINE_SERVICE);
	fabric__at_machine(fabric, fabric->now_ns + settings->service_ns, EVENT_SERVICE,
			   machine - fabric->machines);
}

/* Pauses all machines until the queue has become short; the frame is under way for a while. */
static void fabric__pause(struct fabric *fabric, uint64_t queue)
{
	const struct fabric_settings *settings = fabric->settings;
	uint64_t delay_ns = settings->round_trip_ns / 4;
	uint64_t end_ns = fabric->now_ns + delay_ns +
			  (queue - settings->pause_until) / settings->link_bytes_ns;

	if (fabric->pause_end_ns <= fabric->now_ns + delay_ns) {
		fabric->pause_ns = fabric->now_ns + delay_ns;
		fabric->pause_end_ns = fabric->pause_ns;
	}
	if (end_ns <= fabric->pause_end_ns)
		return;
	fabric->result->paused_ns += end_ns - fabric->pause_end_ns;
	fabric->pause_end_ns = end_ns;
}

static bool fabric__marks(struct fabric *fabric, uint64_t queue)
{
	const struct fabric_settings *settings = fabric->settings;
	double range = settings->mark_all - settings->mark_above;

	if (!settings->mark_above || queue <= settings->mark_above)
		return false;
	return queue >= settings->mark_all ||
	       fabric__random(fabric) < (queue - settings->mark_above) / range;
}

void fabric__forward(struct fabric *fabric, struct host *host)
{
	const struct fabric_settings *settings = fabric->settings;
	uint32_t index = host - fabric->hosts;
	uint64_t queue = 0;

	if (fabric->link_free_ns > fabric->now_ns)
		queue = (fabric->link_free_ns - fabric->now_ns) * settings->link_bytes_ns;
	queue += CREDIT_FRAGMENT;
	if (settings->pause_above && queue > settings->pause_above) {
		fabric__pause(fabric, queue);
	} else if (!settings->pause_above && queue > settings->buffer) {
		fabric->result->dropped++;
		fabric__at(fabric, fabric->now_ns + settings->retry_ns, EVENT_LATE, index);
		return;
	}
	fabric->result->marked += fabric__marks(fabric, queue);
	fabric->result->queue_max = later(fabric->result->queue_max, queue);
	fabric->link_free_ns = later(fabric->link_free_ns, fabric->now_ns) +
			       transfer_ns(CREDIT_FRAGMENT, settings->link_bytes_ns);
	if (fabric__random(fabric) < settings->loss) {
		fabric->result->lost++;
		fabric__at(fabric, fabric->now_ns + settings->retry_ns, EVENT_LATE, index);
		return;
	}
	fabric__at(fabric, fabric->link_free_ns + settings->round_trip_ns / 4, EVENT_ARRIVED,
		   index);
}
