/* Preloaded into a command: kills it at one of the calls that change or read a folder or send to a socket, or
 * lets calls fail.
 *
 *   FAULT_FOLDER   the folder, an absolute path without symbolic links
 *   FAULT_CALLS    a file below another folder; each call is appended to it as a line of text:
 *                  KIND NUMBER FUNCTION PATH, and " !" where the fault struck
 *   FAULT_POINT    KIND NUMBER MODE ERROR, such as "sync 84 later 5"; without it nothing fails
 *   FAULT_PATH     the end of a path, or a pattern of it, such as "live/MANIFEST-*"; only calls on such paths
 *                  are counted for FAULT_POINT. If it ends with a slash, only folders: "/" is any folder,
 *                  "/live/" a folder of this name
 *   FAULT_READS    if set, opens, reads and locks are counted and written down; otherwise only if
 *                  FAULT_POINT is one of them, since they are many
 *   FAULT_SECONDS  after so many seconds the command is ended by SIGALRM
 *
 * Calls are numbered from 1 within their kind, over all threads. The call of that number is the one
 * that is struck:
 *
 *   kill    the process ends (SIGKILL) in place of the call
 *   stop    the process stops (SIGSTOP) before the call, and makes it when it goes on (SIGCONT)
 *   once    the call fails with this error number
 *   later   so do all later ones of the kind
 *   short   half of what is to be written is written; all later ones of the kind fail
 *   skip    a sync succeeds and does nothing, and so do all later ones
 *
 * `open` is the opening of what exists, a file or a folder, for reading or for writing; `read` is also the
 * mapping of a file into memory; `lock` is a lock of a whole file or of a range.
 *
 * Files without a name (temporary ones) are left out, and what stdio writes (RocksDB's LOG).
 */
#include "paths.h"
#include <dirent.h>
#include <fnmatch.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#undef fread_unlocked

enum kind { WRITE, SYNC, RENAME, LINK, UNLINK, CREATE, SIZE, SEND, OPEN, READ, LOCK, KINDS };
static const char *const kinds[KINDS] = {"write", "sync", "rename", "link", "unlink", "create",
                                         "size",  "send", "open",   "read", "lock"};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counts[KINDS];
static int calls = -1;
static const char *only;
static int reads;
static unsigned long matches;
static struct {
    char kind[16];
    unsigned long number;
    char mode[16];
    int error;
} point;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("FAULT_CALLS"), *where = getenv("FAULT_POINT"), *seconds = getenv("FAULT_SECONDS");
    if (seconds)
        alarm((unsigned)atoi(seconds));
    if (!file)
        return;
    calls = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    int is_read = !where || sscanf(where, "%15s %lu %15s %d", point.kind, &point.number, point.mode, &point.error) == 4;
    if (calls < 0 || !is_read) {
        fprintf(stderr, "fault: cannot open %s, or FAULT_POINT is none\n", file);
        abort();
    }
    only = getenv("FAULT_PATH");
    reads = getenv("FAULT_READS") != NULL;
    for (enum kind kind = OPEN; kind <= LOCK; kind++)
        reads |= strcmp(point.kind, kinds[kind]) == 0;
    watch(getenv("FAULT_FOLDER"));
}

enum outcome { PASSES, FAILS, IS_CUT, IS_SKIPPED };

/* Whether a path ends as FAULT_PATH says. */
static int matches_end(const char *path) {
    char pattern[PATH_MAX];
    struct stat about;
    size_t length = (size_t)snprintf(pattern, sizeof pattern, "*%s", only);
    if (length > 1 && length < sizeof pattern && pattern[length - 1] == '/') {
        pattern[length - 1] = 0;
        if (lstat(path, &about) != 0 || !S_ISDIR(about.st_mode))
            return 0;
    }
    return fnmatch(pattern, path, 0) == 0;
}

