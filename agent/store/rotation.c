// SPDX-License-Identifier: GPL-2.0-only
/* Rotates a store, see rotation.h. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libdart/clock.h>
#include <libdart/store/store_sizing.h>

#include "agent/base/log.h"
#include "agent/base/loop_timer.h"
#include "rotation.h"

#define SECOND_US UINT64_C(1000000)
#define SECOND_NS UINT64_C(1000000000)
/*
 * Reporters need a moment for the new key: their files, and a push to a switch.  The least is for a
 * rotation that needs the memory; both are at most a quarter of an epoch.
 */
#define GRACE_LEAST_NS (5 * SECOND_NS)
#define GRACE_MOST_NS (30 * SECOND_NS)
/* A full disk may be emptied. */
#define RETRY_US (10 * SECOND_US)
/* How often, and how well, the store looks how full its bank is. */
#define LOOK_US SECOND_US
#define SAMPLES 16384

#define ACCESS_OF_REPORTERS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)

static uint64_t now_ns(void)
{
	return dart_clock__ns(CLOCK_REALTIME);
}

void *rotation__slots(const struct rotation *rotation)
{
	return epoch_memory__slots(&rotation->memory, rotation->memory.state->current);
}

size_t rotation__offset(const struct rotation *rotation)
{
	return (uint8_t *)rotation__slots(rotation) - rotation->memory.address;
}

/* ---- one rotation */

static struct report_qp *report_qp_of(struct remote_peer *peer)
{
	return (struct report_qp *)peer;
}

/* No report comes into the other bank from now on. */
static void end_former_of_reporters(struct rotation *rotation)
{
	struct remote_peer *peer;

	TAILQ_FOREACH(peer, &rotation->object->peers, link)
		memory_view__end_former(&report_qp_of(peer)->view);
}

/* Takes back a turn that others of the rotation did not follow. */
static void turn_back(struct memory_view *view, uint64_t base)
{
	struct ibv_mr *turned = view->memory_region;

	view->memory_region = view->former;
	view->former = turned;
	view->base = base;
	memory_view__end_former(view);
}

/* Lets readers and each reporter from @peer on reach the other bank; after an error none does. */
static int turn_reporters(struct rotation *rotation, struct remote_peer *peer,
			  struct dart_error *error)
{
	uint8_t *slots =
		epoch_memory__slots(&rotation->memory, epoch_memory__other(&rotation->memory));
	struct remote_peer *first = peer;
	struct memory_view *view;
	int ret = 0;

	TAILQ_FOREACH(peer, &rotation->object->peers, link) {
		view = &report_qp_of(peer)->view;
		report_qp_of(peer)->former_base = view->base;
		ret = memory_view__turn(view, slots, rotation->memory.length, ACCESS_OF_REPORTERS,
					error);
		if (ret)
			break;
	}
	if (!ret)
		return 0;
	for (; first != peer; first = TAILQ_NEXT(first, link))
		turn_back(&report_qp_of(first)->view, report_qp_of(first)->former_base);
	return ret;
}

/* Registers memory before peers learn of it.  Without a device no peer is connected. */
static int turn_views(struct rotation *rotation, struct dart_error *error)
{
	struct memory_view *read = &rotation->object->read;
	const uint64_t base = read->base;
	int ret;

	if (!read->pd)
		return 0;
	ret = memory_view__turn(read,
				epoch_memory__slots(&rotation->memory,
						    epoch_memory__other(&rotation->memory)),
				rotation->memory.length, IBV_ACCESS_REMOTE_READ, error);
	if (ret)
		return ret;
	ret = turn_reporters(rotation, TAILQ_FIRST(&rotation->object->peers), error);
	if (ret)
		turn_back(read, base);
	return ret;
}

static void turn_memory(struct rotation *rotation)
{
	__be32 addresses[DART_EPOCH_REPORTERS_MAX];
	const struct remote_peer *peer;
	uint32_t count = 0;

	TAILQ_FOREACH(peer, &rotation->object->peers, link)
		if (count < DART_EPOCH_REPORTERS_MAX)
			addresses[count++] = peer->address.s_addr;
	epoch_memory__turn(&rotation->memory, now_ns(), addresses, count);
}

