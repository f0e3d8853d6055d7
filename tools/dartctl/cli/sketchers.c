// SPDX-License-Identifier: GPL-2.0-only
/* The sketchers of a sketch whose strips a translator adds up, see sketchers.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sketchers.h"

static int compare(const void *a, const void *b)
{
	const struct sketchers_source *left = a, *right = b;
	const uint32_t first = ntohl(left->address.s_addr), second = ntohl(right->address.s_addr);

	return (first > second) - (first < second);
}

static bool is_same_sketch(const struct dart_sketch_target *a, const struct dart_sketch_target *b)
{
	return !strcmp(a->collector.name, b->collector.name) &&
	       a->collector.ip.s_addr == b->collector.ip.s_addr &&
	       !memcmp(&a->geometry, &b->geometry, sizeof(a->geometry));
}

/* Separates the translator from its sketchers, which get their numbers in order of address. */
static int take(struct sketchers *sketchers, const char *path, struct in_addr address,
		const struct dart_sketch_target *targets, uint32_t count, struct dart_error *error)
{
	const struct dart_sketch_target *own = NULL;
	struct sketchers_source *sources = sketchers->sources;
	uint32_t i;

	sketchers->count = 0;
	for (i = 0; i < count; i++) {
		if (targets[i].collector.reporter.s_addr == address.s_addr) {
			own = &targets[i];
			continue;
		}
		sources[sketchers->count++] = (struct sketchers_source){
			targets[i].collector.reporter, targets[i].collector.qpn,
		};
	}
	if (!own)
		/* Says how to add it. */
		return dart_sketch_target__load(path, address, &sketchers->target, error);
	if (!sketchers->count)
		return dart_error__set(error, EINVAL,
				       "%s: sketch '%s' has no sketcher but this translator (dartctl sketcher add)",
				       path, own->collector.name);
	for (i = 0; i < count; i++)
		if (!is_same_sketch(own, &targets[i]))
			return dart_error__set(error, EINVAL, "%s: it has several sketches", path);
	sketchers->target = *own;
	qsort(sources, sketchers->count, sizeof(sources[0]), compare);
	for (i = 1; i < sketchers->count; i++)
		if (sources[i].address.s_addr == sources[i - 1].address.s_addr)
			return dart_error__set(error, EINVAL, "%s: a sketcher has several parts",
					       path);
	return 0;
}

int sketchers__load(const char *path, struct in_addr address, struct sketchers *sketchers,
		    struct dart_error *error)
{
	struct dart_sketch_target targets[DART_SKETCH_PARTS_MAX];
	uint32_t count;

	return dart_sketch_target__load_all(path, targets, &count, error) ?:
	       take(sketchers, path, address, targets, count, error);
}