/* Counts a call, and says what becomes of it. */
static enum outcome strike(enum kind kind, const char *function, const char *path) {
    if (kind >= OPEN && !reads)
        return PASSES;
    pthread_mutex_lock(&one_at_a_time);
    unsigned long number = ++counts[kind];
    int is_kind = strcmp(point.kind, kinds[kind]) == 0;
    if (only) {
        is_kind = is_kind && matches_end(path);
        matches += (unsigned)is_kind;
    }
    int is_first = is_kind && (only ? matches : number) == point.number;
    int is_short = strcmp(point.mode, "short") == 0;
    int is_skipped = strcmp(point.mode, "skip") == 0;
    int is_later = is_kind && number > point.number && (is_short || is_skipped || strcmp(point.mode, "later") == 0);
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %lu %s %s%s\n", kinds[kind], number, function, path,
                          is_first || is_later ? " !" : "");
    if (syscall(SYS_write, calls, line, (size_t)length) != length) {
        fprintf(stderr, "fault: calls cannot be written down\n");
        abort();
    }
    if (is_first && strcmp(point.mode, "kill") == 0)
        for (;;)
            kill(getpid(), SIGKILL);
    int stops = is_first && strcmp(point.mode, "stop") == 0;
    if (stops)
        raise(SIGSTOP); /* Sent to the process, it might reach another thread first. */
    pthread_mutex_unlock(&one_at_a_time);
    if (stops || (!is_first && !is_later))
        return PASSES;
    if (is_skipped)
        return IS_SKIPPED;
    errno = point.error;
    return is_first && is_short ? IS_CUT : FAILS;
}

/* The same of a call on an open file; those outside the folder pass. */
static enum outcome strike_file(enum kind kind, const char *function, int fd) {
    char path[PATH_MAX];
    struct stat about;
    int before = errno;
    int is_followed = followed(fd, &about) && path_of(fd, path);
    errno = before;
    return is_followed ? strike(kind, function, path) : PASSES;
}

/* The same of a call that opens a path. */
static enum outcome strike_open(const char *function, int at, const char *path, int flags) {
    char whole[PATH_MAX];
    struct stat about;
    int before = errno;
    int is_below = resolve(at, path, whole);
    int is_there = is_below && lstat(whole, &about) == 0;
    errno = before;
    if (is_below && (flags & O_CREAT) && ((flags & O_TRUNC) || !is_there))
        return strike(CREATE, function, whole);
    return is_there ? strike(OPEN, function, whole) : PASSES;
}