static uint64_t grace_ns(const struct rotation *rotation, uint64_t limit_ns)
{
	const uint64_t quarter = rotation->plan.period_ns / 4;

	return quarter && quarter < limit_ns ? quarter : limit_ns;
}

/* @left_ns: of the period. */
static void begin_period(struct rotation *rotation, uint64_t left_ns)
{
	rotation->end_ns = dart_clock__ns(CLOCK_BOOTTIME) + left_ns;
}

/* Of an epoch that an earlier dartd began; a clock that was set back does not prolong it. */
static uint64_t left_of_period(const struct rotation *rotation)
{
	const uint64_t since = epoch_memory__current(&rotation->memory)->since_ns, now = now_ns();

	if (now <= since)
		return rotation->plan.period_ns;
	return now - since < rotation->plan.period_ns ? rotation->plan.period_ns - (now - since) :
							0;
}

static bool is_period_over(const struct rotation *rotation)
{
	return rotation->plan.period_ns && dart_clock__ns(CLOCK_BOOTTIME) >= rotation->end_ns;
}

/* Starts the timer of the next end, or of the next look. */
static void wait_for_end(struct rotation *rotation)
{
	const struct rotation_plan *plan = &rotation->plan;
	const int64_t left = rotation->end_ns - dart_clock__ns(CLOCK_BOOTTIME);
	uint64_t us = left > 1000 ? left / 1000 : 1;

	if (!plan->period_ns || (plan->falls && us > LOOK_US))
		us = LOOK_US;
	loop_timer__start(rotation->end, us);
}

static void announce(const struct rotation *rotation)
{
	changes__announce(rotation->objects->changes, "rotated", rotation->objects->kind->noun,
			  rotation->object->name);
}

/* Of the bank that is not in use: its epoch is written unless @is_lost, and it is cleared. */
static void start_writer(struct rotation *rotation, bool is_lost)
{
	struct dart_error error;

	if (!epoch_writer__start(&rotation->writer, is_lost, &error))
		return;
	log__error("store %s: %s", rotation->object->name, error.text);
	loop_timer__start(rotation->grace, RETRY_US);
}

/* Reporters that are late reach the former bank, and are counted there, until it is needed. */
static void end_grace(struct rotation *rotation)
{
	rotation->is_in_grace = false;
	sd_event_source_set_enabled(rotation->grace, SD_EVENT_OFF);
	memory_view__end_former(&rotation->object->read);
	start_writer(rotation, false);
}

static void shorten_grace(struct rotation *rotation)
{
	const uint64_t least_ns = grace_ns(rotation, GRACE_LEAST_NS);
	const uint64_t passed_ns = dart_clock__ns(CLOCK_BOOTTIME) - rotation->turned_ns;

	if (passed_ns >= least_ns)
		end_grace(rotation);
	else
		loop_timer__start(rotation->grace, (least_ns - passed_ns) / 1000 + 1);
}

/* Can the next epoch begin?  If not, does the next step towards that. */
static bool prepare_bank(struct rotation *rotation)
{
	if (rotation->writer.is_running)
		return false;
	if (rotation->is_in_grace) {
		shorten_grace(rotation);
		return false;
	}
	if (!epoch_memory__is_clear(&rotation->memory))
		return false;
	if (rotation->is_swept)
		return true;
	end_former_of_reporters(rotation);
	start_writer(rotation, false);
	return false;
}

/* The epoch before is in no file yet: by the grace of its reporters, or a slow or failed write. */
static void wait_for_file(struct rotation *rotation)
{
	if (!rotation->is_late) {
		rotation->counts.late++;
		count__add(&rotation->all_counts->late, 1);
		rotation->is_late = true;
	}
	if (!rotation->has_failed || rotation->writer.is_running)
		return;
	rotation->has_failed = false;
	rotation->counts.lost++;
	count__add(&rotation->all_counts->lost, 1);
	sd_event_source_set_enabled(rotation->grace, SD_EVENT_OFF);
	log__error("store %s: an epoch is lost, because the next one needs its memory",
		   rotation->object->name);
	start_writer(rotation, true);
}

