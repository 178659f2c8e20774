# SPDX-License-Identifier: Apache-2.0
# The MPIs with which scripts/test runs the tests (docs/mpis.md), and the warning about any other. A
# file of its own, so that install.configure can test the warning with versions that are not
# installed.
set(COMMTASK_TESTED_MPIS "mpich 4.0.2" "mpich 5.0.2" "openmpi 4.1.4" "intel 2021.19.0")

# commtask_warn_of_untested_mpi(mpich "MPICH" 4.0.2): another patch release counts as tested.
function(commtask_warn_of_untested_mpi family name version)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${version}")
    if(NOT "${COMMTASK_TESTED_MPIS};" MATCHES "${family} ${release}[.;]")
        list(JOIN COMMTASK_TESTED_MPIS ", " tested)
        message(WARNING "commtask is not tested with ${name} ${version}, but with: ${tested} (docs/mpis.md). Run its tests "
                        "before you rely on it.")
    endif()
endfunction()
