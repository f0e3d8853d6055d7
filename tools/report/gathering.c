// SPDX-License-Identifier: GPL-2.0-only
/* Passes reports from a translator of postcards to the interface. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <libdart/clock.h>

#include "gathering.h"

int gathering__open(struct gathering *gathering, const struct options *options,
		    const struct dart_collectors *collectors, struct dart_error *error)
{
	/* All stores have values of one length. */
	const uint32_t places = collectors->list[0].geometry.value_length / sizeof(uint32_t);
	int ret;

	gathering->all_copies = options->all_copies;
	ret = dart_translator__new(options->rows_log2, places, options->age_ns,
				   &gathering->translator);
	return ret ? dart_error__set(error, -ret, "cannot gather postcards: %s", strerror(-ret)) :
		     0;
}

void gathering__close(struct gathering *gathering)
{
	dart_translator__free(gathering->translator);
}

static int gathering__report(struct gathering *gathering,
			     const struct dart_translator_report *report,
			     struct dart_report_builder *builder,
			     struct dart_packet_socket *socket)
{
	uint32_t copy = DART_REPORT_ANY_COPY, end = copy;
	const struct dart_collector *collector;
	struct dart_store_place place;
	size_t length;
	int ret;

	collector = dart_report_builder__find(builder, report->key, report->key_length, &place);
	if (!collector) {
		gathering->unassigned++;
		return 0;
	}
	if (!report->is_complete) {
		copy = report->number % collector->geometry.redundancy;
		end = copy;
	} else if (gathering->all_copies) {
		copy = 0;
		end = collector->geometry.redundancy - 1;
	}
	do {
		length = dart_report_builder__report(builder, &place, copy, report->value,
						     dart_packet_socket__next(socket));
		ret = dart_packet_socket__push(socket, length);
	} while (!ret && copy++ != end);
	return ret;
}

/* Reports rows whose time has passed at @ns. */
static int gathering__expire(struct gathering *gathering, uint64_t ns,
			     struct dart_report_builder *builder, struct dart_packet_socket *socket)
{
	struct dart_translator_report report;
	int ret = 0;

	while (!ret && dart_translator__expire(gathering->translator, ns, &report))
		ret = gathering__report(gathering, &report, builder, socket);
	return ret;
}

int gathering__add(struct gathering *gathering, const struct dart_postcard *postcard, uint64_t ns,
		   struct dart_report_builder *builder, struct dart_packet_socket *socket)
{
	struct dart_translator_report reports[DART_TRANSLATOR_REPORTS_MAX];
	int ret = gathering__expire(gathering, ns, builder, socket), due, i;

	gathering->last_ns = ns;
	gathering->last_at = dart_clock__ns(CLOCK_MONOTONIC);

	/* A postcard that is refused is counted, and causes no report. */
	due = ret ? 0 : dart_translator__add(gathering->translator, postcard, ns, reports);
	for (i = 0; !ret && i < due; i++)
		ret = gathering__report(gathering, &reports[i], builder, socket);
	/* The next postcard of a pipe may take long. */
	return ret ?: dart_packet_socket__flush(socket);
}

int gathering__idle(struct gathering *gathering, struct dart_report_builder *builder,
		    struct dart_packet_socket *socket)
{
	const uint64_t passed = dart_clock__ns(CLOCK_MONOTONIC) - gathering->last_at;

	if (!gathering->last_at)
		return 0;
	return gathering__expire(gathering, gathering->last_ns + passed, builder, socket) ?:
		       dart_packet_socket__flush(socket);
}

int gathering__finish(struct gathering *gathering, struct dart_report_builder *builder,
		      struct dart_packet_socket *socket)
{
	return gathering__expire(gathering, UINT64_MAX, builder, socket);
}
