// SPDX-License-Identifier: GPL-2.0-only
/* Writes new collectors into the pinned maps of an XDP reporter. */
#include <bpf/bpf.h>
#include <endian.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pins.h"
#include "program.h"
#include "update.h"

struct update {
	int collectors, shares, reports, sequences, answers;	/* maps */
	struct reporter_reports *rows;		/* the mapping of reports */
	size_t length;				/* of the mapping, in bytes */
	struct xdp_setup setup;
	struct reporter_collector *now;		/* by number */
};

/* The beginning of struct dart_roce_headers. */
struct headers {
	struct ethhdr ethernet;
	struct iphdr ip;
} __attribute__((packed));

static const struct headers *headers_of(const struct reporter_collector *row)
{
	return (const struct headers *)row->constant;
}

static int refuse_other(const char *interface, struct dart_error *error)
{
	return dart_error__set(
		error, ENOENT,
		"another dartctl has attached the reporter (dartctl xdp detach %s, and attach it again)",
		interface);
}

static int open_map(const char *interface, const char *pin, size_t value_size, uint32_t *entries,
		    int *fd, struct dart_error *error)
{
	*fd = xdp_pins__open_map(interface, pin, value_size, entries);
	if (*fd >= 0)
		return 0;
	if (!xdp_pins__exist(interface))
		return dart_error__set(error, ENOENT, "no XDP reporter is attached to '%s'",
				       interface);
	if (*fd == -ENOENT || *fd == -EPROTO)
		return refuse_other(interface, error);
	return dart_error__system(error, -*fd, "cannot open its map '%s'", pin);
}

static void update__close(struct update *update)
{
	if (update->rows)
		munmap(update->rows, update->length);
	free(update->now);
	if (update->answers >= 0)
		close(update->answers);
	if (update->sequences >= 0)
		close(update->sequences);
	if (update->reports >= 0)
		close(update->reports);
	if (update->shares >= 0)
		close(update->shares);
	if (update->collectors >= 0)
		close(update->collectors);
}

static int update__open(struct update *update, const char *interface,
			const struct xdp_targets *targets, struct dart_error *error)
{
	const struct dart_collectors *collectors = targets->collectors;
	uint32_t count = 0, reports = 0, i;
	void *rows;
	int ret;

	*update = (struct update){
		.collectors = -1,
		.shares = -1,
		.reports = -1,
		.sequences = -1,
		.answers = -1,
		.setup.collectors = *collectors,
	};
	ret = open_map(interface, XDP_PIN_COLLECTORS, sizeof(*update->now), &count,
		       &update->collectors, error) ?:
		      open_map(interface, XDP_PIN_SHARES, sizeof(struct reporter_share), NULL,
			       &update->shares, error) ?:
		      open_map(interface, XDP_PIN_REPORTS, sizeof(*update->rows), &reports,
			       &update->reports, error) ?:
		      open_map(interface, XDP_PIN_SEQUENCES, sizeof(struct reporter_sequence), NULL,
			       &update->sequences, error) ?:
		      open_map(interface, XDP_PIN_ANSWERS, sizeof(uint32_t), NULL,
			       &update->answers, error);
	if (!ret && reports != count)
		ret = refuse_other(interface, error);
	if (ret)
		goto close;
	if (count != collectors->count) {
		ret = dart_error__set(
			error, EINVAL,
			"the files have %u collectors instead of %u (dartctl xdp detach %s, and attach it again)",
			collectors->count, count, interface);
		goto close;
	}
	update->now = calloc(collectors->count, sizeof(*update->now));
	if (!update->now)
		ret = -ENOMEM;
	for (i = 0; !ret && i < count; i++)
		if (bpf_map_lookup_elem(update->collectors, &i, &update->now[i]))
			ret = -errno;
	if (!ret) {
		update->length = collectors->count * sizeof(*update->rows);
		rows = mmap(NULL, update->length, PROT_READ | PROT_WRITE,
			    MAP_SHARED, update->reports, 0);
		if (rows == MAP_FAILED)
			ret = -errno;
		else
			update->rows = rows;
	}
	if (!ret) {
		update->setup.journal = targets->journal;
		update->setup.sketch = targets->sketch;
		update->setup.out_interface = update->now->out_interface;
		memcpy(update->setup.out_mac, headers_of(update->now)->ethernet.h_source,
		       sizeof(update->setup.out_mac));
		return 0;
	}
	dart_error__system(error, -ret, "cannot read its maps");
close:
	update__close(update);
	return ret;
}

/* Refuses stores for which the program was not loaded. */
static int update__check(const struct update *update, const char *interface,
			 struct dart_error *error)
{
	const struct dart_collectors *collectors = &update->setup.collectors;
	struct reporter_collector row;
	uint32_t i;

