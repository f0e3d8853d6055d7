/* SPDX-License-Identifier: GPL-2.0-only */
/* The policy of dart-flows, a YAML file: see dart-flows.yaml(5). */
#ifndef FLOWS_POLICY_H
#define FLOWS_POLICY_H

#include <dart/tea_access.h>
#include <libdart/configuration/prefix.h>
#include <libdart/error.h>
#include <net/if.h>

#include "tools/flows/packet/packet.h"
#include "tools/flows/packet/tunnel.h"

#define POLICY_FILE "/etc/dart/flows.yaml"

#define POLICY_ADDRESSES_MAX 4096 /* of all pools */
#define POLICY_STATIC_MAX 65536
#define POLICY_ROUTES_MAX 1024
#define POLICY_NEIGHBOURS_MAX 256
#define POLICY_MTU_MIN 576 /* bytes that each host takes (RFC 791) */
#define POLICY_ZONES_MAX 64
#define POLICY_RANGES_MAX 4096 /* of all zones */
#define POLICY_RULES_MAX 1024
#define POLICY_PORTS_MAX 4096 /* ranges of ports of all rules */
#define POLICY_ZONE_NAME_MAX 32
#define POLICY_SERVICES_MAX 256
#define POLICY_SERVERS_MAX 1024 /* of all services */
#define POLICY_WEIGHT_MAX 256
#define POLICY_TENANTS_MAX 4096
#define POLICY_MACHINES_MAX 65536 /* of all tenants */

/* Classes of flows, which have time-outs of their own. */
enum policy_class { POLICY_TCP, POLICY_UDP, POLICY_ICMP, POLICY_CLASSES };
/* Connections of TCP that open or close have another one. */
enum { POLICY_TRANSITORY = POLICY_CLASSES, POLICY_TIMEOUTS };

enum policy_class policy__class(uint8_t protocol);
/* "tcp", "udp" or "icmp" */
const char *policy__protocol_name(uint8_t protocol);
/* Its protocol; 0: there is no such name. */
uint8_t policy__protocol(const char *name);

/* An address that flows get, with the ports that are allocated to them. */
struct policy_address {
	address_t address;
	uint16_t first, last;
};

struct policy_static {
	uint8_t protocol;
	struct end inside, outside;
};

struct policy_route {
	struct address_range range;
	uint8_t mac[PACKET_MAC_LENGTH];
	uint64_t mtu; /* bytes of the longest packet that the next hop takes; 0: not given */
};

/* An address of the switch that hosts ask for. */
struct policy_neighbour {
	address_t address;
	uint8_t mac[PACKET_MAC_LENGTH];
};

enum policy_function {
	POLICY_NAT,
	POLICY_FIREWALL,
	POLICY_BALANCER,
	POLICY_GATEWAY,
	POLICY_FUNCTIONS
};

extern const char *const policy_function_names[POLICY_FUNCTIONS];

/* ---- of a firewall */

/* What becomes of the first packet of a flow. */
enum policy_action { POLICY_ACCEPT, POLICY_DROP, POLICY_REJECT };

/* Addresses of a zone. */
struct policy_range {
	struct address_range range;
	int zone;
};

#define POLICY_ANY (-1) /* zone */

struct policy_ports {
	uint16_t first, last;
};

struct policy_rule {
	char from_name[POLICY_ZONE_NAME_MAX], to_name[POLICY_ZONE_NAME_MAX]; /* "": any */
	int from, to; /* zones */
	uint8_t protocol; /* 0: any */
	size_t first_port, port_count; /* among the ports of the policy; 0: any port */
	enum policy_action action;
};

/* ---- of a balancer */

struct policy_server {
	struct end end;
	size_t service; /* its number */
	uint32_t weight;
	bool is_draining; /* it gets no new flows */
};

/* Connections over TCP that tell whether a server is up. */
struct policy_check {
	bool is_given;
	uint16_t port; /* 0: that of the server */
	uint64_t interval_ns, timeout_ns;
	uint64_t rise, fall; /* so many results in turn change the state */
};

struct policy_service {
	uint8_t protocol; /* of TCP or UDP */
	struct end end; /* that clients know */
	size_t first_server, server_count; /* among the servers of the policy, in ascending order */
	struct policy_check check;
	bool ends_when_down; /* flows of a server that is down end */
};

/* ---- of a gateway */

/* A virtual network, and the gateway in it, which is answered for. */
struct policy_tenant {
	uint32_t vni;
	struct tunnel_host gateway;
	address_t ipv6; /* of the gateway; 0: none */
	size_t first_machine, machine_count; /* among the machines of the policy */
};

struct policy_machine {
	uint32_t address; /* of IPv4, in the network of its tenant */
	uint32_t vni; /* of the tunnel to */
	address_t server; /* which is of either family */
};

