#!/usr/bin/env bash
# Installs the peers that `make bench-peers` compares with into the given folder: a Python environment with requirements.txt,
# llama.cpp's server, built for this CPU from the sources in llama-cpp-python, and the suffix decoding of arctic-inference, whose other
# parts need vLLM. What is already installed stays.
#
#   bench/peers/setup.sh .cache/peers
set -euo pipefail

folder="$(mkdir -p "$1" && cd "$1" && pwd)"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
requirements="$here/requirements.txt"
python="$folder/bin/python"
server="$folder/llama-server"

# GCC 12 miscompiles llama.cpp's AMX path: its tile intrinsics do not declare that they read memory, so the compiler drops the
# writes of the tile configuration, and the program ends with an illegal instruction.
if grep -qw amx_int8 /proc/cpuinfo; then
  if ! command -v clang++-19 >/dev/null; then
    echo "Peers: this CPU has AMX, for which llama.cpp must be built by clang: apt-get install clang-19, and run this again" >&2
    exit 1
  fi
  export CC=clang-19 CXX=clang++-19
fi

if ! cmp -s "$requirements" "$folder/installed.txt"; then
  echo "Peers: llama.cpp, OpenVINO and transformers into $1: 3 GB to download, 8 GB on disk, 20 minutes on two cores, once"
  /usr/bin/env python3 -m venv "$folder"
  "$python" -m pip --disable-pip-version-check install -q -r "$requirements"
  cp "$requirements" "$folder/installed.txt"
fi

if [[ ! -x "$server" ]]; then
  echo "Peers: building llama-server: 10 minutes on two cores, once"
  pinned="$(grep llama-cpp-python "$requirements" | tail -n 1)"
  "$python" -m pip --disable-pip-version-check download -q --no-binary :all: --no-deps -d "$folder/sources" "$pinned"
  tar -xzf "$folder"/sources/llama_cpp_python-*.tar.gz -C "$folder/sources" --strip-components 1
  cmake -S "$folder/sources/vendor/llama.cpp" -B "$folder/sources/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_APP=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_OPENSSL=OFF >/dev/null
  cmake --build "$folder/sources/build" --target llama-server --parallel 2 >/dev/null
  cp "$folder/sources/build/bin/llama-server" "$server"
fi

packages="$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
suffixes="$packages/arctic_inference/suffix_decoding"
if [[ ! -d "$suffixes" ]]; then
  echo "Peers: building Arctic's suffix decoding: half a minute, once"
  arctic="$folder/arctic"
  pinned="$(sed -n 's/^# sources only: //p' "$requirements")"
  "$python" -m pip --disable-pip-version-check download -q --no-build-isolation --no-deps -d "$arctic" "$pinned"
  tar -xzf "$arctic"/arctic_inference-*.tar.gz -C "$arctic" --strip-components 1
  cmake -S "$arctic/csrc/suffix_decoding" -B "$arctic/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$python" >/dev/null
  cmake --build "$arctic/build" >/dev/null
  cp "$arctic"/build/_C.*.so "$arctic/arctic_inference/suffix_decoding"
  mkdir -p "$packages/arctic_inference"
  cp -r "$arctic/arctic_inference/suffix_decoding" "$suffixes"
fi
