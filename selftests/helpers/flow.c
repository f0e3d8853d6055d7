// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow KIND COUNT SEED INDEX: prints the key of one of dart-report's flows as arguments
 * of dartctl query, and in the next line the expected output of the query.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libdart/report/flows.h>

int main(int argc, char *argv[])
{
	struct dart_flows_options options = { .k = 8, .skew = 1 };
	char source[INET_ADDRSTRLEN], destination[INET_ADDRSTRLEN];
	struct dart_flows *flows;
	struct dart_flow flow;
	uint16_t ports[2];
	uint32_t hop;

	if (argc == 5) {
		options.count = strtoull(argv[2], NULL, 10);
		options.seed = strtoull(argv[3], NULL, 10);
	}
	if (argc != 5 || dart_flows_kind__find(argv[1], &options.kind) ||
	    dart_flows__new(&options, &flows)) {
		fprintf(stderr, "usage: flow KIND COUNT SEED INDEX\n");
		return EXIT_FAILURE;
	}
	dart_flows__get(flows, strtoull(argv[4], NULL, 10), &flow);
	dart_flows__free(flows);

	inet_ntop(AF_INET, flow.key, source, sizeof(source));
	inet_ntop(AF_INET, flow.key + 4, destination, sizeof(destination));
	memcpy(ports, flow.key + 8, sizeof(ports));
	printf("--src %s --dst %s --sport %u --dport %u --proto %u\npath:", source, destination,
	       ntohs(ports[0]), ntohs(ports[1]), flow.key[12]);
	for (hop = flow.hops; hop; hop--)
		printf(" %u", ntohl(flow.path[hop - 1]));
	putchar('\n');
	return EXIT_SUCCESS;
}
