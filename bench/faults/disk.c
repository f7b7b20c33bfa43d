// A library preloaded into a relay. It simulates a disk that loses unsynced data at a power cut, slow syncs,
// clock jumps and passing time. bench/faults/disk.ts compiles it, controls it, and discards the data.
//
// The relay's files are real. Before the first change of a page since the last sync, the library writes the
// page's old content to the undo file, <undo>/<name>. A sync empties the undo file. The pages in it may be
// lost at a power cut. The undo file survives the process, as the kernel's cache survives a killed process.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define MOST_FILES 16
#define MOST_DESCRIPTORS 65536
#define MOST_PAGES (1 << 20)
#define FOLDER MOST_FILES

// Written by the controlling program and read by this library at every call.
struct control {
  volatile int64_t clock_offset_us; // Offset of the wall clock only: somebody set it.
  volatile int64_t sync_delay_us;
  volatile int64_t passed_us; // Offset of both clocks: time passed.
};

struct record {
  int64_t offset;
  int64_t length; // Length of the following data: a page, or less at the end of the old file.
};

struct tracked {
  char name[64];
  int undo;
  int is_dirty;
  int64_t durable_size;
  uint8_t *seen; // One bit per page.
};

static struct control none;
static struct control *control = &none;
static char folder[1024];
static char undo_folder[1024];
static struct tracked files[MOST_FILES];
static int file_count;
static uint8_t file_of[MOST_DESCRIPTORS]; // The file's number + 1; 0 for other files.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int (*real_open)(const char *, int, ...);
static int (*real_openat)(int, const char *, int, ...);
static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off64_t);
static int (*real_ftruncate)(int, off64_t);
static int (*real_unlink)(const char *);
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_gettimeofday)(struct timeval *, void *);
static int (*real_timedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

static void fail(const char *what) {
  dprintf(2, "bench/faults/disk.c: %s: %s\n", what, strerror(errno));
  _exit(99);
}

static void *find(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (!found) fail(name);
  return found;
}

// Other libraries make calls before our constructor has run, so every call passes here first.
static void prepare(void) {
  static volatile int is_ready;
  if (is_ready) return;
  real_open = find("open64");
  real_openat = find("openat64");
  real_close = find("close");
  real_write = find("write");
  real_pwrite = find("pwrite64");
  real_ftruncate = find("ftruncate64");
  real_unlink = find("unlink");
  real_clock_gettime = find("clock_gettime");
  real_gettimeofday = find("gettimeofday");
  real_timedwait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  if (!real_timedwait) real_timedwait = find("pthread_cond_timedwait");
  const char *data = getenv("FAULTS_DATA"), *undo = getenv("FAULTS_UNDO"), *steer = getenv("FAULTS_CONTROL");
  if (data && undo && strlen(data) < sizeof folder && strlen(undo) < sizeof undo_folder) {
    strcpy(folder, data);
    strcpy(undo_folder, undo);
  }
  if (steer) {
    int fd = real_open(steer, O_RDWR | O_CLOEXEC);
    if (fd < 0) fail(steer);
    void *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (mapped == MAP_FAILED) fail(steer);
    real_close(fd);
    control = mapped;
  }
  is_ready = 1;
}

__attribute__((constructor)) static void begin(void) { prepare(); }

static void undo_path(char *path, size_t size, const char *name, const char *ending) {
  if ((size_t)snprintf(path, size, "%s/%s%s", undo_folder, name, ending) >= size) fail("a path too long");
}

// Loads the unsynced pages of an earlier process. An incomplete record, cut off by a kill, is ignored.
static void load_undo(struct tracked *file) {
  int64_t at = sizeof file->durable_size;
  if (pread(file->undo, &file->durable_size, sizeof file->durable_size, 0) != sizeof file->durable_size) {
    if (real_ftruncate(file->undo, 0) < 0) fail("undo");
    return;
  }
  file->is_dirty = 1;
  struct record record;
  struct stat stat;
  if (fstat(file->undo, &stat) < 0) fail("undo");
  while (pread(file->undo, &record, sizeof record, at) == sizeof record) {
    if (at + (int64_t)sizeof record + record.length > stat.st_size) break;
    int64_t page = record.offset / PAGE;
    file->seen[page / 8] |= 1 << (page % 8);
    at += sizeof record + record.length;
  }
  if (real_ftruncate(file->undo, at) < 0) fail("undo");
}

static int number_of(const char *name) {
  for (int number = 0; number < file_count; number++)
    if (strcmp(files[number].name, name) == 0) return number;
  if (file_count == MOST_FILES || strlen(name) >= sizeof files[0].name) fail("too many files");
  struct tracked *file = &files[file_count];
  char path[2048];
  undo_path(path, sizeof path, name, ".undo");
  strcpy(file->name, name);
  file->seen = calloc(1, MOST_PAGES / 8);
  file->undo = real_open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file->undo < 0 || !file->seen) fail(path);
  load_undo(file);
  return file_count++;
}

