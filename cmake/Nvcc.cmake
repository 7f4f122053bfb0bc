# Enables CUDA with the nvcc that `make setup-cuda` installs into .cache/cuda.
set(cuda_folder "${PROJECT_SOURCE_DIR}/.cache/cuda/nvidia/cu13")
if(NOT DEFINED CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  if(NOT EXISTS "${cuda_folder}/bin/nvcc")
    message(FATAL_ERROR "SLIPSTREAM_CUDA is on, and there is no nvcc: run `make setup-cuda`, or set CMAKE_CUDA_COMPILER")
  endif()
  set(CMAKE_CUDA_COMPILER "${cuda_folder}/bin/nvcc")
  # The packages have lib/ where a toolkit has lib64/, so nvcc's own -L misses it.
  set(CMAKE_CUDA_FLAGS_INIT "-L${cuda_folder}/lib")
endif()
# A100 and H100 as machine code, and PTX that newer GPUs' drivers compile.
set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual)
if(CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CCACHE})
endif()
enable_language(CUDA)
# nvcc 13.0 compiles C++20, not 23. CMake 3.25 does not know how to ask it.
set(CMAKE_CUDA_STANDARD 20)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
