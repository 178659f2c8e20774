// SPDX-License-Identifier: Apache-2.0
//
// Where a directive with a comm clause may stand in C++, and what its arguments may be: templates of which several
// instances exist, lambdas with captures, members and this, structured bindings, template arguments with commas.
#include "in_header.h"

#include <array>
#include <tuple>
#include <vector>

namespace {

template <typename T>
struct type_of;
template <>
struct type_of<int> {
    static MPI_Datatype get() { return MPI_INT; }
};
template <>
struct type_of<double> {
    static MPI_Datatype get() { return MPI_DOUBLE; }
};

template <typename Left, typename Right>
constexpr int one_of_two() {
    return sizeof(Left) > 0 && sizeof(Right) > 0 ? 1 : 0;
}

template <typename T, int Tag>
void exchange(const T& out, T& in) {
#pragma omp task depend(out : in) comm(recv : &in, one_of_two<T, int>(), type_of<T>::get(), left, Tag, world)
#pragma omp task depend(in : out) comm(send : &out, (one_of_two<int, T>()), type_of<T>::get(), right, Tag, world)
}

class halo {
public:
    explicit halo(int first) : out_(first) {
#pragma omp task comm(recv : &in_, 1, MPI_INT, left, 10, world)
    }
    void send() const {
        if (out_ >= 0)
#pragma omp task comm(send : &this->out_, 1, MPI_INT, right, 10, world)
            ;
        else
            expect(0, "else in a member function");
    }
    /// Called send like the operation, and used beside it.
    int in() const { return in_; }
    template <typename Tag>
    void again(Tag tag);

private:
    int out_;
    int in_ = -1;
};

template <typename Tag>
void halo::again(Tag tag) {
#pragma omp task comm(sendrecv : &out_, 1, MPI_INT, right, static_cast<int>(tag), &in_, 1, MPI_INT, left,              \
                          static_cast<int>(tag), world)
}

const auto at_namespace_scope = [](const int* out, int* in) {
#pragma omp task comm(send : out, 1, MPI_INT, right, 20, world)
#pragma omp task comm(recv : in, 1, MPI_INT, left, 20, world)
};

void templates() {
    int out = 100 * rank, in = -1;
    double out_d = 100.0 * rank, in_d = -1;
    int again = -1;
#pragma omp parallel
#pragma omp single
    {
        exchange<int, 1>(out, in);
        exchange<double, 2>(out_d, in_d);
        exchange<int, 3>(out, again);
    }
    expect_from(&in, 1, left, "template of int");
    expect(in_d == 100.0 * left, "template of double");
    expect_from(&again, 1, left, "a second instance");
}

void classes() {
    int last = -1;
#pragma omp parallel
#pragma omp single
    {
        halo mine(100 * rank);
        mine.send();
#pragma omp taskwait
        expect(mine.in() == 100 * left, "members");
        mine.again(11L);
        struct local {
            int value;
            void exchange(int* in) {
#pragma omp task comm(send : &value, 1, MPI_INT, right, 12, world)
#pragma omp task comm(recv : in, 1, MPI_INT, left, 12, world)
            }
        } inner = {100 * rank};
        inner.exchange(&last);
#pragma omp taskwait
    }
    expect_from(&last, 1, left, "a local class");
}

void lambdas() {
    std::array<int, 4> out{}, in{};
    fill(out.data(), 4, rank);
#pragma omp parallel
#pragma omp single
    {
        const auto by_reference = [&](std::size_t i) {
#pragma omp task comm(recv : &in[i], 1, MPI_INT, left, int(i), world)
        };
        const auto generic = [&in, to = right](const auto& from, auto i) {
            (void)in;
#pragma omp task comm(send : &from[i], 1, MPI_INT, to, int(i), world)
        };
        for (std::size_t i = 0; i < 3; ++i) {
            by_reference(i);
            generic(out, i);
        }
        at_namespace_scope(&out[3], &in[3]);
    }
    expect_from(in.data(), 4, left, "lambdas");
}

void arguments() {
    std::vector<int> out(3), in(3, -1);
    fill(out.data(), 3, rank);
#pragma omp parallel
#pragma omp single
    {
        const auto [to, from] = std::tuple<int, int>{right, left};
        auto& [first, second, third] = *reinterpret_cast<std::array<int, 3>*>(in.data());
#pragma omp task comm(recv : &first, 1, MPI_INT, from, 0, world)
#pragma omp task comm(recv : &second, std::tuple<int, int>{1, 2} < std::tuple<int, int>{2, 1}, MPI_INT, from, 1, world)
#pragma omp task comm(recv : &third, [](int n, int){return n;}(1, 2), MPI_INT, from, 2, world)
        ;
        for (int& each : out) {
            try {
#pragma omp task comm(send : &each, 1, MPI_INT, to, int(&each - out.data()), ::world)
            } catch (...) {
                expect(0, "an exception");
            }
        }
        exchange_in_header(out.data(), in.data());
#pragma omp taskwait
    }
    expect_from(in.data(), 3, left, "arguments");
}

} // namespace

static void test_all() {
    templates();
    classes();
    lambdas();
    arguments();
}
