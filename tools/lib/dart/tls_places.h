/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Certificates and keys of agents and their callers: where these look, and names in them. */
#ifndef DART_TLS_PLACES_H
#define DART_TLS_PLACES_H

/* Where all ends look unless a configuration names other files; dartctl tls puts them there. */
#define DART_TLS_DIRECTORY "/etc/dart/tls"
#define DART_TLS_HOST_CERTIFICATE	DART_TLS_DIRECTORY "/host.pem"
#define DART_TLS_HOST_KEY		DART_TLS_DIRECTORY "/host.key"
#define DART_TLS_CONTROLLER_CERTIFICATE	DART_TLS_DIRECTORY "/controller.pem"
#define DART_TLS_CONTROLLER_KEY		DART_TLS_DIRECTORY "/controller.key"
#define DART_TLS_FLOWS_CERTIFICATE	DART_TLS_DIRECTORY "/flows.pem"
#define DART_TLS_FLOWS_KEY		DART_TLS_DIRECTORY "/flows.key"
#define DART_TLS_AUTHORITIES		DART_TLS_DIRECTORY "/authorities.pem"
#define DART_TLS_REVOKED		DART_TLS_DIRECTORY "/revoked.pem"
/* A subjectAltName of each certificate that dartctl tls makes for a controller. */
#define DART_TLS_CONTROLLER_SUBJECT "dart-controller"
/* The same of each certificate for a dart-flows. */
#define DART_TLS_FLOWS_SUBJECT "dart-flows"

#endif /* DART_TLS_PLACES_H */
