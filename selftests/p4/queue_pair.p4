// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends each kind of request on command, for queue_pair.py.  A command is a frame with
 * the header command_h; a response to it becomes a frame with command_h to the commander.
 */
#include <core.p4>
#include <v1model.p4>

#define RDMA_NAME(register)	COMMANDED(.rdma_##register)
#define COMMANDED(text)		#text

#include "shared/rdma/headers.p4"

#define ETHERTYPE_COMMAND	16w0x88b6	/* for experiments (IEEE 802) */
#define SERVER_PORT		9w3
#define COMMANDER_PORT		9w1
#define TIMEOUT			32w1000000
#define PSNS_MAX		24w16

header command_h {
	bit<8> opcode;
	bit<8> verdict;		/* 255: no room for it */
	bit<16> reserved;
	bit<32> length;		/* of a READ or WRITE: up to 8 */
	bit<64> address;
	bit<64> swap_or_add;	/* or the data of a WRITE, or the value before */
	bit<64> compare;
}

header data_h {
	varbit<64> bytes;
}

struct headers_t {
	RDMA_HEADERS_IN_FRONT
	data_h data;
	ethernet_h ethernet;
	command_h command;
	RDMA_HEADERS_BEHIND
}

struct metadata_t {
	bit<32> residue;
	bit<24> psn;
	bool send;
	bool tell;
}

#include "shared/rdma/request.p4"
#include "v1model/rdma/icrc.p4"
#include "v1model/rdma/queue_pair.p4"

parser CommandParser(packet_in packet, out headers_t headers,
		     inout metadata_t metadata,
		     inout standard_metadata_t standard)
{
	state start {
		metadata.residue = RDMA_RESIDUE;
		transition select(packet.lookahead<bit<112>>()[15:0]) {
			ETHERTYPE_IPV4: response;
			default: other;
		}
	}

	state other {
		packet.extract(headers.ethernet);
		transition select(headers.ethernet.ethertype) {
			ETHERTYPE_COMMAND: command;
			default: accept;
		}
	}

	state command {
		packet.extract(headers.command);
		transition select(headers.command.opcode) {
			RDMA_WRITE_ONLY: data;
			RDMA_UC_WRITE_ONLY: data;
			default: accept;
		}
	}

	state data {
		packet.extract(headers.data, headers.command.length << 3);
		transition accept;
	}

	state response {
		packet.extract(headers.rdma_ethernet);
		packet.extract(headers.rdma_ipv4);
		packet.extract(headers.rdma_udp);
		packet.extract(headers.bth);
		packet.extract(headers.aeth);
		transition select(headers.bth.opcode) {
			RDMA_ATOMIC_ACKNOWLEDGE: atomic;
			default: accept;
		}
	}

	state atomic {
		packet.extract(headers.atomic_ack);
		transition accept;
	}
}

control CommandVerify(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_CHECK_ICRC(headers, metadata.residue, headers.aeth,
				headers.atomic_ack);
	}
}

