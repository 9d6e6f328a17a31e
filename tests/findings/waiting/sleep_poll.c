/* SPDX-License-Identifier: Apache-2.0 */
/* cause: The client sleeps for a millisecond between its looks whether a result is there.
 * place: wait_for_result solve_all usleep nanosleep clock_nanosleep
 * finding: waiting processors_idle late
 * words: (?i)\b(u|nano|clock_nano)?sleeps?\b|sleeping|\bpolls?\b|polling|condition variable
 * false: lock_contention load_imbalance oversubscribed memory_latency input_output busy_waiting
 * flags: -O2 -g -pthread
 * arguments: 1200 64 100
 * repair: The client waits at a condition variable.
 * clock: wall */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* A client sends small linear systems one after the other to a thread that solves them. */

struct service {
    pthread_mutex_t mutex;
    pthread_cond_t job_came;
    pthread_cond_t result_came;
    double *matrix, *right; /* the job; the result is in right */
    int has_job, has_result, ends;
    int n, sweep_n;
};

static void fill_system(double *matrix, double *right, int n, int job)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++)
            matrix[i * n + j] = i == j ? 2.0 * n : (i * 3 + j + job) % 7 - 3;
        right[i] = (i + job) % 5;
    }
}

/* Solves by sweeps of Gauss and Seidel. */
static void solve(const double *matrix, double *right, int n, int sweep_n)
{
    double *x = calloc((size_t)n, sizeof *x);

    if (!x)
        abort();
    for (int sweep = 0; sweep < sweep_n; sweep++)
        for (int i = 0; i < n; i++) {
            double rest = right[i];
            for (int j = 0; j < n; j++)
                rest -= j == i ? 0 : matrix[i * n + j] * x[j];
            x[i] = rest / matrix[i * n + i];
        }
    for (int i = 0; i < n; i++)
        right[i] = x[i];
    free(x);
}

static void *serve(void *argument)
{
    struct service *service = argument;

    pthread_mutex_lock(&service->mutex);
    for (;;) {
        while (!service->has_job && !service->ends)
            pthread_cond_wait(&service->job_came, &service->mutex);
        if (service->ends)
            break;
        service->has_job = 0;
        pthread_mutex_unlock(&service->mutex);
        solve(service->matrix, service->right, service->n, service->sweep_n);
        pthread_mutex_lock(&service->mutex);
        service->has_result = 1;
        pthread_cond_signal(&service->result_came);
    }
    pthread_mutex_unlock(&service->mutex);
    return NULL;
}

static void submit(struct service *service)
{
    pthread_mutex_lock(&service->mutex);
    service->has_job = 1;
    service->has_result = 0;
    pthread_cond_signal(&service->job_came);
    pthread_mutex_unlock(&service->mutex);
}

static void wait_for_result(struct service *service)
{
#ifdef REPAIRED
    pthread_mutex_lock(&service->mutex);
    while (!service->has_result)
        pthread_cond_wait(&service->result_came, &service->mutex);
    pthread_mutex_unlock(&service->mutex);
#else
    int has_result = 0;

    while (!has_result) {
        usleep(1000); /* HERE */
        pthread_mutex_lock(&service->mutex);
        has_result = service->has_result;
        pthread_mutex_unlock(&service->mutex);
    }
#endif
}

static double solve_all(struct service *service, int job_n)
{
    double total = 0;

    for (int job = 0; job < job_n; job++) {
        fill_system(service->matrix, service->right, service->n, job);
        submit(service);
        wait_for_result(service); /* HERE */
        for (int i = 0; i < service->n; i++)
            total += service->right[i];
    }
    return total;
}

static void stop_service(struct service *service)
{
    pthread_mutex_lock(&service->mutex);
    service->ends = 1;
    pthread_cond_signal(&service->job_came);
    pthread_mutex_unlock(&service->mutex);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct service service = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                              .job_came = PTHREAD_COND_INITIALIZER,
                              .result_came = PTHREAD_COND_INITIALIZER,
                              .n = atoi(argv[2]),
                              .sweep_n = atoi(argv[3])};
    size_t n = (size_t)service.n;
    pthread_t thread;

    service.matrix = malloc(n * n * sizeof *service.matrix);
    service.right = malloc(n * sizeof *service.right);
    if (!service.matrix || !service.right || pthread_create(&thread, NULL, serve, &service))
        abort();
    double total = solve_all(&service, atoi(argv[1]));
    stop_service(&service);
    pthread_join(thread, NULL);
    printf("sum of solutions %.6f\n", total);
    free(service.matrix);
    free(service.right);
    return 0;
}
