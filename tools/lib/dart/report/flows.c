// SPDX-License-Identifier: LGPL-2.1-or-later
/* Generates the flows of tests and load: see flows.h. */
#include <endian.h>
#include <errno.h>
#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "flows.h"
#include <libdart/random.h>

#define K_MAX		254
#define PORT_MIN	1024
#define PORTS		(UINT16_MAX - PORT_MIN + 1)

/* Each flow and each packet uses its own generator, separate by purpose. */
enum purpose { PURPOSE_FLOW, PURPOSE_PACKET };

/* A fat tree of k-port switches. */
struct tree {
	uint32_t half;		/* k / 2 */
	uint64_t hosts;
	/* flow i uses the pair of hosts (i * step + start) % pairs */
	uint64_t pairs;
	uint64_t step;		/* coprime to pairs */
	uint64_t start;
};

/* The constants of zipf__draw(). */
struct zipf {
	double first;
	double last;
	double near;
};

struct dart_flows {
	struct dart_flows_options options;
	union {
		struct tree tree;
		struct zipf zipf;
	};
};

int dart_flows_kind__find(const char *name, enum dart_flows_kind *kind)
{
	static const char *const names[] = {
		[DART_FLOWS_UNIFORM] = "uniform",
		[DART_FLOWS_ZIPF] = "zipf",
		[DART_FLOWS_FAT_TREE] = "fat-tree",
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name))
			continue;
		*kind = i;
		return 0;
	}
	return -EINVAL;
}

/* One of 2^64 generators for each seed, purpose and number. */
static struct dart_random random_of(const struct dart_flows *flows,
				    enum purpose purpose, uint64_t number)
{
	struct dart_random seed = dart_random__of(flows->options.seed + purpose);
	struct dart_random random = dart_random__of(dart_random__next(&seed) ^ number);

	return dart_random__of(dart_random__next(&random));
}

/* ---- fat trees */

static uint64_t tree__hosts(uint64_t k)
{
	return k * k * k / 4;
}

static uint64_t common_factor(uint64_t a, uint64_t b)
{
	uint64_t rest;

	for (; b; a = b, b = rest)
		rest = a % b;
	return a;
}

static void tree__init(struct tree *tree, uint64_t k, uint64_t seed)
{
	struct dart_random random = dart_random__of(seed);

	tree->half = k / 2;
	tree->hosts = tree__hosts(k);
	tree->pairs = tree->hosts * (tree->hosts - 1);
	tree->start = dart_random__below(&random, tree->pairs);
	do
		tree->step = dart_random__below(&random, tree->pairs);
	while (common_factor(tree->pairs, tree->step) != 1);
}

struct host {
	uint32_t pod;
	uint32_t edge;		/* edge switch in the pod */
	uint32_t number;	/* host at the switch */
};

static struct host tree__host(const struct tree *tree, uint64_t index)
{
	return (struct host){
		.pod = index / (tree->half * tree->half),
		.edge = index / tree->half % tree->half,
		.number = index % tree->half,
	};
}

static __be32 address(uint32_t second, uint32_t third, uint32_t fourth)
{
	return htobe32(10 << 24 | second << 16 | third << 8 | fourth);
}

/* Aggregation switches lie above the edge switches. */
static __be32 tree__aggregation(const struct tree *tree, uint32_t pod, uint32_t up)
{
	return address(pod, tree->half + up, 1);
}

static void put_key(struct dart_flow *flow, __be32 source, __be32 destination,
		    uint16_t source_port, uint16_t destination_port)
{
	const __be16 ports[] = {
		htobe16(source_port), htobe16(destination_port),
	};

	memcpy(flow->key, &source, 4);
	memcpy(flow->key + 4, &destination, 4);
	memcpy(flow->key + 8, ports, 4);
	flow->key[12] = IPPROTO_UDP;
}

/* Flows of one pair of hosts differ in the source port. */
static void tree__get(const struct tree *tree, uint64_t index,
		      struct dart_random *random, struct dart_flow *flow)
{
	const uint64_t pair = ((unsigned __int128)index * tree->step + tree->start) % tree->pairs;
	const uint64_t source_index = pair / (tree->hosts - 1);
	uint64_t destination_index = pair % (tree->hosts - 1);
	struct host source, destination;
	/* An aggregation switch, and a core switch above it. */
	const uint32_t up = dart_random__below(random, tree->half);
	const uint32_t core = dart_random__below(random, tree->half);
	uint32_t hop = 0;

	destination_index += destination_index >= source_index;
	source = tree__host(tree, source_index);
	destination = tree__host(tree, destination_index);
	put_key(flow, address(source.pod, source.edge, source.number + 2),
		address(destination.pod, destination.edge, destination.number + 2),
		PORT_MIN + (index / tree->pairs + pair) % PORTS,
		PORT_MIN + dart_random__below(random, PORTS));

