/* SPDX-License-Identifier: Apache-2.0 */
/* cause: Each cell reserves exactly the space that it needs, which copies the vectors each time.
 * place: add_cell make_room reserve read_mesh memcpy memmove
 * finding: copying memory_management memory_given_back page_faults
 * words: (?i)\breserv|\bgrow|realloc|\bcop(y|ies|ied)\b|larger steps
 * false: memory_latency scalar_chain input_output lock_contention scalar_gather
 * flags: -O2 -g
 * arguments: 120 100 8
 * repair: The vectors grow by themselves, which doubles their size each time.
 * clock: cpu */
#include <array>
#include <cstdio>
#include <cstdlib>
#include <vector>

/* Builds a mesh of quadrangles cell by cell, as a reader of mesh files does. */

struct Cell {
    std::array<int, 4> corners;
    int material;
};

/* Corners of all cells in one vector, with the first corner of each cell. */
struct Mesh {
    std::vector<int> first, corners, materials;
    std::vector<double> areas;
};

/* Yields the cells of a structured block one by one. */
class Source
{
  public:
    Source(int nx, int ny) : width(nx), height(ny)
    {
    }

    bool next(Cell &cell)
    {
        if (at == width * height)
            return false;
        int x = at % width, y = at / width, corner = y * (width + 1) + x;
        cell.corners = {corner, corner + 1, corner + width + 2, corner + width + 1};
        cell.material = (x / 8 + y / 8) % 3;
        at++;
        return true;
    }

  private:
    int width, height;
    int at = 0;
};

template <class T> static void make_room(std::vector<T> &of, size_t more)
{
#ifdef REPAIRED
    (void)of;
    (void)more;
#else
    of.reserve(of.size() + more); /* HERE */
#endif
}

static void add_cell(Mesh &mesh, const Cell &cell)
{
    make_room(mesh.first, 1);                     /* HERE */
    make_room(mesh.materials, 1);                 /* HERE */
    make_room(mesh.areas, 1);                     /* HERE */
    make_room(mesh.corners, cell.corners.size()); /* HERE */
    mesh.first.push_back(static_cast<int>(mesh.corners.size()));
    mesh.materials.push_back(cell.material);
    mesh.areas.push_back(1.0 + 0.25 * (cell.corners[0] % 4));
    for (int corner : cell.corners)
        mesh.corners.push_back(corner);
}

static Mesh read_mesh(Source source)
{
    Mesh mesh;
    Cell cell;

    while (source.next(cell))
        add_cell(mesh, cell); /* HERE */
    mesh.first.push_back(static_cast<int>(mesh.corners.size()));
    return mesh;
}

/* Returns the area of the cells of a material. */
static double area_of(const Mesh &mesh, int material)
{
    double total = 0;

    for (size_t i = 0; i < mesh.areas.size(); i++)
        if (mesh.materials[i] == material)
            total += mesh.areas[i];
    return total;
}

/* Returns how many cells the most frequent corner has. */
static int highest_degree(const Mesh &mesh, int corner_n)
{
    std::vector<int> degrees(static_cast<size_t>(corner_n), 0);
    int highest = 0;

    for (size_t cell = 0; cell + 1 < mesh.first.size(); cell++)
        for (int i = mesh.first[cell]; i < mesh.first[cell + 1]; i++) {
            int corner = mesh.corners[static_cast<size_t>(i)];
            int degree = ++degrees[static_cast<size_t>(corner)];
            highest = degree > highest ? degree : highest;
        }
    return highest;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int nx = atoi(argv[1]), ny = atoi(argv[2]);

    for (int block = 0; block < atoi(argv[3]); block++) {
        Mesh mesh = read_mesh(Source(nx + block, ny));
        int degree = highest_degree(mesh, (nx + block + 1) * (ny + 1));
        if (degree != 4) {
            fprintf(stderr, "exact_reserve: a corner has %d cells\n", degree);
            return 1;
        }
        printf("block %d: %zu cells, area %.2f\n", block, mesh.areas.size(), area_of(mesh, 1));
    }
}