/* The other bank is clear, and no report comes into it. */
static int turn(struct rotation *rotation, struct dart_error *error)
{
	int ret = turn_views(rotation, error);

	if (ret)
		return ret;
	rotation->is_due = false;
	rotation->is_late = false;
	rotation->is_swept = false;
	rotation->is_in_grace = true;
	rotation->turned_ns = dart_clock__ns(CLOCK_BOOTTIME);
	turn_memory(rotation);
	rotation->redundancy = rotation->geometry.redundancy;
	announce(rotation);
	loop_timer__start(rotation->grace, grace_ns(rotation, GRACE_MOST_NS) / 1000);
	begin_period(rotation, rotation->plan.period_ns);
	wait_for_end(rotation);
	return 0;
}

static void rotate(struct rotation *rotation)
{
	struct dart_error error;

	if (!prepare_bank(rotation)) {
		rotation->is_due = true;
		if (!epoch_memory__is_clear(&rotation->memory))
			wait_for_file(rotation);
	} else if (turn(rotation, &error)) {
		log__error("store %s does not rotate: %s", rotation->object->name, error.text);
		loop_timer__start(rotation->end, RETRY_US);
	}
}

int rotation__rotate(struct rotation *rotation, struct dart_error *error)
{
	if (!prepare_bank(rotation))
		return dart_error__set(
			error, EBUSY,
			"its last epoch is not in a file yet (see dartctl store epochs)");
	return turn(rotation, error);
}

/* ---- events */

static int on_grace(sd_event_source *source, uint64_t usec, void *userdata)
{
	end_grace(userdata);
	return 0;
}

/* The bank is clear for the second time, after reports could come into it. */
static void take_swept(struct rotation *rotation, uint64_t slots)
{
	rotation->is_swept = true;
	rotation->counts.late_slots += slots;
	count__add(&rotation->all_counts->late_slots, slots);
	if (slots)
		log__error(
			"store %s: reports wrote %llu slots of an epoch that was in its file already, and are lost: their reporters followed the rotation too late",
			rotation->object->name, (unsigned long long)slots);
}

/* Once, until it succeeds again. */
static void tell_kept(struct rotation *rotation)
{
	const struct epoch_writer *writer = &rotation->writer;

	if (writer->retained < 0 && !rotation->has_kept)
		log__error("store %s: a file is kept for longer than it should be: %s",
			   rotation->object->name, writer->retain_error.text);
	rotation->has_kept = writer->retained < 0;
}

static void on_written(void *subject, int ret, const struct dart_error *error)
{
	struct rotation *rotation = subject;

	tell_kept(rotation);
	if (!ret) {
		rotation->has_failed = false;
		if (rotation->writer.epoch.since_ns) {
			rotation->counts.written++;
			count__add(&rotation->all_counts->written, 1);
		}
		if (rotation->writer.has_swept)
			take_swept(rotation, rotation->writer.swept_slots);
	} else {
		if (!rotation->has_failed)
			log__error("store %s: an epoch is not in a file yet: %s",
				   rotation->object->name, error->text);
		rotation->has_failed = true;
		loop_timer__start(rotation->grace, RETRY_US);
	}
	if (rotation->is_due)
		rotate(rotation);
}

/*
 * A slot is empty with probability e^(-reports / slots), if keys differ: a value that is written
 * again makes no key older.
 */
static double reports_of(const struct rotation *rotation, double filled)
{
	return filled < 1 ? -log1p(-filled) * (double)rotation->geometry.slots : INFINITY;
}

/* 8, 4, 2, then 1 slot of a key: each while it finds more than the next one would. */
static uint32_t redundancy_of(const struct rotation *rotation, double filled)
{
	const uint32_t most = rotation->geometry.redundancy;
	const uint32_t redundancy = dart_store_sizing__falling(filled);

	if (!rotation->plan.falls || redundancy > most)
		return most;
	return redundancy;
}