	flow->path[hop++] = address(destination.pod, destination.edge, 1);
	if (source.pod != destination.pod) {
		flow->path[hop++] = tree__aggregation(tree, destination.pod, up);
		flow->path[hop++] = address(2 * tree->half, up + 1, core + 1);
	}
	if (source.pod != destination.pod || source.edge != destination.edge) {
		flow->path[hop++] = tree__aggregation(tree, source.pod, up);
		flow->path[hop++] = address(source.pod, source.edge, 1);
	}
	flow->hops = hop;
}

/* ---- random keys */

/*
 * The first number of the generator differs for each flow, because all steps to
 * it are invertible; the key contains all 64 bits of it, so it differs as well.
 */
static void random__get(struct dart_random *random, struct dart_flow *flow)
{
	const uint64_t unique = dart_random__next(random);
	uint32_t hop;

	put_key(flow, address(unique >> 56, unique >> 48 & 255, unique >> 40 & 255),
		address(unique >> 32 & 255, unique >> 24 & 255, unique >> 16 & 255),
		unique & UINT16_MAX, dart_random__next(random) & UINT16_MAX);
	flow->hops = 1 + dart_random__below(random, DART_FLOW_HOPS_MAX);
	for (hop = 0; hop < flow->hops; hop++)
		flow->path[hop] = htobe32(1 + dart_random__below(random, UINT32_MAX));
}

/* ---- Zipf */

/* The integral of 1 / x^skew from 1, and its inverse. */
static double integral(double x, double skew)
{
	const double rest = 1 - skew;

	return rest ? expm1(rest * log(x)) / rest : log(x);
}

static double integral_inverse(double y, double skew)
{
	const double rest = 1 - skew;

	return exp(rest ? log1p(y * rest) / rest : y);
}

static void zipf__init(struct zipf *zipf, uint64_t count, double skew)
{
	zipf->first = integral(1.5, skew) - 1;
	zipf->last = integral(count + .5, skew);
	zipf->near = 2 - integral_inverse(integral(2.5, skew) - pow(2, -skew), skew);
}

/*
 * Rejection-inversion (Hoermann, Derflinger: "Rejection-inversion to generate
 * variates from monotone discrete distributions", TOMACS 1996), without a
 * table.
 */
static uint64_t zipf__draw(const struct zipf *zipf, uint64_t count,
			   double skew, struct dart_random *random)
{
	double y, x, rank;

	do {
		y = zipf->last + dart_random__fraction(random) * (zipf->first - zipf->last);
		x = integral_inverse(y, skew);
		rank = fmin(fmax(round(x), 1), count);
	} while (rank - x > zipf->near && y < integral(rank + .5, skew) - pow(rank, -skew));
	return rank;
}

/* ---- all kinds */

uint64_t dart_flows__max(const struct dart_flows_options *options)
{
	uint64_t hosts;

	if (options->kind != DART_FLOWS_FAT_TREE)
		return UINT64_C(1) << 48;
	if (options->k < 2 || options->k > K_MAX || options->k % 2)
		return 0;
	hosts = tree__hosts(options->k);
	return hosts * (hosts - 1) * PORTS;
}

int dart_flows__new(const struct dart_flows_options *options, struct dart_flows **result)
{
	struct dart_flows *flows;

	if (!options->count || options->count > dart_flows__max(options) ||
	    (options->kind == DART_FLOWS_ZIPF &&
	     !(options->skew >= DART_FLOWS_SKEW_MIN && options->skew <= DART_FLOWS_SKEW_MAX)))
		return -EINVAL;
	flows = malloc(sizeof(*flows));
	if (!flows)
		return -ENOMEM;
	flows->options = *options;
	if (options->kind == DART_FLOWS_FAT_TREE)
		tree__init(&flows->tree, options->k, options->seed);
	else if (options->kind == DART_FLOWS_ZIPF)
		zipf__init(&flows->zipf, options->count, options->skew);
	*result = flows;
	return 0;
}

void dart_flows__free(struct dart_flows *flows)
{
	free(flows);
}

void dart_flows__get(const struct dart_flows *flows, uint64_t index, struct dart_flow *flow)
{
	struct dart_random random = random_of(flows, PURPOSE_FLOW, index);

	memset(flow, 0, sizeof(*flow));
	if (flows->options.kind == DART_FLOWS_FAT_TREE)
		tree__get(&flows->tree, index, &random, flow);
	else
		random__get(&random, flow);
}

uint64_t dart_flows__of_packet(const struct dart_flows *flows, uint64_t packet)
{
	const struct dart_flows_options *options = &flows->options;
	struct dart_random random;

	if (options->kind != DART_FLOWS_ZIPF)
		return packet % options->count;
	random = random_of(flows, PURPOSE_PACKET, packet);
	return zipf__draw(&flows->zipf, options->count, options->skew, &random) - 1;
}
