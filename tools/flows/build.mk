# SPDX-License-Identifier: GPL-2.0-only
# dart-flows: the flows of network functions begin, age and end.
programs += dart-flows
dart-flows_sources := $(wildcard tools/flows/*.c tools/flows/*/*.c) $(addprefix tools/doctor/, certificate.c findings.c)
dart-flows_libraries := dart
dart-flows_packages := jansson libsystemd libxxhash yaml-0.1

flows_policy := $(wildcard tools/flows/settings/*.c) tools/flows/packet/address.c
flows_function := $(flows_policy) $(wildcard tools/flows/function/*.c) \
	$(addprefix tools/flows/packet/, answer.c neighbour.c packet.c packet_ipv6.c \
	rewrite.c tunnel.c)
flows_tracking := $(flows_function) $(wildcard tools/flows/connection/*.c)
flows_nat := $(flows_function) tools/flows/connection/connection.c \
	$(wildcard tools/flows/nat/*.c)
flows_firewall := $(flows_tracking) $(wildcard tools/flows/firewall/*.c)
flows_balancer := $(flows_tracking) $(wildcard tools/flows/balancer/*.c)
flows_gateway := $(flows_function) $(wildcard tools/flows/gateway/*.c)
flows_packet := $(addprefix tools/flows/packet/, address.c answer.c neighbour.c packet.c \
	packet_ipv6.c rewrite.c \
	tunnel.c)
unit_flows_packet_sources := $(flows_packet)
unit_flows_packet_ipv6_sources := tools/flows/packet/fragments.c $(flows_packet)
unit_flows_neighbour_sources := tools/flows/packet/address.c tools/flows/packet/neighbour.c
unit_flows_fragments_sources := tools/flows/packet/fragments.c $(flows_packet)
unit_flows_shares_sources := tools/flows/packet/shares.c
unit_flows_policy_sources := $(flows_policy)
unit_flows_nat_sources := $(flows_nat)
unit_flows_nat_ageing_sources := $(flows_nat)
unit_flows_ageing_sources := $(flows_nat) tools/flows/packet/question.c
flows_journal := $(wildcard tools/flows/journal/*.c) tools/flows/packet/address.c
unit_flows_journal_sources := $(flows_journal)
unit_flows_journal_anew_sources := $(flows_journal)
threaded_tests += flows_journal_anew
unit_flows_firewall_sources := $(flows_firewall)
unit_flows_firewall6_sources := $(flows_firewall)
unit_flows_balancer_sources := $(flows_balancer)
unit_flows_balancer6_sources := $(flows_balancer)
unit_flows_gateway_sources := $(flows_gateway)
unit_flows_gateway6_sources := $(flows_gateway)
unit_flows_table_socket_sources := $(wildcard tools/flows/table/*.c)
unit_flows_table_remote_sources := $(wildcard tools/flows/table/*.c) $(unit_serve_tcp_sources)
unit_flows_maglev_sources := tools/flows/balancer/maglev.c
unit_flows_health_sources := $(flows_policy) tools/flows/health/health.c
