// SPDX-License-Identifier: Apache-2.0
//
// Derived datatypes: every constructor on its way through a message, freed right after the call that used it (the MPI
// keeps it alive; whoever calls the MPI later must too), packed by hand, looked into, and partly received.
#include "probe.h"

struct particle {
    double position[3];
    int kind;
    char name[5];
};

static MPI_Datatype particle_type(void) {
    MPI_Datatype type;
    MPI_Datatype resized;
    const int lengths[3] = {3, 1, 5};
    const MPI_Aint places[3] = {offsetof(struct particle, position), offsetof(struct particle, kind),
                                offsetof(struct particle, name)};
    const MPI_Datatype types[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR};
    MPI_Type_create_struct(3, lengths, places, types, &type);
    MPI_Type_create_resized(type, 0, sizeof(struct particle), &resized);
    MPI_Type_commit(&resized);
    MPI_Type_free(&type);
    return resized;
}

static void structs_freed_at_once(void) {
    for (int turn = 0; turn < 100; ++turn) {
        struct particle out[3];
        struct particle in[3];
        MPI_Request requests[2];
        memset(in, 0, sizeof in);
        for (int i = 0; i < 3; ++i) {
            out[i] = (struct particle){{me, i, turn}, i * 7 + me, "halo"};
        }
        for (int i = 0; i < 2; ++i) {
            MPI_Datatype type = particle_type();
            if (i == 0) {
                MPI_Irecv(in, 3, type, previous_rank(), 1, MPI_COMM_WORLD, &requests[0]);
            } else {
                MPI_Isend(out, 3, type, next_rank(), 1, MPI_COMM_WORLD, &requests[1]);
            }
            MPI_Type_free(&type);
            EXPECT(type == MPI_DATATYPE_NULL);
            // A new type may take the freed one's handle.
            MPI_Type_contiguous(1, MPI_CHAR, &type);
            MPI_Type_commit(&type);
            MPI_Type_free(&type);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 3; ++i) {
            EXPECT((int)in[i].position[0] == previous_rank() && (int)in[i].position[2] == turn);
            EXPECT(in[i].kind == i * 7 + previous_rank() && strcmp(in[i].name, "halo") == 0);
        }
    }
}

static MPI_Datatype construct(int kind) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    const int sizes[2] = {8, 8};
    const int parts[2] = {4, 3};
    const int starts[2] = {2, 5};
    const int lengths[3] = {2, 1, 3};
    const int places[3] = {1, 8, 20};
    const MPI_Aint byte_places[3] = {4, 32, 80};
    switch (kind) {
    case 0: MPI_Type_vector(4, 2, 5, MPI_INT, &type); break;
    case 1: MPI_Type_create_hvector(4, 2, 20, MPI_INT, &type); break;
    case 2: MPI_Type_indexed(3, lengths, places, MPI_INT, &type); break;
    case 3: MPI_Type_create_hindexed(3, lengths, byte_places, MPI_INT, &type); break;
    case 4: MPI_Type_create_indexed_block(3, 2, places, MPI_INT, &type); break;
    case 5: MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type); break;
    case 6: MPI_Type_create_hindexed_block(3, 2, byte_places, MPI_INT, &type); break;
    default: MPI_Type_contiguous(9, MPI_INT, &type); break;
    }
    MPI_Type_commit(&type);
    return type;
}

