/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sends frames through an Ethernet interface at a limited rate, past all
 * queueing disciplines.  Needs CAP_NET_RAW.
 */
#ifndef DART_PACKET_SOCKET_H
#define DART_PACKET_SOCKET_H

#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

#include <libdart/error.h>

#define DART_PACKET_SOCKET_FRAME_MAX 1280 /* bytes */

struct dart_packet_socket;

/* @rate: frames/s, 0 for no limit.  Returns 0, or sets @error, and -errno. */
int dart_packet_socket__open(const char *interface, uint64_t rate,
			     struct dart_packet_socket **socket, struct dart_error *error);
void dart_packet_socket__close(struct dart_packet_socket *socket);

const uint8_t *dart_packet_socket__mac(const struct dart_packet_socket *socket);
/* The first IPv4 address of the interface, 0.0.0.0 if there is none. */
struct in_addr dart_packet_socket__address(const struct dart_packet_socket *socket);

/*
 * The room for the next frame, DART_PACKET_SOCKET_FRAME_MAX bytes; and a call
 * that queues it with its @length, and sends a full batch.  Returns 0 or
 * -errno, which may be of earlier frames.
 */
uint8_t *dart_packet_socket__next(struct dart_packet_socket *socket);
int dart_packet_socket__push(struct dart_packet_socket *socket, size_t length);
/*
 * Sends all frames that were pushed.  Waits while the queue of the interface is full, and for its
 * carrier; returns 0 or -errno: -ENETDOWN if the carrier stays away for five seconds.
 */
int dart_packet_socket__flush(struct dart_packet_socket *socket);

/* Frames sent, and how often the queue of the interface was full. */
uint64_t dart_packet_socket__sent(const struct dart_packet_socket *socket);
uint64_t dart_packet_socket__refusals(const struct dart_packet_socket *socket);

#endif /* DART_PACKET_SOCKET_H */