/* Looks how full the bank is.  Returns true if its epoch has ended. */
static bool look(struct rotation *rotation)
{
	const uint64_t seed = dart_clock__ns(CLOCK_MONOTONIC);
	const double filled =
		(double)dart_store__sample(rotation->stores[rotation->memory.state->current],
					   SAMPLES, seed) /
		SAMPLES;
	const uint32_t redundancy = redundancy_of(rotation, filled);

	if (rotation->plan.reports && reports_of(rotation, filled) >= rotation->plan.reports)
		return true;
	/* It only falls: a sample has an error. */
	if (redundancy < rotation->redundancy) {
		rotation->redundancy = redundancy;
		announce(rotation);
	}
	return false;
}

static int on_end(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct rotation *rotation = userdata;
	const struct rotation_plan *plan = &rotation->plan;
	bool is_over = is_period_over(rotation);

	if ((plan->reports || plan->falls) && look(rotation))
		is_over = true;
	if (is_over)
		rotate(rotation);
	else
		wait_for_end(rotation);
	return 0;
}

/* ---- opening */

static int open_stores(struct rotation *rotation)
{
	uint32_t bank;
	int ret = 0;

	for (bank = 0; !ret && bank < DART_EPOCH_BANKS; bank++)
		ret = dart_store__new(&rotation->geometry,
				      epoch_memory__slots(&rotation->memory, bank),
				      &rotation->stores[bank]);
	return ret;
}

static int open_timers(struct rotation *rotation, sd_event *loop)
{
	int ret;

	ret = loop_timer__add(loop, &rotation->end, CLOCK_BOOTTIME, on_end, rotation);
	if (ret < 0)
		return ret;
	ret = loop_timer__add(loop, &rotation->grace, CLOCK_BOOTTIME, on_grace, rotation);
	return ret < 0 ? ret : 0;
}

static void free_parts(struct rotation *rotation)
{
	uint32_t bank;

	sd_event_source_disable_unref(rotation->end);
	sd_event_source_disable_unref(rotation->grace);
	epoch_index__close(&rotation->index);
	for (bank = 0; bank < DART_EPOCH_BANKS; bank++)
		dart_store__free(rotation->stores[bank]);
	free(rotation);
}

int rotation__open(struct rotation **result, const struct rotation_plan *plan,
		   struct remote_objects *objects, struct remote_object *object,
		   const struct dart_store_geometry *geometry, sd_event *loop, const char *state,
		   struct epoch_counts *counts, struct dart_error *error)
{
	struct rotation *rotation = calloc(1, sizeof(*rotation));
	int ret;

	if (!rotation)
		return dart_error__no_memory(error);
	rotation->plan = *plan;
	rotation->all_counts = counts;
	rotation->objects = objects;
	rotation->object = object;
	rotation->geometry = *geometry;
	rotation->redundancy = geometry->redundancy;
	rotation->folder.keep_ns = plan->keep_ns;
	rotation->folder.keep_bytes = plan->keep_bytes;
	rotation->index.folder = &rotation->folder;
	/* An earlier dartd may have left late reports in the bank that is clear otherwise. */
	rotation->is_swept = !object->memory.has_contents;
	epoch_memory__open(&rotation->memory, object->memory.address,
			   dart_store_geometry__length(geometry), !object->memory.has_contents,
			   now_ns());
	rotation->writer = (struct epoch_writer){
		.folder = &rotation->folder,
		.memory = &rotation->memory,
		.memory_fd = object->memory.fd,
		.epoch.geometry = *geometry,
		.ended = on_written,
		.subject = rotation,
	};
	strcpy(rotation->writer.epoch.store, object->name);
	strcpy(rotation->writer.epoch.schema, plan->schema);
	ret = epoch_folder__open(&rotation->folder, state, object->name, error);
	if (!ret && (open_stores(rotation) || open_timers(rotation, loop)))
		ret = dart_error__no_memory(error);
	ret = ret ?: epoch_writer__open(&rotation->writer, loop, error);
	if (ret) {
		free_parts(rotation);
		return ret;
	}
	epoch_folder__tidy(&rotation->folder);
	/* No reporter of an earlier dartd reaches the bank that it left full, or half cleared. */
	if (!epoch_memory__is_clear(&rotation->memory))
		start_writer(rotation, false);
	begin_period(rotation, left_of_period(rotation));
	wait_for_end(rotation);
	*result = rotation;
	return 0;
}

