/* What the preloaded libraries share: the calls of the C library behind theirs, and which paths are
 * below the one folder that they watch.
 */
#ifndef PATHS_H
#define PATHS_H
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* The folder, an absolute path without symbolic links; NULL where nothing is watched. */
static const char *folder;
static size_t folder_length;

/* Sets the folder. */
static void watch(const char *path) {
    folder = path;
    folder_length = path ? strlen(path) : 0;
}

/* The C library's own function of this name. */
#define REAL(name) ((__typeof__(&name))real(#name))
static void *real(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "preloaded: no %s\n", name);
        abort();
    }
    return found;
}

/* Whether an absolute path is below the folder; the folder itself counts as that. */
static int below(const char *path) {
    return folder && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == '/' || path[folder_length] == 0);
}

static int path_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    path[length < 0 ? 0 : length] = 0;
    return length > 0;
}

/* The absolute path, without "." and ".."; 1 where it is below the folder. */
static int resolve(int at, const char *given, char *path) {
    char whole[2 * PATH_MAX + 2];
    path[0] = 0;
    if (!folder || !given)
        return 0;
    if (given[0] == '/') {
        snprintf(whole, sizeof whole, "%s", given);
    } else {
        char base[PATH_MAX];
        if (at == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of(at, base))
            return 0;
        snprintf(whole, sizeof whole, "%s/%s", base, given);
    }
    size_t length = 0;
    char *rest = NULL;
    for (char *part = strtok_r(whole, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
        if (strcmp(part, ".") == 0)
            continue;
        if (strcmp(part, "..") == 0) {
            while (length > 0 && path[--length] != '/')
                ;
        } else if (length + strlen(part) + 2 < PATH_MAX) {
            path[length++] = '/';
            strcpy(path + length, part);
            length += strlen(part);
        }
        path[length] = 0;
    }
    return below(path);
}

/* Whether an open file has a name below the folder. */
static int followed(int fd, struct stat *about) {
    char path[PATH_MAX];
    return folder && path_of(fd, path) && below(path) && fstat(fd, about) == 0 &&
           (S_ISREG(about->st_mode) || S_ISDIR(about->st_mode)) && about->st_nlink > 0;
}

#endif
