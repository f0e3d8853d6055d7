// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose metrics controllers read: the entries shop/site, and shop/peer-N for each line of
 * its input.
 *
 *	cc -o shop shop.c $(pkg-config --cflags --libs libdartzero)
 */
#include <stdio.h>
#include <string.h>

#include <libdartzero/zero.h>

struct web {
	uint64_t requests;
	uint64_t bytes;
	uint32_t connections;
};
DART_ZERO_TYPE(web, struct web, DART_ZERO_COUNTER(struct web, requests, "requests"),
	       DART_ZERO_COUNTER(struct web, bytes, "bytes"),
	       DART_ZERO_GAUGE(struct web, connections, ""));

/* Type one: a variable. */
DART_ZERO struct web site;
DART_ZERO_VARIABLE(site, web);

int main(void)
{
	char line[256], name[32];
	int ret = dart_zero_start("shop", 1 << 20 >> 1);
	struct web *peer;

	/* The program works without dartd, and without the library's memory. */
	if (ret)
		fprintf(stderr, "the metrics are visible to this program only: %s\n", strerror(-ret));
	while (fgets(line, sizeof(line), stdin)) {
		/* Type two: an object. */
		snprintf(name, sizeof(name), "peer-%u", ++site.connections);
		peer = dart_zero_malloc(&dart_zero_web, name);
		if (!peer)
			return 1;
		peer->requests++;
		peer->bytes += strlen(line);
		site.requests++;
		site.bytes += strlen(line);
	}
	dart_zero_stop();
	return 0;
}
