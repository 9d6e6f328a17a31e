/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The reader takes each character of the grid by a call of fgetc, which locks the file.
 * place: next_character read_value read_grid getc fgetc _IO_getc
 * finding: input_output calls_in_loop scalar_calls
 * words: (?i)\b(_IO_|f)?getc\b|getc_unlocked|fread|character|one byte|byte by byte|blocks?\b
 * false: memory_latency memory_bandwidth page_faults memory_management lock_contention
 * flags: -O2 -g -pthread
 * arguments: 700 500 80
 * repair: The reader takes blocks by fread and characters from its own buffer.
 * clock: cpu */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Reads grids of heights from a text file, as from a survey. */

struct grid {
    int width, height;
    int *heights;
};

struct reader {
    FILE *file;
#ifdef REPAIRED
    unsigned char buffer[1 << 16];
    size_t at, end;
#endif
};

struct watchdog {
    pthread_t thread;
    sem_t end;
    int is_late;
};

/* Waits for the end of the reading; marks it as late after ten minutes. */
static void *watch(void *argument)
{
    struct watchdog *dog = argument;
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += 600;
    dog->is_late = sem_timedwait(&dog->end, &end) != 0;
    return NULL;
}

static void start_watchdog(struct watchdog *dog)
{
    if (sem_init(&dog->end, 0, 0) || pthread_create(&dog->thread, NULL, watch, dog))
        abort();
}

static void stop_watchdog(struct watchdog *dog)
{
    sem_post(&dog->end);
    pthread_join(dog->thread, NULL);
    sem_destroy(&dog->end);
}

static FILE *write_survey(int width, int height)
{
    FILE *file = tmpfile();
    unsigned state = 9;

    if (!file)
        abort();
    fprintf(file, "%d %d\n", width, height);
    for (int i = 0; i < height; i++)
        for (int j = 0; j < width; j++) {
            state = state * 1664525u + 1013904223u;
            fprintf(file, "%d%c", (int)(state >> 20) - 1500, j + 1 < width ? ' ' : '\n');
        }
    return file;
}

static int next_character(struct reader *reader)
{
#ifdef REPAIRED
    if (reader->at == reader->end) {
        reader->end = fread(reader->buffer, 1, sizeof reader->buffer, reader->file);
        reader->at = 0;
        if (reader->end == 0)
            return EOF;
    }
    return reader->buffer[reader->at++];
#else
    return fgetc(reader->file); /* HERE */
#endif
}

/* Reads a number and the character after it. */
static int read_value(struct reader *reader)
{
    int value = 0, sign = 1, character = next_character(reader); /* HERE */

    while (character == ' ' || character == '\n')
        character = next_character(reader); /* HERE */
    if (character == '-') {
        sign = -1;
        character = next_character(reader); /* HERE */
    }
    while (character >= '0' && character <= '9') {
        value = 10 * value + character - '0';
        character = next_character(reader); /* HERE */
    }
    return sign * value;
}

static void read_grid(struct reader *reader, struct grid *grid)
{
    grid->width = read_value(reader);
    grid->height = read_value(reader);
    size_t n = (size_t)grid->width * (size_t)grid->height;
    grid->heights = malloc(n * sizeof *grid->heights);
    if (!grid->heights)
        abort();
    for (size_t i = 0; i < n; i++)
        grid->heights[i] = read_value(reader); /* HERE */
}

/* Returns the sum of all steps upwards along the rows. */
static long climb_of(const struct grid *grid)
{
    long climb = 0;

    for (int i = 0; i < grid->height; i++) {
        const int *row = grid->heights + (size_t)i * (size_t)grid->width;
        for (int j = 1; j < grid->width; j++)
            climb += row[j] > row[j - 1] ? row[j] - row[j - 1] : 0;
    }
    return climb;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    FILE *file = write_survey(atoi(argv[1]), atoi(argv[2]));
    struct watchdog dog;
    long total = 0;

    start_watchdog(&dog);
    for (int pass = 0; pass < atoi(argv[3]); pass++) {
        static struct reader reader;
        struct grid grid;
        rewind(file);
        reader.file = file;
        read_grid(&reader, &grid);
        total += climb_of(&grid);
        free(grid.heights);
    }
    stop_watchdog(&dog);
    printf("climb %ld%s\n", total, dog.is_late ? ", late" : "");
    fclose(file);
    return 0;
}