// The name of a tracked file, or NULL. A file that is only mapped (-shm) is in memory and never durable.
static const char *own_name(const char *path) {
  size_t length = strlen(folder);
  if (length == 0 || strncmp(path, folder, length) != 0 || path[length] != '/') return NULL;
  const char *name = path + length + 1;
  size_t size = strlen(name);
  if (size == 0 || strchr(name, '/') || (size > 4 && strcmp(name + size - 4, "-shm") == 0)) return NULL;
  return name;
}

static int opened(const char *path, int existed, int fd) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return fd;
  pthread_mutex_lock(&lock);
  file_of[fd] = 0;
  const char *name = own_name(path);
  if (name) {
    file_of[fd] = number_of(name) + 1;
    if (!existed) {
      char mark[2048];
      undo_path(mark, sizeof mark, name, ".new");
      real_close(real_open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
  } else if (folder[0] && strcmp(path, folder) == 0) file_of[fd] = FOLDER + 1;
  pthread_mutex_unlock(&lock);
  return fd;
}

static int open_any(const char *path, int flags, mode_t mode) {
  prepare();
  int existed = !own_name(path) || access(path, F_OK) == 0;
  return opened(path, existed, real_open(path, flags, mode));
}

#define MODE_OF(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { \
    va_list list; \
    va_start(list, flags); \
    mode = va_arg(list, mode_t); \
    va_end(list); \
  }

