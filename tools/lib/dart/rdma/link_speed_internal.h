/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The speed of a port, from the codes of the InfiniBand architecture. */
#ifndef DART_LINK_SPEED_H
#define DART_LINK_SPEED_H

#include <stdint.h>

/*
 * Bits per second, @speed and @width as in struct ibv_port_attr; 0 if one of them is not
 * known.  Ethernet is told as the next code that is as fast: 1 Gbit/s as 2.5, 25 as 25.
 * So is soft-RoCE on an interface that does not know its speed.
 */
uint64_t dart_link_speed(uint8_t speed, uint8_t width);

#endif /* DART_LINK_SPEED_H */