control CommandIngress(inout headers_t headers, inout metadata_t metadata,
		       inout standard_metadata_t standard)
{
	WatchPeer() watch;
	ProbePeer() probe;
	TakePsns() take;
	TakeResponse() take_response;
	FreePsns() free;
	bit<8> state;
	bit<24> outstanding;
	bool due;
	bit<48> since;
	bit<24> probe_psn;
	bit<8> verdict;

	@name(".forward_to")
	action forward_to(bit<9> port)
	{
		standard.egress_spec = port;
	}

	@name(".forward")
	table forward {
		key = { headers.ethernet.destination : exact; }
		actions = { forward_to; NoAction; }
		default_action = NoAction;
	}

	apply {
		mark_to_drop(standard);
		metadata.send = false;
		metadata.tell = false;
		if (headers.bth.isValid()) {
			if (standard.checksum_error == 1)
				return;
			take_response.apply(headers, 0,
				standard.ingress_global_timestamp, verdict,
				probe_psn);
			if (verdict == VERDICT_DATA)
				free.apply(0, headers.bth.psn,
					   standard.ingress_global_timestamp);
			headers.ethernet.setValid();
			headers.ethernet.destination = 0x020000000001;
			headers.ethernet.source = 0;
			headers.ethernet.ethertype = ETHERTYPE_COMMAND;
			headers.command.setValid();
			headers.command.opcode = headers.bth.opcode;
			headers.command.verdict = verdict;
			headers.command.reserved = 0;
			headers.command.length = (bit<32>)headers.bth.psn;
			headers.command.address = 0;
			headers.command.swap_or_add = 0;
			headers.command.compare = 0;
			if (headers.atomic_ack.isValid())
				headers.command.swap_or_add =
					headers.atomic_ack.original;
			metadata.tell = true;
			standard.egress_spec = COMMANDER_PORT;
		} else if (headers.command.isValid()) {
			watch.apply(0, standard.ingress_global_timestamp,
				    TIMEOUT, state, outstanding, due, since,
				    probe_psn);
			if (due) {
				probe.apply(0, probe_psn,
					    standard.ingress_global_timestamp);
				headers.command.opcode = RDMA_WRITE_ONLY;
				headers.command.address = 0;
				headers.command.length = 0;
				headers.data.setInvalid();
				metadata.psn = probe_psn;
				metadata.send = true;
				standard.egress_spec = SERVER_PORT;
			} else if (state == PEER_UP && outstanding < PSNS_MAX) {
				take.apply(0, 1,
					   standard.ingress_global_timestamp,
					   metadata.psn);
				metadata.send = true;
				standard.egress_spec = SERVER_PORT;
			} else {
				headers.command.verdict = 255;
				standard.egress_spec = COMMANDER_PORT;
			}
		} else {
			forward.apply();
		}
	}
}

control CommandEgress(inout headers_t headers, inout metadata_t metadata,
		      inout standard_metadata_t standard)
{
	RdmaRequest() request;
	rdma_self_t self;
	rdma_peer_t peer = { 0, 0, 0, 0 };
	bit<8> acknowledge = RDMA_ACK_REQUEST;
	bit<32> frame_bytes;
	bit<32> crc;

	@name(".send_to")
	action send_to(bit<48> mac, bit<32> ip, bit<24> qpn, bit<32> rkey)
	{
		peer.mac = mac;
		peer.ip = ip;
		peer.qpn = qpn;
		peer.rkey = rkey;
	}

	@name(".server")
	table server {
		actions = { send_to; NoAction; }
		default_action = NoAction;
	}

	apply {
		if (metadata.tell) {
			headers.rdma_ethernet.setInvalid();
			headers.rdma_ipv4.setInvalid();
			headers.rdma_udp.setInvalid();
			headers.bth.setInvalid();
			headers.aeth.setInvalid();
			headers.atomic_ack.setInvalid();
			truncate(14 + 32);
		}
		if (!metadata.send)
			return;
		server.apply();
		self.mac = 0x02000a000002;
		self.ip = 0x0a000002;
		if (headers.command.opcode == RDMA_FETCH_ADD ||
		    headers.command.opcode == RDMA_COMPARE_SWAP) {
			headers.atomic_eth.setValid();
			headers.atomic_eth.swap_or_add =
				headers.command.swap_or_add;
			headers.atomic_eth.compare = headers.command.compare;
		}
		if (headers.command.opcode == RDMA_UC_WRITE_ONLY ||
		    headers.command.opcode == RDMA_READ_REQUEST)
			acknowledge = 0;
		request.apply(headers, self, peer, DART_TEA_UDP_SOURCE,
			      headers.command.opcode, metadata.psn, acknowledge,
			      headers.command.address, headers.command.length,
			      frame_bytes);
		headers.ethernet.setInvalid();
		headers.command.setInvalid();
		RDMA_SET_ICRC(headers, crc, headers.reth, headers.atomic_eth,
			      headers.data);
		truncate(frame_bytes);
	}
}

control CommandCompute(inout headers_t headers, inout metadata_t metadata)
{
	apply {
		RDMA_UPDATE_IPV4(headers);
	}
}

control CommandDeparser(packet_out packet, in headers_t headers)
{
	apply {
		packet.emit(headers);
	}
}

V1Switch(CommandParser(), CommandVerify(), CommandIngress(), CommandEgress(),
	 CommandCompute(), CommandDeparser()) main;