	for (i = 0; i < collectors->count; i++) {
		xdp_program__collector_row(&update->setup, i, &row);
		if (strncmp(update->rows[i].store, collectors->list[i].name,
			    sizeof(update->rows[i].store)) ||
		    row.redundancy_max != update->now[i].redundancy_max ||
		    row.slots_log2 != update->now[i].slots_log2 ||
		    memcmp(&row.journal, &update->now[i].journal, sizeof(row.journal)) ||
		    row.kind != update->now[i].kind ||
		    headers_of(&row)->ip.tot_len != headers_of(&update->now[i])->ip.tot_len)
			return dart_error__set(
				error, EINVAL,
				"%s '%s' has another name or geometry (dartctl xdp detach %s, and attach it again)",
				update->setup.journal ? "journal" :
				update->setup.sketch  ? "sketch" : "store",
				collectors->list[i].name, interface);
		/* The program was loaded without a part that takes answers, or answers go nowhere. */
		if (row.is_reliable != update->now[i].is_reliable)
			return dart_error__set(
				error, EINVAL,
				"store '%s' has another transport (dartctl xdp detach %s, and attach it again)",
				collectors->list[i].name, interface);
		if (headers_of(&row)->ip.saddr != headers_of(&update->now[i])->ip.saddr)
			return dart_error__set(error, EINVAL,
					       "it was attached again with another source");
	}
	return 0;
}

static int update__set_share(const struct update *update, uint32_t number,
			     const struct reporter_share *share)
{
	return bpf_map_update_elem(update->shares, &number, share, BPF_ANY) ? -errno : 0;
}

/* Takes all shares that collector @number has at present from it. */
static int update__vacate(const struct update *update, uint32_t number)
{
	const struct reporter_share none = { .collector = COLLECTOR_NONE };
	struct reporter_share share;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < DART_STORE_SHARES; i++) {
		if (bpf_map_lookup_elem(update->shares, &i, &share))
			return -errno;
		if (share.collector == number)
			ret = update__set_share(update, i, &none);
	}
	return ret;
}

/* Gives collector @number the shares that it is to have and nobody has. */
static int update__assign(const struct update *update, uint32_t number)
{
	const struct dart_collectors *collectors = &update->setup.collectors;
	struct reporter_share share;
	int ret = 0;
	uint32_t i;

	for (i = 0; !ret && i < DART_STORE_SHARES; i++) {
		if (collectors->shares[i] != number)
			continue;
		if (bpf_map_lookup_elem(update->shares, &i, &share))
			return -errno;
		if (share.collector != COLLECTOR_NONE)
			continue;
		xdp_program__share_row(&update->setup, i, &share);
		ret = update__set_share(update, i, &share);
	}
	return ret;
}

/* Moves shares, each in one step, to the collectors that are to have them. */
static int update__move_shares(const struct update *update, uint32_t *moved)
{
	struct reporter_share now, wanted;
	int ret = 0;
	uint32_t i;

	*moved = 0;
	for (i = 0; !ret && i < DART_STORE_SHARES; i++) {
		xdp_program__share_row(&update->setup, i, &wanted);
		if (bpf_map_lookup_elem(update->shares, &i, &now))
			return -errno;
		if (!memcmp(&now, &wanted, sizeof(now)))
			continue;
		ret = update__set_share(update, i, &wanted);
		*moved += !ret;
	}
	return ret;
}

/* Forgets where answers to @number came from, unless another collector has that queue pair. */
static int update__forget_source(const struct update *update, uint32_t number,
				 const struct reporter_source *former)
{
	uint32_t owner;

	if (bpf_map_lookup_elem(update->answers, former, &owner))
		return errno == ENOENT ? 0 : -errno;
	if (owner != number || !bpf_map_delete_elem(update->answers, former) || errno == ENOENT)
		return 0;
	return -errno;
}

/* Gives a reliable connection the next queue pair; its shares have left. */
static int update__reconnect(const struct update *update, uint32_t number)
{
	const struct dart_collector *collector = &update->setup.collectors.list[number];
	const struct reporter_source former = {
		update->rows[number].address[3], htobe32(update->rows[number].qpn),
	};
	const struct reporter_source source = xdp_program__source(collector);
	struct reporter_sequence now, row;
	int ret;

	if (bpf_map_lookup_elem_flags(update->sequences, &number, &now, BPF_F_LOCK))
		return -errno;
	xdp_program__sequence_row(collector, &now, &row);
	ret = update__forget_source(update, number, &former);
	if (ret)
		return ret;
	if (bpf_map_update_elem(update->sequences, &number, &row, BPF_F_LOCK) ||
	    bpf_map_update_elem(update->answers, &source, &number, BPF_ANY))
		return -errno;
	return 0;
}

/* Only the PSN changes; the counts in the row go on. */
static void update__restart(const struct update *update, uint32_t number)
{
	const struct dart_collector *collector = &update->setup.collectors.list[number];
	volatile struct reporter_reports *row = &update->rows[number];

	row->first_psn = (collector->first_psn - row->reports) & 0xffffff;
	row->qpn = collector->qpn;
	row->address[3] = collector->ip.s_addr;
}

