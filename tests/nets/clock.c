/* A wall clock that stands still at NETS_CLOCK, in seconds since 1970. Monotonic clocks run on. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t at(void) {
  const char *given = getenv("NETS_CLOCK");
  return given ? (time_t)atoll(given) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *found) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)
    return (int)syscall(SYS_clock_gettime, clock, found);
  found->tv_sec = at();
  found->tv_nsec = 0;
  return 0;
}

int gettimeofday(struct timeval *restrict found, void *restrict zone) {
  (void)zone;
  found->tv_sec = at();
  found->tv_usec = 0;
  return 0;
}

time_t time(time_t *found) {
  if (found)
    *found = at();
  return at();
}
