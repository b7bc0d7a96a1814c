/* SPDX-License-Identifier: ISC */
/*
 * dtprof record as a service: tells the service manager that it records, or
 * waits (--wait-for), so that what the manager starts afterwards is recorded
 * from its first instruction.  The protocol of sd_notify(3): a datagram to the
 * socket that NOTIFY_SOCKET names, where '@' stands for an abstract name.
 *
 * Called by record.c, once.  A message that cannot be sent is the manager's to
 * miss.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record.h"

#define READY	"READY=1"

void
record_ready(void)
{
	const char *name = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t length = name == NULL ? 0 : strlen(name);
	int fd;

	if (length == 0 || length >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, name, length);
	if (name[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd == -1)
		return;
	(void)sendto(fd, READY, strlen(READY), MSG_NOSIGNAL,
	    (const struct sockaddr *)&to, (socklen_t)
	    (offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}