static int update__replace(const struct update *update, uint32_t number,
			   const struct reporter_collector *row)
{
	int ret = update__vacate(update, number);

	if (!ret && row->is_reliable)
		ret = update__reconnect(update, number);
	if (ret)
		return ret;
	update__restart(update, number);
	if (bpf_map_update_elem(update->collectors, &number, row, BPF_ANY))
		return -errno;
	return update__assign(update, number);
}

/* Does the collector have the memory of @row, in whichever place? */
static bool has_memory(const struct update *update, uint32_t number,
		       const struct reporter_collector *row)
{
	const struct reporter_collector *now = &update->now[number];

	return !memcmp(&now->memories[now->current & 1], &row->memories[0],
		       sizeof(row->memories[0]));
}

static bool has_frame(const struct update *update, uint32_t number,
		      const struct reporter_collector *row)
{
	return !memcmp(update->now[number].constant, row->constant, sizeof(row->constant));
}

/* Gives the same queue pair the memory of @row, which no report misses: see xdp_reporter.h. */
static int update__turn(const struct update *update, uint32_t number,
			const struct reporter_collector *row)
{
	struct reporter_collector turned = update->now[number];
	const uint32_t other = !(turned.current & 1);

	turned.memories[other] = row->memories[0];
	if (bpf_map_update_elem(update->collectors, &number, &turned, BPF_ANY))
		return -errno;
	turned.current = other;
	return bpf_map_update_elem(update->collectors, &number, &turned, BPF_ANY) ? -errno : 0;
}

/*
 * Has an interrupted update left shares of the collector without one?  @last: the collectors before,
 * or NULL; a share that nobody had before only moves.
 */
static bool is_interrupted(const struct update *update, uint32_t number,
			   const struct dart_collectors *last)
{
	const struct dart_collectors *collectors = &update->setup.collectors;
	struct reporter_share share;
	uint32_t i;

	for (i = 0; i < DART_STORE_SHARES; i++)
		if (collectors->shares[i] == number && (!last || last->shares[i] == number) &&
		    (bpf_map_lookup_elem(update->shares, &i, &share) ||
		     share.collector == COLLECTOR_NONE))
			return true;
	return false;
}

/* A queue pair of the same number is another one in another epoch. */
static bool is_same_queue_pair(const struct dart_collector *last, const struct dart_collector *now)
{
	return last->epoch == now->epoch && last->first_psn == now->first_psn;
}

/* Only of a reliable connection the program knows the first PSN. */
static bool has_first_psn(const struct update *update, uint32_t number)
{
	struct reporter_sequence row;

	return !update->now[number].is_reliable ||
	       (!bpf_map_lookup_elem(update->sequences, &number, &row) &&
		row.first_psn == update->setup.collectors.list[number].first_psn);
}

int xdp_update__find_source(const char *interface, struct in_addr *source, struct dart_error *error)
{
	struct reporter_collector row;
	uint32_t zero = 0;
	int map, ret;

	ret = open_map(interface, XDP_PIN_COLLECTORS, sizeof(row), NULL, &map, error);
	if (ret)
		return ret;
	if (bpf_map_lookup_elem(map, &zero, &row))
		ret = dart_error__system(error, errno, "cannot read its maps");
	else
		source->s_addr = headers_of(&row)->ip.saddr;
	close(map);
	return ret;
}

int xdp_update(const char *interface, const struct xdp_targets *targets,
	       const struct dart_collectors *last,
	       void (*changed)(void *argument, uint32_t old_qpn,
			       const struct dart_collector *collector),
	       void *argument, uint32_t *moved, struct dart_error *error)
{
	const struct dart_collectors *collectors = targets->collectors;
	struct reporter_collector row;
	struct update update;
	uint32_t i, old_qpn;
	bool goes_on;
	int ret;

	ret = update__open(&update, interface, targets, error);
	if (ret)
		return ret;
	ret = update__check(&update, interface, error);
	for (i = 0; !ret && i < collectors->count; i++) {
		xdp_program__collector_row(&update.setup, i, &row);
		goes_on = has_frame(&update, i, &row) && has_first_psn(&update, i) &&
			  (!last || is_same_queue_pair(&last->list[i], &collectors->list[i])) &&
			  !is_interrupted(&update, i, last);
		if (goes_on && has_memory(&update, i, &row))
			continue;
		old_qpn = update.rows[i].qpn;
		ret = goes_on && last ? update__turn(&update, i, &row) :
					update__replace(&update, i, &row);
		if (ret)
			dart_error__system(error, -ret, "cannot change its maps");
		else
			changed(argument, old_qpn, &collectors->list[i]);
	}
	if (!ret) {
		ret = update__move_shares(&update, moved);
		if (ret)
			dart_error__system(error, -ret, "cannot change its shares");
	}
	update__close(&update);
	return ret;
}