static void constructors(void) {
    for (int kind = 0; kind < 8; ++kind) {
        int out[64];
        int in[64];
        int size = 0;
        int n_elements = 0;
        MPI_Aint lower = 0;
        MPI_Aint extent = 0;
        MPI_Request request;
        MPI_Status status;
        MPI_Datatype type = construct(kind);
        MPI_Type_size(type, &size);
        MPI_Type_get_extent(type, &lower, &extent);
        fill(out, 64, me, kind);
        memset(in, 0, sizeof in);
        MPI_Irecv(in, 1, type, previous_rank(), kind, MPI_COMM_WORLD, &request);
        MPI_Send(out, 1, type, next_rank(), kind, MPI_COMM_WORLD);
        MPI_Wait(&request, &status);
        MPI_Get_elements(&status, type, &n_elements);
        EXPECT(n_elements * (int)sizeof(int) == size);
        fill(out, 64, previous_rank(), kind);
        int n_there = 0;
        for (int i = 0; i < 64; ++i) {
            EXPECT(in[i] == 0 || in[i] == out[i]);
            n_there += in[i] != 0;
        }
        say("kind %d: size %d, lower %d, extent %d, there %d", kind, size, (int)lower, (int)extent,
            n_there == n_elements || n_there == n_elements - 1);
        MPI_Type_free(&type);
    }
}

static void partly_received(void) {
    struct particle out = {{1, 2, 3}, 4, "abcd"};
    struct particle in[4];
    MPI_Status status;
    MPI_Datatype type = particle_type();
    int count = 0;
    int n_elements = 0;
    MPI_Sendrecv(&out, 1, type, next_rank(), 1, in, 4, type, previous_rank(), 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &n_elements);
    say("count %d, elements %d", count, n_elements);
    MPI_Sendrecv(out.position, 2, MPI_DOUBLE, next_rank(), 1, in, 4, type, previous_rank(), 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, type, &count);
    MPI_Get_elements(&status, type, &n_elements);
    say("count %d, elements %d", count == MPI_UNDEFINED ? -1 : count, n_elements);
    MPI_Type_free(&type);
}

static void packed(void) {
    char buffer[256];
    int position = 0;
    int size = 0;
    double value = 2.5 + me;
    int number = me;
    MPI_Status status;
    MPI_Pack_size(1, MPI_DOUBLE, MPI_COMM_WORLD, &size);
    EXPECT(size >= 8);
    MPI_Pack(&value, 1, MPI_DOUBLE, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    MPI_Pack(&number, 1, MPI_INT, buffer, sizeof buffer, &position, MPI_COMM_WORLD);
    char received[256];
    MPI_Sendrecv(buffer, position, MPI_PACKED, next_rank(), 1, received, sizeof received, MPI_PACKED, previous_rank(),
                 1, MPI_COMM_WORLD, &status);
    int length = 0;
    MPI_Get_count(&status, MPI_PACKED, &length);
    position = 0;
    MPI_Unpack(received, length, &position, &value, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Unpack(received, length, &position, &number, 1, MPI_INT, MPI_COMM_WORLD);
    say("%g %d, %d bytes", value, number, length);
}

static void looked_into(void) {
    int n_integers = 0;
    int n_addresses = 0;
    int n_types = 0;
    int combiner = 0;
    int integers[8];
    MPI_Aint addresses[8];
    MPI_Datatype types[8];
    MPI_Datatype type = construct(0);
    MPI_Type_get_envelope(type, &n_integers, &n_addresses, &n_types, &combiner);
    EXPECT(combiner == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(type, n_integers, n_addresses, n_types, integers, addresses, types);
    say("%d %d %d", integers[0], integers[1], integers[2]);
    EXPECT(types[0] == MPI_INT);
    MPI_Datatype copy;
    MPI_Type_dup(type, &copy);
    MPI_Type_set_name(copy, "stripes");
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0;
    MPI_Type_get_name(copy, name, &length);
    say("%s", name);
    MPI_Type_free(&copy);
    MPI_Type_free(&type);
    MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &type);
    int size = 0;
    MPI_Type_size(type, &size);
    EXPECT(size == 8);
}

int main(int argc, char** argv) {
    static const struct probe_case cases[] = {
        {"structs_freed_at_once", structs_freed_at_once, 1},
        {"constructors", constructors, 1},
        {"partly_received", partly_received, 1},
        {"packed", packed, 1},
        {"looked_into", looked_into, 1},
    };
    return probe_main(argc, argv, cases, PROBE_COUNT(cases));
}