int open(const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  return open_any(path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  MODE_OF(flags, mode)
  if (path[0] == '/') return open_any(path, flags, mode);
  prepare();
  return real_openat(at, path, flags, mode);
}

int close(int fd) {
  prepare();
  if (fd >= 0 && fd < MOST_DESCRIPTORS) file_of[fd] = 0;
  return real_close(fd);
}

static struct tracked *tracked_by(int fd) {
  if (fd < 0 || fd >= MOST_DESCRIPTORS) return NULL;
  int number = file_of[fd] - 1;
  return number >= 0 && number < FOLDER ? &files[number] : NULL;
}

// Saves the present content of these pages. The lock must be held.
static void keep(struct tracked *file, int fd, int64_t offset, int64_t length) {
  if (!file->is_dirty) {
    struct stat stat;
    if (fstat(fd, &stat) < 0) fail(file->name);
    file->durable_size = stat.st_size;
    if (real_write(file->undo, &file->durable_size, sizeof file->durable_size) < 0) fail("undo");
    file->is_dirty = 1;
  }
  struct {
    struct record head;
    char old[PAGE];
  } kept;
  for (int64_t page = offset / PAGE; page * PAGE < offset + length; page++) {
    if (page >= MOST_PAGES) fail("a file too large");
    if (file->seen[page / 8] & (1 << (page % 8))) continue;
    kept.head.offset = page * PAGE;
    ssize_t old = kept.head.offset < file->durable_size ? pread(fd, kept.old, PAGE, kept.head.offset) : 0;
    if (old < 0) fail(file->name);
    kept.head.length = old;
    if (real_write(file->undo, &kept, sizeof kept.head + old) < 0) fail("undo");
    file->seen[page / 8] |= 1 << (page % 8);
  }
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
  prepare();
  struct tracked *file = tracked_by(fd);
  if (!file) return real_pwrite(fd, bytes, length, offset);
  pthread_mutex_lock(&lock);
  keep(file, fd, offset, length);
  ssize_t written = real_pwrite(fd, bytes, length, offset);
  int error = errno;
  pthread_mutex_unlock(&lock);
  errno = error;
  return written;
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) { return pwrite64(fd, bytes, length, offset); }

ssize_t write(int fd, const void *bytes, size_t length) {
  prepare();
  if (tracked_by(fd)) {
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t written = pwrite64(fd, bytes, length, at);
    if (written > 0) lseek(fd, at + written, SEEK_SET);
    return written;
  }
  return real_write(fd, bytes, length);
}

int ftruncate64(int fd, off64_t size) {
  prepare();
  struct tracked *file = tracked_by(fd);
  if (!file) return real_ftruncate(fd, size);
  pthread_mutex_lock(&lock);
  struct stat stat;
  if (fstat(fd, &stat) < 0) fail(file->name);
  keep(file, fd, size, stat.st_size > size ? stat.st_size - size : 0);
  int result = real_ftruncate(fd, size);
  pthread_mutex_unlock(&lock);
  return result;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

static void sync_folder(void) {
  char mark[2048];
  for (int number = 0; number < file_count; number++) {
    undo_path(mark, sizeof mark, files[number].name, ".new");
    real_unlink(mark);
  }
}

// This library is the disk: pages it no longer tracks are durable, so it does not wait for the kernel.
static int sync_any(int fd) {
  prepare();
  int number = fd >= 0 && fd < MOST_DESCRIPTORS ? file_of[fd] - 1 : -1;
  if (number < 0) return 0;
  int64_t delay = control->sync_delay_us;
  if (delay > 0) {
    struct timespec wait = {delay / 1000000, delay % 1000000 * 1000};
    nanosleep(&wait, NULL);
  }
  pthread_mutex_lock(&lock);
  if (number == FOLDER) sync_folder();
  else {
    struct tracked *file = &files[number];
    if (file->is_dirty) {
      if (real_ftruncate(file->undo, 0) < 0) fail("undo");
      memset(file->seen, 0, MOST_PAGES / 8);
      file->is_dirty = 0;
    }
  }
  pthread_mutex_unlock(&lock);
  return 0;
}

int fsync(int fd) { return sync_any(fd); }

int fdatasync(int fd) { return sync_any(fd); }

// A deletion counts as durable at once: SQLite deletes only files it no longer needs.
int unlink(const char *path) {
  prepare();
  const char *name = own_name(path);
  if (!name) return real_unlink(path);
  pthread_mutex_lock(&lock);
  struct tracked *file = &files[number_of(name)];
  char mark[2048];
  undo_path(mark, sizeof mark, name, ".new");
  real_unlink(mark);
  if (real_ftruncate(file->undo, 0) < 0) fail("undo");
  memset(file->seen, 0, MOST_PAGES / 8);
  file->is_dirty = 0;
  int result = real_unlink(path);
  pthread_mutex_unlock(&lock);
  return result;
}

static int64_t wall_offset(void) { return control->clock_offset_us + control->passed_us; }

static void move(struct timespec *time, int64_t by_us) {
  int64_t us = (int64_t)time->tv_sec * 1000000 + time->tv_nsec / 1000 + by_us;
  time->tv_nsec = us % 1000000 * 1000 + time->tv_nsec % 1000;
  time->tv_sec = us / 1000000;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  prepare();
  int result = real_clock_gettime(clock, time);
  if (result != 0) return result;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    if (wall_offset() != 0) move(time, wall_offset());
  } else if (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_MONOTONIC_RAW ||
             clock == CLOCK_BOOTTIME) {
    if (control->passed_us != 0) move(time, control->passed_us);
  }
  return result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  prepare();
  int result = real_gettimeofday(time, zone);
  int64_t us = (int64_t)time->tv_sec * 1000000 + time->tv_usec + wall_offset();
  time->tv_sec = us / 1000000;
  time->tv_usec = us % 1000000;
  return result;
}

// The kernel's clocks have not moved. Without this, a thread would wait for the wrong time and spin or
// oversleep.
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *until) {
  prepare();
  struct timespec real = *until;
  int64_t offset = real.tv_sec > 1000000000 ? wall_offset() : control->passed_us;
  if (real.tv_sec > offset / 1000000) real.tv_sec -= offset / 1000000;
  return real_timedwait(condition, mutex, &real);
}