/* The dartd of another host, whose table the function has. */
struct policy_dartd {
	char *address; /* NULL: dartd is that of this host */
	char *name; /* in its certificate; NULL until it is the address */
	uint64_t port;
	/* Absolute paths of PEM files of this side; revoked may be NULL. */
	char *certificate, *key, *authorities, *revoked;
};

struct policy {
	/* A reload changes none of the eight. */
	enum policy_function function;
	bool has_ipv6; /* otherwise all addresses are of IPv4 */
	char interface[IFNAMSIZ];
	char table[DART_TEA_NAME_MAX];
	char *dartd; /* path of its socket */
	struct policy_dartd server;
	char *journal; /* path */
	uint64_t flows; /* at most */

	uint64_t rate; /* packets in a second */
	struct dart_prefixes inside;
	struct policy_address *addresses; /* in ascending order */
	size_t address_count;
	bool is_open; /* packets from any host to a mapping begin a flow */
	uint64_t ports_limit, flows_limit; /* of each subscriber */
	uint64_t timeout_ns[POLICY_TIMEOUTS];
	struct policy_static *statics;
	size_t static_count;
	struct policy_route *routes; /* the longest prefix is first */
	size_t route_count;

	struct policy_neighbour *neighbours;
	size_t neighbour_count;

	char (*zones)[POLICY_ZONE_NAME_MAX]; /* names */
	size_t zone_count;
	struct policy_range *ranges; /* the longest prefix is first */
	size_t range_count;
	struct policy_rule *rules; /* the first one that fits decides */
	size_t rule_count;
	struct policy_ports *ports;
	size_t port_count;
	struct policy_service *services; /* by address, port and protocol */
	size_t service_count;
	struct policy_server *servers;
	size_t server_count;
	char *tunnels; /* path of the file of tenants */
	struct policy_tenant *tenants; /* by VNI */
	size_t tenant_count;
	struct policy_machine *machines; /* of each tenant by their addresses */
	size_t machine_count;
	enum policy_action refusal; /* of packets without a rule, a server or a tunnel */
	uint64_t refusal_rate; /* answers in a second */
	address_t address; /* that errors come from; 0: see policy__own_address() */
	address_t address6; /* errors of ICMPv6; 0: there are none */
	uint64_t opening_limit; /* connections that open at a time */
	bool is_strict; /* packets come from the next hop of their source */
};

/*
 * Returns 0, or -errno with a sentence in @error; then there is nothing to free.  The tenants of a
 * gateway are read from their file, too.
 */
int policy__read(struct policy *policy, const char *path, struct dart_error *error);
/* The same from bytes; @path is for messages. */
int policy__parse(struct policy *policy, const void *bytes, size_t length, const char *path,
		  struct dart_error *error);
/* Gives the policy of a gateway its tenants, from the bytes of their file; likewise. */
int policy__parse_tunnels(struct policy *policy, const void *bytes, size_t length, const char *path,
			  struct dart_error *error);
void policy__clear(struct policy *policy);
/* -EINVAL with a sentence if @next differs in settings that need a restart. */
int policy__check_reload(const struct policy *now, const struct policy *next,
			 struct dart_error *error);

/* The address of a pool; NULL if it is in none. */
const struct policy_address *policy__find_address(const struct policy *policy, address_t address);
/* An address of IPv4. */
bool policy__is_inside(const struct policy *policy, address_t address);
/* The neighbour with this address; NULL: there is none. */
const struct policy_neighbour *policy__find_neighbour(const struct policy *policy,
						      address_t address);
/* The route of packets to @address; NULL: there is none. */
const struct policy_route *policy__route(const struct policy *policy, address_t address);
/*
 * The address of the daemon as a router: that of the policy, or of IPv4 the lowest one of the
 * pools; 0: it has none.
 */
address_t policy__own_address(const struct policy *policy, bool is_ipv6);
/* Should the frame come from the next hop of its source, and does not (RFC 3704, strict)? */
bool policy__is_spoofed(const struct policy *policy, const struct packet *packet);

/* What the rules say about a first packet; the port of an echo is none. */
enum policy_action policy__decide(const struct policy *policy, uint8_t protocol, address_t source,
				  const struct end *destination);

/* The service with this end; NULL: there is none. */
const struct policy_service *policy__find_service(const struct policy *policy, uint8_t protocol,
						  const struct end *end);
/* Has a service this address, whatever its port? */
bool policy__is_service(const struct policy *policy, address_t address);
/* The server of this service; NULL: it has none with this end. */
const struct policy_server *policy__find_server(const struct policy *policy,
						const struct policy_service *service,
						const struct end *end);

/* The tenant with this VNI; NULL: there is none. */
const struct policy_tenant *policy__find_tenant(const struct policy *policy, uint32_t vni);

#endif /* FLOWS_POLICY_H */
