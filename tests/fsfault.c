// Preloaded below everything: counts the calls that touch files under one folder, and at one of them ends the process,
// lets it fail, or writes half; or records what changes, so that a loss of power can be played.
//
// A test arms it through ctypes (`fsfault_arm`); until then, and for paths elsewhere, calls pass through. What SQLite
// writes to its shared memory (`-shm`) goes through a mapping and stays unseen; it does not outlive a crash anyway.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OFF, COUNT, KILL, KILL_HALFWAY, FAIL, FAIL_FOR_GOOD, SHORT, RECORD };
enum { FILES = 65536 };

static int mode = OFF, error_number = 0, record_fd = -1;
static long count = 0, at = 0, hit = 0;
static char folder[PATH_MAX], hit_name[64], hit_path[PATH_MAX];
static char* path_of[FILES];  // of the descriptors under the folder
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(type, name, ...)                  \
  static type (*real)(__VA_ARGS__);            \
  if (!real) *(void**)&real = dlsym(RTLD_NEXT, name)

static int under(const char* path) {
  size_t n = strlen(folder);
  return n && strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

// The path of a name that may be relative to a folder's descriptor or to the working folder.
static const char* full(int at_fd, const char* path, char* out) {
  if (path[0] == '/') return path;
  if (at_fd >= 0 && at_fd < FILES && path_of[at_fd]) {
    snprintf(out, PATH_MAX, "%s/%s", path_of[at_fd], path);
    return out;
  }
  char here[PATH_MAX], link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", at_fd);
  ssize_t n = at_fd >= 0 ? readlink(link, here, sizeof here - 1) : -1;
  if (n < 0 ? !getcwd(here, sizeof here) : (here[n] = 0)) return path;
  snprintf(out, PATH_MAX, "%s/%s", here, path);
  return out;
}

static void put(const void* data, size_t n) {
  REAL(ssize_t, "write", int, const void*, size_t);
  for (const char* p = data; n;) {
    ssize_t done = real(record_fd, p, n);
    if (done <= 0) abort();
    p += done, n -= (size_t)done;
  }
}

// One record: the call, where (path), to where (of a rename), at which offset, and the bytes.
static void record(const char* call, const char* path, const char* to, int64_t offset, const void* data, size_t n) {
  if (mode != RECORD) return;
  pthread_mutex_lock(&lock);
  uint64_t head[5] = {strlen(call), strlen(path), strlen(to), (uint64_t)offset, n};
  put(head, sizeof head), put(call, head[0]), put(path, head[1]), put(to, head[2]), put(data, n);
  pthread_mutex_unlock(&lock);
}

// Whether this call is the one at which something happens; does not return where that is a kill.
static int now(const char* call, const char* path) {
  if (mode == OFF) return 0;
  long number = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
  if (mode == COUNT || mode == RECORD) return 0;
  if (number != at && !(mode == FAIL_FOR_GOOD && number > at)) return 0;
  if (!hit) {
    hit = number;
    snprintf(hit_name, sizeof hit_name, "%s", call);
    snprintf(hit_path, sizeof hit_path, "%s", path);
  }
  if (mode == KILL) kill(getpid(), SIGKILL);
  return 1;
}

#define FAILING (mode == FAIL || mode == FAIL_FOR_GOOD)
#define REFUSE(call, path)         \
  if (now(call, path) && FAILING) { \
    errno = error_number;          \
    return -1;                     \
  }

void fsfault_arm(const char* path, int what, long number, int error, const char* out) {
  snprintf(folder, sizeof folder, "%s", path);
  count = hit = 0, at = number, error_number = error;
  REAL(int, "open64", const char*, int, ...);
  record_fd = what == RECORD ? real(out, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
  mode = what;
}
long fsfault_disarm(void) {
  mode = OFF;
  return count;
}
long fsfault_hit(void) { return hit; }
const char* fsfault_call(void) { return hit_name; }
const char* fsfault_path(void) { return hit_path; }
void fsfault_mark(const char* what) { record("mark", what, "", 0, "", 0); }

static int opened(int fd, const char* path, int flags, int existed) {
  if (fd >= 0 && fd < FILES) {
    free(path_of[fd]);
    path_of[fd] = strdup(path);
    if (!existed) record("create", path, "", 0, "", 0);
    else if (flags & O_TRUNC) record("truncate", path, "", 0, "", 0);
  }
  return fd;
}

static int open_at(int at_fd, const char* name, int flags, mode_t bits) {
  REAL(int, "openat64", int, const char*, int, ...);
  char buffer[PATH_MAX];
  const char* path = full(at_fd, name, buffer);
  if (!under(path)) return real(at_fd, name, flags, bits);
  REFUSE("open", path);
  int existed = access(path, F_OK) == 0;
  return opened(real(at_fd, name, flags, bits), path, flags, existed);
}

#define BITS(flags)                      \
  mode_t bits = 0;                       \
  if ((flags) & (O_CREAT | O_TMPFILE)) { \
    va_list more;                        \
    va_start(more, flags);               \
    bits = va_arg(more, mode_t);         \
    va_end(more);                        \
  }
int open(const char* path, int flags, ...) { BITS(flags) return open_at(AT_FDCWD, path, flags, bits); }
int open64(const char* path, int flags, ...) { BITS(flags) return open_at(AT_FDCWD, path, flags, bits); }
int openat(int fd, const char* path, int flags, ...) { BITS(flags) return open_at(fd, path, flags, bits); }
int openat64(int fd, const char* path, int flags, ...) { BITS(flags) return open_at(fd, path, flags, bits); }
int creat(const char* path, mode_t bits) { return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, bits); }
int creat64(const char* path, mode_t bits) { return creat(path, bits); }

// The core's temporary files.
int mkstemps(char* pattern, int n) {
  REAL(int, "mkstemps", char*, int);
  char buffer[PATH_MAX];
  const char* path = full(AT_FDCWD, pattern, buffer);
  if (!under(path)) return real(pattern, n);
  REFUSE("open", path);
  int fd = real(pattern, n);
  return opened(fd, full(AT_FDCWD, pattern, buffer), 0, 0);
}
int mkstemps64(char* pattern, int n) { return mkstemps(pattern, n); }

int close(int fd) {
  REAL(int, "close", int);
  if (fd >= 0 && fd < FILES && path_of[fd]) {
    free(path_of[fd]);
    path_of[fd] = NULL;
  }
  return real(fd);
}

static const char* known(int fd) { return fd >= 0 && fd < FILES ? path_of[fd] : NULL; }

static ssize_t write_at(int fd, const void* data, size_t n, off64_t offset, int moves) {
  REAL(ssize_t, "pwrite64", int, const void*, size_t, off64_t);
  static ssize_t (*plain)(int, const void*, size_t);
  if (!plain) *(void**)&plain = dlsym(RTLD_NEXT, "write");
  const char* path = known(fd);
  if (!path) return moves ? plain(fd, data, n) : real(fd, data, n, offset);
  int here = now("write", path);
  if (here && FAILING) {
    errno = error_number;
    return -1;
  }
  if (here) n = n > 1 ? n / 2 : n;  // SHORT and KILL_HALFWAY
  if (moves) offset = fcntl(fd, F_GETFL) & O_APPEND ? lseek64(fd, 0, SEEK_END) : lseek64(fd, 0, SEEK_CUR);
  ssize_t done = moves ? plain(fd, data, n) : real(fd, data, n, offset);
  if (done > 0) record("write", path, "", offset, data, (size_t)done);
  if (here && mode == KILL_HALFWAY) kill(getpid(), SIGKILL);
  return done;
}
ssize_t write(int fd, const void* data, size_t n) { return write_at(fd, data, n, 0, 1); }
ssize_t pwrite(int fd, const void* data, size_t n, off_t offset) { return write_at(fd, data, n, offset, 0); }
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t offset) { return write_at(fd, data, n, offset, 0); }
ssize_t writev(int fd, const struct iovec* parts, int n) {
  REAL(ssize_t, "writev", int, const struct iovec*, int);
  if (!known(fd)) return real(fd, parts, n);
  return n ? write(fd, parts[0].iov_base, parts[0].iov_len) : 0;  // a writer has to cope with less
}

