// SPDX-License-Identifier: Apache-2.0
//
// Odd places for a directive in C++, and odd ways to get there: function try blocks, friends, functions in classes whose
// braces are macros, statement expressions. They only have to compile, each into one communication: the plugin must
// tell a class from a function in it before the compiler has told it.
#include <commtask/omp.h>

#include <vector>

#define BEGIN {
#define END }
#define BARRIER _Pragma("omp task comm(barrier : MPI_COMM_WORLD)")

// clang-format off
struct holder BEGIN
    int a = 0;
    int b = [] {
        int x = 0;
#pragma omp task comm(send : &x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
        return x;
    }();
    void in_macro_braces() BEGIN
#pragma omp task comm(send : &a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
    END
    auto in_returned_lambda() {
        return [this] {
#pragma omp task comm(send : &a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
        };
    }
    friend void in_friend(holder& s) {
#pragma omp task comm(send : &s.a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
    }
    holder() try : a(1) {
#pragma omp task comm(send : &a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
    } catch (...) {
#pragma omp task comm(barrier : MPI_COMM_WORLD)
    }
END;
// clang-format on

template <class T>
struct outer {
    T a;
    template <class V>
    void member_template(V v) {
#pragma omp task comm(send : &a, int(v), MPI_INT, 0, 0, MPI_COMM_WORLD) depend(in : a)
    }
    struct inner {
        T c;
        void member_of_inner() {
#pragma omp task comm(send : &c, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
        }
    };
};
template struct outer<int>;

extern "C" {
void in_linkage(int* a);
void in_linkage(int* a) {
#pragma omp task comm(send : a, 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
}
}

int in_expression();
int in_expression() {
    return ({
        BARRIER;
        3;
    });
}

void use(int v, std::vector<int>& d);
void use(int v, std::vector<int>& d) {
    outer<int> o{};
    o.member_template(1);
    o.member_template('1');
    holder h;
    h.in_macro_braces();
    h.in_returned_lambda()();
    in_friend(h);
    switch (v) {
        int q;
    case 1:
#pragma omp task comm(send : d.data(), static_cast<MPI_Count>(d.size()), MPI_INT, 0, 0, MPI_COMM_WORLD)
    case 2: q = 1; (void)q;
    }
    if constexpr (sizeof(int) > 1)
#pragma omp task comm(send : d.data(), 1, MPI_INT, 0, 0, MPI_COMM_WORLD)
        else {}
    for (auto& x : d)
#pragma omp task comm(send : &x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD) priority(d.size() > 3 ? 1 : 2)
}
