/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The port of the switch that packets without an entry come to: a packet socket on an interface,
 * for frames with some EtherTypes that other hosts sent, to whatever Ethernet address.
 */
#ifndef FLOWS_PORT_H
#define FLOWS_PORT_H

#include <libdart/error.h>

#include "packet.h"

/* Frames that are taken, or sent, at once; bytes of the longest one. */
#define PORT_FRAMES 64
#define PORT_FRAME_MAX 9728
/* Bytes that the queue of a port should have: frames wait there while the daemon is busy. */
#define PORT_QUEUE (8 << 20)

struct port_frame {
	uint8_t *bytes;
	size_t length;
	bool has_partial_checksum; /* a sender on this host leaves it to its adapter */
	bool is_tagged; /* by a VLAN */
	bool is_for_many; /* to a group of Ethernet addresses, or to all */
	bool is_long; /* only its beginning is in @bytes */
};

struct port;

#define PORT_TYPES 3

/*
 * For frames with one of these EtherTypes; 0: none.  If they may have tags, those are in the bytes
 * of the frames.  Returns 0, or -errno with a sentence in @error.
 */
int port__open(const char *interface, const uint16_t types[static PORT_TYPES], bool has_tags,
	       struct port **port, struct dart_error *error);
void port__close(struct port *port);
/*
 * Gives the queue of the packet socket @fd as much of PORT_QUEUE as the kernel allows: with
 * CAP_NET_ADMIN all of it, otherwise up to net.core.rmem_max.  Returns the bytes.
 */
int port__widen(int fd);
int port__fd(const struct port *port);
/* The Ethernet address of the interface. */
void port__mac(const struct port *port, uint8_t mac[static 6]);

/*
 * Takes the next frames; their bytes are the port's, may be changed and are valid until the next
 * call.  Returns their number, or -errno.
 */
int port__receive(struct port *port, struct port_frame frames[static PORT_FRAMES]);
/* Sends @count frames, at most PORT_FRAMES; returns how many it could not send. */
unsigned int port__send(struct port *port, const struct packet *packets, unsigned int count);
/* Frames that came while the queue of the socket was full, so far. */
uint64_t port__overrun(struct port *port);
/* Bytes of the longest packet that can be sent; UINT16_MAX: unknown. */
uint16_t port__mtu(const struct port *port);
/* Is the interface, by its name, still the one that the port was opened on? */
bool port__is_there(const struct port *port);

#endif /* FLOWS_PORT_H */
