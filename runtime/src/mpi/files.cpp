// SPDX-License-Identifier: Apache-2.0
//
// Starts file operations. All have a nonblocking form in MPI-3.1. A file has its own error handler,
// by default MPI_ERRORS_RETURN. A handler MPI_ERRORS_ARE_FATAL is meant for the program's own
// calls, so it is replaced during the library's calls.
#include "mpi/counts.hpp"
#include "mpi/one_sided.hpp"
#include "mpi/operations.hpp"

namespace commtask::detail {
namespace {

/// While an object exists, an error of the file fails the task instead of ending the program.
class file_errors_return {
public:
    explicit file_errors_return(MPI_File file) noexcept : file_(file) {
        if (MPI_File_get_errhandler(file, &before_) != MPI_SUCCESS) return;
        if (before_ == MPI_ERRORS_ARE_FATAL) {
            MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
        } else if (before_ != MPI_ERRORS_RETURN) {
            MPI_Errhandler_free(&before_); // frees the library's reference only
        }
    }
    file_errors_return(const file_errors_return&) = delete;
    file_errors_return& operator=(const file_errors_return&) = delete;
    ~file_errors_return() {
        if (before_ == MPI_ERRORS_ARE_FATAL) MPI_File_set_errhandler(file_, MPI_ERRORS_ARE_FATAL);
    }

private:
    MPI_File file_;
    MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

} // namespace

int start_file(const commtask_op& op, started_requests& started) noexcept {
    MPI_Request* const request = &started.requests[0];
    MPI_File const file = file_of(op);
    const file_errors_return scope{file};
    void* const to = const_cast<void*>(op.recv.buffer);
    const void* const from = op.send.buffer;
    const one_count nr{op.recv.count};
    const one_count ns{op.send.count};
    const MPI_Offset read_at = displacement_of(op.send);
    const MPI_Offset write_at = displacement_of(op.recv);
    const bool fits = fits_int(nr.value) && fits_int(ns.value);
    int code = MPI_SUCCESS;
    switch (op.kind) {
    case COMMTASK_OP_FILE_READ: code = COMMTASK_MPI_CALL(fits, File_iread, file, to, nr, op.recv.type, request); break;
    case COMMTASK_OP_FILE_READ_AT:
        code = COMMTASK_MPI_CALL(fits, File_iread_at, file, read_at, to, nr, op.recv.type, request);
        break;
    case COMMTASK_OP_FILE_READ_ALL:
        code = COMMTASK_MPI_CALL(fits, File_iread_all, file, to, nr, op.recv.type, request);
        break;
    case COMMTASK_OP_FILE_READ_AT_ALL:
        code = COMMTASK_MPI_CALL(fits, File_iread_at_all, file, read_at, to, nr, op.recv.type, request);
        break;
    case COMMTASK_OP_FILE_READ_SHARED:
        code = COMMTASK_MPI_CALL(fits, File_iread_shared, file, to, nr, op.recv.type, request);
        break;
    case COMMTASK_OP_FILE_WRITE:
        code = COMMTASK_MPI_CALL(fits, File_iwrite, file, from, ns, op.send.type, request);
        break;
    case COMMTASK_OP_FILE_WRITE_AT:
        code = COMMTASK_MPI_CALL(fits, File_iwrite_at, file, write_at, from, ns, op.send.type, request);
        break;
    case COMMTASK_OP_FILE_WRITE_ALL:
        code = COMMTASK_MPI_CALL(fits, File_iwrite_all, file, from, ns, op.send.type, request);
        break;
    case COMMTASK_OP_FILE_WRITE_AT_ALL:
        code = COMMTASK_MPI_CALL(fits, File_iwrite_at_all, file, write_at, from, ns, op.send.type, request);
        break;
    case COMMTASK_OP_FILE_WRITE_SHARED:
        code = COMMTASK_MPI_CALL(fits, File_iwrite_shared, file, from, ns, op.send.type, request);
        break;
    default: return MPI_ERR_INTERN;
    }
    if (code == MPI_SUCCESS) started.count = 1;
    return code;
}

} // namespace commtask::detail