#define READ(name, call, ...)                              \
  {                                                        \
    const char* path = known(fd);                          \
    if (path) REFUSE("read", path);                        \
    return call(__VA_ARGS__);                              \
  }
ssize_t read(int fd, void* data, size_t n) {
  REAL(ssize_t, "read", int, void*, size_t);
  READ("read", real, fd, data, n)
}
ssize_t pread(int fd, void* data, size_t n, off_t offset) {
  REAL(ssize_t, "pread", int, void*, size_t, off_t);
  READ("read", real, fd, data, n, offset)
}
ssize_t pread64(int fd, void* data, size_t n, off64_t offset) {
  REAL(ssize_t, "pread64", int, void*, size_t, off64_t);
  READ("read", real, fd, data, n, offset)
}

static int sync_of(const char* name, int fd, int (*real)(int)) {
  const char* path = known(fd);
  if (!path) return real(fd);
  REFUSE(name, path);
  int done = real(fd);
  if (done == 0) record("sync", path, "", 0, "", 0);
  return done;
}
int fsync(int fd) {
  REAL(int, "fsync", int);
  return sync_of("fsync", fd, real);
}
int fdatasync(int fd) {
  REAL(int, "fdatasync", int);
  return sync_of("fdatasync", fd, real);
}

static int truncate_of(int fd, off64_t size) {
  REAL(int, "ftruncate64", int, off64_t);
  const char* path = known(fd);
  if (!path) return real(fd, size);
  REFUSE("truncate", path);
  int done = real(fd, size);
  if (done == 0) record("truncate", path, "", size, "", 0);
  return done;
}
int ftruncate(int fd, off_t size) { return truncate_of(fd, size); }
int ftruncate64(int fd, off64_t size) { return truncate_of(fd, size); }

