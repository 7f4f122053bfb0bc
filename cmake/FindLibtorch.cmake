# Finds the libtorch for a CPU that `make setup-torch` installs into .cache/torch, and makes the target Libtorch::cpu. torch's own
# CMake files are not used: they ask for its Python package and for a CUDA toolkit.
set(torch_folder "${PROJECT_SOURCE_DIR}/.cache/torch/torch")
find_path(Libtorch_INCLUDE_DIR ATen/ATen.h PATHS "${torch_folder}/include" NO_DEFAULT_PATH)
find_library(Libtorch_CPU_LIBRARY torch_cpu PATHS "${torch_folder}/lib" NO_DEFAULT_PATH)
find_library(Libtorch_C10_LIBRARY c10 PATHS "${torch_folder}/lib" NO_DEFAULT_PATH)
mark_as_advanced(Libtorch_INCLUDE_DIR Libtorch_CPU_LIBRARY Libtorch_C10_LIBRARY)

set(Libtorch_VERSION "")
if(Libtorch_INCLUDE_DIR)
  foreach(part MAJOR MINOR PATCH)
    file(STRINGS "${Libtorch_INCLUDE_DIR}/torch/headeronly/version.h" line REGEX "define TORCH_VERSION_${part} ")
    string(REGEX MATCH "[0-9]+$" number "${line}")
    list(APPEND Libtorch_VERSION ${number})
  endforeach()
  list(JOIN Libtorch_VERSION . Libtorch_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libtorch
  REQUIRED_VARS Libtorch_CPU_LIBRARY Libtorch_C10_LIBRARY Libtorch_INCLUDE_DIR
  VERSION_VAR Libtorch_VERSION
  REASON_FAILURE_MESSAGE "run `make setup-torch`")

if(Libtorch_FOUND AND NOT TARGET Libtorch::cpu)
  add_library(Libtorch::c10 SHARED IMPORTED)
  set_target_properties(Libtorch::c10 PROPERTIES IMPORTED_LOCATION "${Libtorch_C10_LIBRARY}")
  # The headers of an imported target are given by -isystem, so that our warnings do not look into them.
  add_library(Libtorch::cpu SHARED IMPORTED)
  set_target_properties(Libtorch::cpu PROPERTIES
    IMPORTED_LOCATION "${Libtorch_CPU_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Libtorch_INCLUDE_DIR};${Libtorch_INCLUDE_DIR}/torch/csrc/api/include"
    INTERFACE_LINK_LIBRARIES Libtorch::c10)
endif()
