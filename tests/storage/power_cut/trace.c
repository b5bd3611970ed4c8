/* Preloaded into a command: writes down, in one order for all threads, every change below a folder.
 *
 *   TRACE_FOLDER   the folder, an absolute path without symbolic links
 *   TRACE_FILE     where the records are appended; not below the folder
 *
 * A record is a header (struct header) and the bytes of its two texts. A call and its record are one
 * step under a lock, so the order of records is the order of calls. What the records cannot express
 * is written down as such ('!'), and the test fails. Files without a name (temporary ones) are left
 * out: nothing of them is there after a crash. sync_file_range promises nothing and is no record.
 */
#include "paths.h"

struct header {
    char what;
    char unused[7];
    uint64_t file;   /* inode */
    uint64_t number; /* offset, or size */
    uint32_t first, second; /* lengths of the texts */
};

enum {
    CREATE = 'c',   /* first: path */
    SIZE = 's',     /* number: the new size */
    WRITE = 'w',    /* number: offset; first: the bytes */
    RENAME = 'r',   /* from first to second */
    LINK = 'l',     /* first, also as second */
    UNLINK = 'u',   /* first */
    MKDIR = 'd',    /* first */
    RMDIR = 'x',    /* first */
    SYNC = 'f',     /* file or folder */
    SYNC_ALL = 'F',
    BEYOND = '!',   /* first: what was called */
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static int trace = -1;

__attribute__((constructor)) static void begin(void) {
    const char *file = getenv("TRACE_FILE");
    if (!file)
        return;
    watch(getenv("TRACE_FOLDER"));
    if (!folder)
        return;
    trace = (int)syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    if (trace < 0) {
        fprintf(stderr, "trace: cannot open %s\n", file);
        abort();
    }
}

/* The C library's error number is the caller's: what the records need must not change it. */
#define LOCKED \
    int kept_errno; \
    pthread_mutex_lock(&one_at_a_time)
#define UNLOCKED(result) \
    do { \
        errno = kept_errno; \
        pthread_mutex_unlock(&one_at_a_time); \
        return result; \
    } while (0)
#define CALL(result, call) \
    __typeof__(call) result = call; \
    kept_errno = errno

static void put(char what, uint64_t file, uint64_t number, const void *first, size_t first_length,
                const void *second, size_t second_length) {
    struct header header = {what, {0}, file, number, (uint32_t)first_length, (uint32_t)second_length};
    struct iovec parts[3] = {{&header, sizeof header},
                             {(void *)first, first_length},
                             {(void *)second, second_length}};
    ssize_t wanted = (ssize_t)(sizeof header + first_length + second_length);
    if (syscall(SYS_writev, trace, parts, 3) != wanted) {
        fprintf(stderr, "trace: cannot be written\n");
        abort();
    }
}

static void beyond(const char *what) { put(BEYOND, 0, 0, what, strlen(what), NULL, 0); }

static void opened(int fd, const char *path, int flags, int was_there) {
    struct stat about;
    if (fd < 0 || (flags & O_TMPFILE) == O_TMPFILE || fstat(fd, &about) != 0)
        return;
    if (!was_there)
        put(CREATE, about.st_ino, 0, path, strlen(path), NULL, 0);
    else if (flags & O_TRUNC)
        put(SIZE, about.st_ino, 0, NULL, 0, NULL, 0);
}

#define OPEN(name, parameters, at, flags_given, call) \
    int name parameters { \
        mode_t mode = 0; \
        char whole[PATH_MAX]; \
        int flags = flags_given; \
        if ((flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE) { \
            va_list rest; \
            va_start(rest, given_flags); \
            mode = va_arg(rest, mode_t); \
            va_end(rest); \
        } \
        if (!(flags & (O_CREAT | O_TRUNC)) || !resolve(at, path, whole)) \
            return call; \
        LOCKED; \
        struct stat about; \
        int was_there = lstat(whole, &about) == 0; \
        CALL(fd, call); \
        opened(fd, whole, flags, was_there); \
        UNLOCKED(fd); \
    }
OPEN(open, (const char *path, int given_flags, ...), AT_FDCWD, given_flags, REAL(open)(path, flags, mode))
OPEN(open64, (const char *path, int given_flags, ...), AT_FDCWD, given_flags, REAL(open64)(path, flags, mode))
OPEN(openat, (int at, const char *path, int given_flags, ...), at, given_flags, REAL(openat)(at, path, flags, mode))
OPEN(openat64, (int at, const char *path, int given_flags, ...), at, given_flags, REAL(openat64)(at, path, flags, mode))
int creat(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return open(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }

/* Bytes that were written before the file's position; `parts` are those that were given. */
static void written(int fd, ssize_t length, int64_t offset, const struct iovec *parts) {
    struct stat about;
    if (length <= 0 || !followed(fd, &about))
        return;
    if (offset < 0)
        offset = lseek(fd, 0, SEEK_CUR) - length;
    else if (fcntl(fd, F_GETFL) & O_APPEND)
        offset = about.st_size - length; /* Linux appends whatever the offset. */
    for (int at = 0; length > 0; at++) {
        size_t part = parts[at].iov_len < (size_t)length ? parts[at].iov_len : (size_t)length;
        put(WRITE, about.st_ino, (uint64_t)offset, parts[at].iov_base, part, NULL, 0);
        offset += (int64_t)part;
        length -= (ssize_t)part;
    }
}

/* The same of bytes that the caller did not hold: they are read back. */
static void transferred(int fd, ssize_t length, int64_t offset) {
    char link[64];
    struct stat about;
    if (length <= 0 || !followed(fd, &about))
        return;
    if (offset < 0)
        offset = lseek(fd, 0, SEEK_CUR) - length;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    int again = (int)syscall(SYS_openat, AT_FDCWD, link, O_RDONLY | O_CLOEXEC, 0);
    char *bytes = malloc((size_t)length);
    if (again < 0 || !bytes || pread(again, bytes, (size_t)length, offset) != length)
        beyond("a transfer that cannot be read back");
    else
        put(WRITE, about.st_ino, (uint64_t)offset, bytes, (size_t)length, NULL, 0);
    free(bytes);
    close(again);
}

#define WRITES(name, parameters, call, offset, parts) \
    ssize_t name parameters { \
        LOCKED; \
        CALL(length, call); \
        written(fd, length, offset, parts); \
        UNLOCKED(length); \
    }
#define BUFFER (&(struct iovec){(void *)bytes, count})
WRITES(write, (int fd, const void *bytes, size_t count), REAL(write)(fd, bytes, count), -1, BUFFER)
WRITES(pwrite, (int fd, const void *bytes, size_t count, off_t at), REAL(pwrite)(fd, bytes, count, at), at, BUFFER)
WRITES(pwrite64, (int fd, const void *bytes, size_t count, off64_t at), REAL(pwrite64)(fd, bytes, count, at), at, BUFFER)
WRITES(writev, (int fd, const struct iovec *parts, int count), REAL(writev)(fd, parts, count), -1, parts)
WRITES(pwritev, (int fd, const struct iovec *parts, int count, off_t at), REAL(pwritev)(fd, parts, count, at), at, parts)
WRITES(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), REAL(pwritev64)(fd, parts, count, at), at, parts)

#define TRANSFERS(name, parameters, call, offset) \
    ssize_t name parameters { \
        LOCKED; \
        int64_t start = offset; \
        CALL(length, call); \
        transferred(fd, length, start); \
        UNLOCKED(length); \
    }
ssize_t sendfile(int, int, off_t *, size_t);
ssize_t sendfile64(int, int, off64_t *, size_t);
TRANSFERS(sendfile, (int fd, int from, off_t *at, size_t count), REAL(sendfile)(fd, from, at, count), -1)
TRANSFERS(sendfile64, (int fd, int from, off64_t *at, size_t count), REAL(sendfile64)(fd, from, at, count), -1)
TRANSFERS(copy_file_range, (int from, off64_t *at, int fd, off64_t *to, size_t count, unsigned flags),
          REAL(copy_file_range)(from, at, fd, to, count, flags), to ? *to : -1)
TRANSFERS(splice, (int from, off64_t *at, int fd, off64_t *to, size_t count, unsigned flags),
          REAL(splice)(from, at, fd, to, count, flags), to ? *to : -1)

static void resized(int fd, int failed) {
    struct stat about;
    if (!failed && followed(fd, &about))
        put(SIZE, about.st_ino, (uint64_t)about.st_size, NULL, 0, NULL, 0);
}

#define CHANGES(name, parameters, call, record) \
    int name parameters { \
        LOCKED; \
        CALL(failed, call); \
        record; \
        UNLOCKED(failed); \
    }
CHANGES(ftruncate, (int fd, off_t size), REAL(ftruncate)(fd, size), resized(fd, failed))
CHANGES(ftruncate64, (int fd, off64_t size), REAL(ftruncate64)(fd, size), resized(fd, failed))
CHANGES(posix_fallocate, (int fd, off_t at, off_t size), REAL(posix_fallocate)(fd, at, size), resized(fd, failed))
CHANGES(posix_fallocate64, (int fd, off64_t at, off64_t size), REAL(posix_fallocate64)(fd, at, size), resized(fd, failed))

/* Room that is set aside behind the end holds nothing. A hole punched there neither; elsewhere it
 * takes bytes away. */
static void allocated(int fd, int how, int64_t at, int failed) {
    struct stat about;
    if (failed || !followed(fd, &about) || how == FALLOC_FL_KEEP_SIZE)
        return;
    if (how == 0)
        put(SIZE, about.st_ino, (uint64_t)about.st_size, NULL, 0, NULL, 0);
    else if (how != (FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE) || at < about.st_size)
        beyond("fallocate");
}
CHANGES(fallocate, (int fd, int how, off_t at, off_t size), REAL(fallocate)(fd, how, at, size), allocated(fd, how, at, failed))
CHANGES(fallocate64, (int fd, int how, off64_t at, off64_t size), REAL(fallocate64)(fd, how, at, size), allocated(fd, how, at, failed))

static void synced(int fd, int failed) {
    struct stat about;
    if (!failed && followed(fd, &about))
        put(SYNC, about.st_ino, 0, NULL, 0, NULL, 0);
}
CHANGES(fsync, (int fd), REAL(fsync)(fd), synced(fd, failed))
CHANGES(fdatasync, (int fd), REAL(fdatasync)(fd), synced(fd, failed))
CHANGES(syncfs, (int fd), REAL(syncfs)(fd), if (trace >= 0) put(SYNC_ALL, 0, 0, NULL, 0, NULL, 0))

/* A change of one name. */
#define NAMES(name, parameters, at, path, call, what) \
    int name parameters { \
        char whole[PATH_MAX]; \
        if (!resolve(at, path, whole)) \
            return call; \
        LOCKED; \
        CALL(failed, call); \
        struct stat about = {0}; \
        if (!failed && what == MKDIR && lstat(whole, &about) != 0) \
            beyond("a folder that vanished"); \
        if (!failed) \
            put(what, about.st_ino, 0, whole, strlen(whole), NULL, 0); \
        UNLOCKED(failed); \
    }
NAMES(mkdir, (const char *path, mode_t mode), AT_FDCWD, path, REAL(mkdir)(path, mode), MKDIR)
NAMES(mkdirat, (int at, const char *path, mode_t mode), at, path, REAL(mkdirat)(at, path, mode), MKDIR)
NAMES(unlink, (const char *path), AT_FDCWD, path, REAL(unlink)(path), UNLINK)
NAMES(unlinkat, (int at, const char *path, int flags), at, path, REAL(unlinkat)(at, path, flags), (flags & AT_REMOVEDIR ? RMDIR : UNLINK))
NAMES(rmdir, (const char *path), AT_FDCWD, path, REAL(rmdir)(path), RMDIR)
NAMES(remove, (const char *path), AT_FDCWD, path, REAL(remove)(path), BEYOND)
NAMES(truncate, (const char *path, off_t size), AT_FDCWD, path, REAL(truncate)(path, size), BEYOND)
NAMES(truncate64, (const char *path, off64_t size), AT_FDCWD, path, REAL(truncate64)(path, size), BEYOND)
NAMES(symlink, (const char *to, const char *path), AT_FDCWD, path, REAL(symlink)(to, path), BEYOND)
NAMES(symlinkat, (const char *to, int at, const char *path), at, path, REAL(symlinkat)(to, at, path), BEYOND)

/* A change of two names. */
#define TWO_NAMES(name, parameters, from_at, to_at, call, what) \
    int name parameters { \
        char first[PATH_MAX], second[PATH_MAX]; \
        int known = resolve(from_at, from, first) + resolve(to_at, to, second); \
        if (!known) \
            return call; \
        LOCKED; \
        CALL(failed, call); \
        if (!failed && known == 2) \
            put(what, 0, 0, first, strlen(first), second, strlen(second)); \
        else if (!failed) \
            beyond("a name that goes in or out"); \
        UNLOCKED(failed); \
    }
TWO_NAMES(rename, (const char *from, const char *to), AT_FDCWD, AT_FDCWD, REAL(rename)(from, to), RENAME)
TWO_NAMES(renameat, (int at, const char *from, int in, const char *to), at, in, REAL(renameat)(at, from, in, to), RENAME)
TWO_NAMES(renameat2, (int at, const char *from, int in, const char *to, unsigned flags), at, in,
          REAL(renameat2)(at, from, in, to, flags), (flags & ~RENAME_NOREPLACE ? BEYOND : RENAME))
TWO_NAMES(link, (const char *from, const char *to), AT_FDCWD, AT_FDCWD, REAL(link)(from, to), LINK)
TWO_NAMES(linkat, (int at, const char *from, int in, const char *to, int flags), at, in, REAL(linkat)(at, from, in, to, flags), LINK)

/* Writes through memory would go unseen. */
#define MAPS(name, offset_type) \
    void *name(void *where, size_t length, int may, int how, int fd, offset_type at) { \
        struct stat about; \
        if (fd >= 0 && (may & PROT_WRITE) && (how & MAP_SHARED) && followed(fd, &about)) \
            beyond("mmap"); \
        return REAL(name)(where, length, may, how, fd, at); \
    }
MAPS(mmap, off_t)
MAPS(mmap64, off64_t)