static int rename_of(int from_fd, const char* from, int to_fd, const char* to) {
  REAL(int, "renameat", int, const char*, int, const char*);
  char a[PATH_MAX], b[PATH_MAX];
  const char *source = full(from_fd, from, a), *target = full(to_fd, to, b);
  if (!under(source) && !under(target)) return real(from_fd, from, to_fd, to);
  REFUSE("rename", target);
  int done = real(from_fd, from, to_fd, to);
  if (done == 0) record("rename", source, target, 0, "", 0);
  return done;
}
int rename(const char* from, const char* to) { return rename_of(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int a, const char* from, int b, const char* to) { return rename_of(a, from, b, to); }

static int remove_of(int fd, const char* name, int flags) {
  REAL(int, "unlinkat", int, const char*, int);
  char buffer[PATH_MAX];
  const char* path = full(fd, name, buffer);
  if (!under(path)) return real(fd, name, flags);
  REFUSE(flags & AT_REMOVEDIR ? "rmdir" : "unlink", path);
  int done = real(fd, name, flags);
  if (done == 0) record(flags & AT_REMOVEDIR ? "rmdir" : "unlink", path, "", 0, "", 0);
  return done;
}
int unlink(const char* path) { return remove_of(AT_FDCWD, path, 0); }
int unlinkat(int fd, const char* path, int flags) { return remove_of(fd, path, flags); }
int rmdir(const char* path) { return remove_of(AT_FDCWD, path, AT_REMOVEDIR); }

static int folder_of(int fd, const char* name, mode_t bits) {
  REAL(int, "mkdirat", int, const char*, mode_t);
  char buffer[PATH_MAX];
  const char* path = full(fd, name, buffer);
  if (!under(path)) return real(fd, name, bits);
  REFUSE("mkdir", path);
  int done = real(fd, name, bits);
  if (done == 0) record("mkdir", path, "", 0, "", 0);
  return done;
}
int mkdir(const char* path, mode_t bits) { return folder_of(AT_FDCWD, path, bits); }
int mkdirat(int fd, const char* path, mode_t bits) { return folder_of(fd, path, bits); }
