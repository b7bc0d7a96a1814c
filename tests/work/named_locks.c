/* SPDX-License-Identifier: ISC */
/*
 * A thread waits for locks in global variables, two of them of the same name,
 * and for one in memory of no file.  Prints the address of each lock, the name
 * of its variable in the symbol table, and its offset in the variable.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
	char		name[40];
	pthread_mutex_t	mutex;
} pool = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static pthread_mutex_t *
first_guard(void)
{
	static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;

	return (&guard);
}

static pthread_mutex_t *
second_guard(void)
{
	static pthread_mutex_t guard;

	return (&guard);
}

static void *
wait_for(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return (NULL);
}

static int
hold(const char *name, size_t within, pthread_mutex_t *mutex)
{
	pthread_t thread;

	printf("%s %zu %p\n", name, within, (void *)mutex);
	pthread_mutex_lock(mutex);
	if (pthread_create(&thread, NULL, wait_for, mutex) != 0)
		return (-1);
	usleep(20000);
	pthread_mutex_unlock(mutex);
	return (pthread_join(thread, NULL));
}

int
main(void)
{
	pthread_mutex_t *none = malloc(sizeof(*none));

	if (none == NULL || pthread_mutex_init(none, NULL) != 0)
		return (1);
	return (hold("queue_lock", 0, &queue_lock) != 0 ||
	    hold("pool", (size_t)((char *)&pool.mutex - (char *)&pool),
	    &pool.mutex) != 0 || hold("guard", 0, first_guard()) != 0 ||
	    hold("guard", 0, second_guard()) != 0 ||
	    hold("-", 0, none) != 0);
}
