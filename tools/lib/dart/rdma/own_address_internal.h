/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The address by which a host reaches itself by RDMA.
 *
 * The RDMA CM finds no route of RoCE to 127.0.0.1 and ::1, because they belong to no
 * interface that a device uses (rdma_resolve_route() fails with ENODEV).  So an address of
 * an RDMA device stands for them.
 */
#ifndef DART_OWN_ADDRESS_H
#define DART_OWN_ADDRESS_H

#include <sys/socket.h>

/*
 * Returns @address if it is no loopback address, or no device uses an address of RoCE v2.
 * Otherwise returns @own, with the port of @address and the first address of the first device with
 * one: the same device as an agent uses if its configuration names none.  May be called in any
 * thread.
 */
struct sockaddr *dart_own_address__replace(struct sockaddr *address, struct sockaddr_storage *own);

#endif /* DART_OWN_ADDRESS_H */
