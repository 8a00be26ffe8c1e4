/* Moves the wall clock of every program that loads this, and no other clock: adds the seconds that
 * stand in the file OFFSET_FILE (eight bytes) to CLOCK_REALTIME. The file is mapped once, so that
 * nothing needs to be opened later. A test seam; never part of a release. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset_seconds;

__attribute__((constructor)) static void map_offset(void)
{
    int fd = open(OFFSET_FILE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    if (mapped != MAP_FAILED)
        offset_seconds = mapped;
}

int clock_gettime(clockid_t id, struct timespec *time)
{
    long result = syscall(SYS_clock_gettime, id, time);
    if (result == 0 && id == CLOCK_REALTIME && offset_seconds)
        time->tv_sec += *offset_seconds;
    return (int)result;
}