void rotation__close(struct rotation *rotation)
{
	if (!rotation)
		return;
	epoch_writer__close(&rotation->writer);
	free_parts(rotation);
}

/* ---- replies */

json_t *rotation__to_json(const struct rotation *rotation)
{
	const struct rotation_plan *plan = &rotation->plan;

	return json_pack("{s:I, s:I, s:o*, s:o*, s:o*, s:o*, s:s*, s:b, s:I, s:I, s:I, s:I, s:I}",
			 "bank", (json_int_t)rotation->memory.state->current, "since_ns",
			 (json_int_t)epoch_memory__current(&rotation->memory)->since_ns,
			 "period_ns", plan->period_ns ? json_integer(plan->period_ns) : NULL,
			 "reports", plan->reports ? json_integer(plan->reports) : NULL, "keep_ns",
			 plan->keep_ns ? json_integer(plan->keep_ns) : NULL, "keep_bytes",
			 plan->keep_bytes ? json_integer(plan->keep_bytes) : NULL, "schema",
			 *plan->schema ? plan->schema : NULL, "falling", plan->falls, "redundancy",
			 (json_int_t)rotation->redundancy, "written",
			 (json_int_t)rotation->counts.written, "lost",
			 (json_int_t)rotation->counts.lost, "late",
			 (json_int_t)rotation->counts.late, "late_slots",
			 (json_int_t)rotation->counts.late_slots);
}

/* The epoch of a bank as of one moment: a thread may clear the bank. */
static struct epoch_item bank_item(const struct rotation *rotation, uint32_t bank)
{
	const struct dart_epoch_bank *state = &rotation->memory.state->banks[bank];

	return (struct epoch_item){
		.until_ns = state->until_ns,
		.since_ns = __atomic_load_n(&state->since_ns, __ATOMIC_ACQUIRE),
		.bytes = rotation->memory.length,
	};
}

int rotation__select(struct rotation *rotation, uint64_t since_ns, uint64_t until_ns,
		     epoch_index_take *take, void *argument, struct dart_error *error)
{
	/* Before the files: an epoch that leaves its bank meanwhile is listed all the same. */
	const struct epoch_item banks[DART_EPOCH_BANKS] = {
		bank_item(rotation, 0),
		bank_item(rotation, 1),
	};
	int ret;

	ret = epoch_index__refresh(&rotation->index, error);
	if (ret)
		return ret;
	ret = epoch_index__select(&rotation->index, banks, since_ns, until_ns, take, argument);
	return ret < 0 ? dart_error__no_memory(error) : 0;
}

static int append(void *list, const struct epoch_item *item, int bank)
{
	reply__append(list, json_pack("{s:I, s:o, s:s, s:o*}", "since_ns",
				      (json_int_t)item->since_ns, "until_ns",
				      item->until_ns ? json_integer(item->until_ns) : json_null(),
				      "in", bank < 0 ? "file" : "memory", "bank",
				      bank < 0 ? NULL : json_integer(bank)));
	return *(json_t **)list ? 0 : -ENOMEM;
}

json_t *rotation__list(struct rotation *rotation, uint64_t since_ns, uint64_t until_ns,
		       struct dart_error *error)
{
	json_t *list = json_array();

	if (rotation__select(rotation, since_ns, until_ns, append, &list, error)) {
		json_decref(list);
		return NULL;
	}
	return list;
}

int rotation__read(struct rotation *rotation, uint64_t since_ns, struct dart_error *error)
{
	const struct epoch_item *item;
	int ret = epoch_index__refresh(&rotation->index, error);

	if (ret)
		return ret;
	item = epoch_index__find(&rotation->index, since_ns);
	if (!item)
		return dart_error__set(error, ENOENT, "no file has an epoch that began then");
	return epoch_folder__read(&rotation->folder, item, error);
}