#define OPENS(name, parameters, at, call) \
    int name parameters { \
        mode_t mode = 0; \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
            va_list rest; \
            va_start(rest, flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        return strike_open(#name, at, path, flags) == PASSES ? call : -1; \
    }
OPENS(open, (const char *path, int flags, ...), AT_FDCWD, REAL(open)(path, flags, mode))
OPENS(open64, (const char *path, int flags, ...), AT_FDCWD, REAL(open64)(path, flags, mode))
OPENS(openat, (int at, const char *path, int flags, ...), at, REAL(openat)(at, path, flags, mode))
OPENS(openat64, (int at, const char *path, int flags, ...), at, REAL(openat64)(at, path, flags, mode))
DIR *opendir(const char *path) {
    return strike_open("opendir", AT_FDCWD, path, O_RDONLY) == PASSES ? REAL(opendir)(path) : NULL;
}
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* A call that writes bytes; `cut` writes half of them. */
#define WRITES(name, parameters, call, cut) \
    ssize_t name parameters { \
        enum outcome outcome = strike_file(WRITE, #name, fd); \
        if (outcome == PASSES) \
            return call; \
        if (outcome == IS_CUT && count > 1) \
            return cut; \
        return -1; \
    }
WRITES(write, (int fd, const void *bytes, size_t count), REAL(write)(fd, bytes, count), REAL(write)(fd, bytes, count / 2))
WRITES(pwrite, (int fd, const void *bytes, size_t count, off_t at), REAL(pwrite)(fd, bytes, count, at), REAL(pwrite)(fd, bytes, count / 2, at))
WRITES(pwrite64, (int fd, const void *bytes, size_t count, off64_t at), REAL(pwrite64)(fd, bytes, count, at), REAL(pwrite64)(fd, bytes, count / 2, at))
WRITES(writev, (int fd, const struct iovec *parts, int count), REAL(writev)(fd, parts, count), REAL(writev)(fd, parts, count / 2))
WRITES(pwritev, (int fd, const struct iovec *parts, int count, off_t at), REAL(pwritev)(fd, parts, count, at), REAL(pwritev)(fd, parts, count / 2, at))
WRITES(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), REAL(pwritev64)(fd, parts, count, at), REAL(pwritev64)(fd, parts, count / 2, at))
ssize_t sendfile(int, int, off_t *, size_t);
ssize_t sendfile64(int, int, off64_t *, size_t);
WRITES(sendfile, (int fd, int from, off_t *at, size_t count), REAL(sendfile)(fd, from, at, count), REAL(sendfile)(fd, from, at, count / 2))
WRITES(sendfile64, (int fd, int from, off64_t *at, size_t count), REAL(sendfile64)(fd, from, at, count), REAL(sendfile64)(fd, from, at, count / 2))
WRITES(copy_file_range, (int from, off64_t *at, int fd, off64_t *to, size_t count, unsigned flags),
       REAL(copy_file_range)(from, at, fd, to, count, flags), REAL(copy_file_range)(from, at, fd, to, count / 2, flags))
WRITES(splice, (int from, off64_t *at, int fd, off64_t *to, size_t count, unsigned flags),
       REAL(splice)(from, at, fd, to, count, flags), REAL(splice)(from, at, fd, to, count / 2, flags))

/* A call that reads bytes; `failed` is what it returns where it fails. */
#define READS(type, name, parameters, fd, failed, call) \
    type name parameters { return strike_file(READ, #name, fd) == PASSES ? call : failed; }
READS(ssize_t, read, (int fd, void *bytes, size_t count), fd, -1, REAL(read)(fd, bytes, count))
READS(ssize_t, pread, (int fd, void *bytes, size_t count, off_t at), fd, -1, REAL(pread)(fd, bytes, count, at))
READS(ssize_t, pread64, (int fd, void *bytes, size_t count, off64_t at), fd, -1, REAL(pread64)(fd, bytes, count, at))
READS(ssize_t, readv, (int fd, const struct iovec *parts, int count), fd, -1, REAL(readv)(fd, parts, count))
READS(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at), fd, -1, REAL(preadv)(fd, parts, count, at))
READS(ssize_t, preadv64, (int fd, const struct iovec *parts, int count, off64_t at), fd, -1, REAL(preadv64)(fd, parts, count, at))
READS(void *, mmap, (void *to, size_t size, int what, int how, int fd, off_t at), fd, MAP_FAILED,
      REAL(mmap)(to, size, what, how, fd, at))
READS(void *, mmap64, (void *to, size_t size, int what, int how, int fd, off64_t at), fd, MAP_FAILED,
      REAL(mmap64)(to, size, what, how, fd, at))
/* RocksDB reads the MANIFEST and logs by these. */
READS(size_t, fread, (void *bytes, size_t size, size_t count, FILE *file), fileno(file), 0,
      REAL(fread)(bytes, size, count, file))
READS(size_t, fread_unlocked, (void *bytes, size_t size, size_t count, FILE *file), fileno(file), 0,
      REAL(fread_unlocked)(bytes, size, count, file))

/* A call on an open file that succeeds with 0. */
#define CHANGES(name, kind, parameters, call) \
    int name parameters { \
        enum outcome outcome = strike_file(kind, #name, fd); \
        return outcome == PASSES ? call : outcome == IS_SKIPPED ? 0 : -1; \
    }
CHANGES(ftruncate, SIZE, (int fd, off_t size), REAL(ftruncate)(fd, size))
CHANGES(ftruncate64, SIZE, (int fd, off64_t size), REAL(ftruncate64)(fd, size))
CHANGES(fallocate, SIZE, (int fd, int how, off_t at, off_t size), REAL(fallocate)(fd, how, at, size))
CHANGES(fallocate64, SIZE, (int fd, int how, off64_t at, off64_t size), REAL(fallocate64)(fd, how, at, size))
CHANGES(fsync, SYNC, (int fd), REAL(fsync)(fd))
CHANGES(fdatasync, SYNC, (int fd), REAL(fdatasync)(fd))
CHANGES(syncfs, SYNC, (int fd), REAL(syncfs)(fd))
CHANGES(sync_file_range, SYNC, (int fd, off64_t at, off64_t size, unsigned flags), REAL(sync_file_range)(fd, at, size, flags))
CHANGES(flock, LOCK, (int fd, int how), REAL(flock)(fd, how))
#define LOCKS(name) \
    int name(int fd, int command, ...) { \
        va_list rest; \
        va_start(rest, command); \
        void *argument = va_arg(rest, void *); \
        va_end(rest); \
        int is_lock = command == F_SETLK || command == F_SETLKW; \
        return is_lock && strike_file(LOCK, #name, fd) != PASSES ? -1 : REAL(name)(fd, command, argument); \
    }
LOCKS(fcntl)
LOCKS(fcntl64)
/* These return the error number. */
int posix_fallocate(int fd, off_t at, off_t size) {
    return strike_file(SIZE, "posix_fallocate", fd) == PASSES ? REAL(posix_fallocate)(fd, at, size) : point.error;
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
    return strike_file(SIZE, "posix_fallocate64", fd) == PASSES ? REAL(posix_fallocate64)(fd, at, size) : point.error;
}

/* A change of one name, or of two. */
#define NAMES(name, kind, parameters, at, path, call) \
    int name parameters { \
        char whole[PATH_MAX]; \
        return resolve(at, path, whole) && strike(kind, #name, whole) != PASSES ? -1 : call; \
    }
NAMES(mkdir, CREATE, (const char *path, mode_t mode), AT_FDCWD, path, REAL(mkdir)(path, mode))
NAMES(mkdirat, CREATE, (int at, const char *path, mode_t mode), at, path, REAL(mkdirat)(at, path, mode))
NAMES(unlink, UNLINK, (const char *path), AT_FDCWD, path, REAL(unlink)(path))
NAMES(unlinkat, UNLINK, (int at, const char *path, int flags), at, path, REAL(unlinkat)(at, path, flags))
NAMES(rmdir, UNLINK, (const char *path), AT_FDCWD, path, REAL(rmdir)(path))
NAMES(remove, UNLINK, (const char *path), AT_FDCWD, path, REAL(remove)(path))
NAMES(truncate, SIZE, (const char *path, off_t size), AT_FDCWD, path, REAL(truncate)(path, size))
NAMES(truncate64, SIZE, (const char *path, off64_t size), AT_FDCWD, path, REAL(truncate64)(path, size))
NAMES(symlink, LINK, (const char *to, const char *path), AT_FDCWD, path, REAL(symlink)(to, path))
NAMES(symlinkat, LINK, (const char *to, int at, const char *path), at, path, REAL(symlinkat)(to, at, path))
/* Of two names the first is written down: a file of a load is linked into the database. */
NAMES(rename, RENAME, (const char *from, const char *to), AT_FDCWD, from, REAL(rename)(from, to))
NAMES(renameat, RENAME, (int at, const char *from, int in, const char *to), at, from, REAL(renameat)(at, from, in, to))
NAMES(renameat2, RENAME, (int at, const char *from, int in, const char *to, unsigned flags), at, from,
      REAL(renameat2)(at, from, in, to, flags))
NAMES(link, LINK, (const char *from, const char *to), AT_FDCWD, from, REAL(link)(from, to))
NAMES(linkat, LINK, (int at, const char *from, int in, const char *to, int flags), at, from,
      REAL(linkat)(at, from, in, to, flags))

/* Bytes that are written through memory are synced like any others. A mapping says nothing of its
 * file here, so any sync of one counts. */
int msync(void *address, size_t length, int flags) {
    return folder && strike(SYNC, "msync", "(mapped)") != PASSES ? -1 : REAL(msync)(address, length, flags);
}

/* What is sent to other processes. */
ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    return folder && strike(SEND, "send", "(socket)") != PASSES ? -1 : REAL(send)(fd, bytes, count, flags);
}
