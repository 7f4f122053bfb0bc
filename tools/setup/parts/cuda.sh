# nvcc and CUDA's headers, which compile kernels/cuda for a GPU: `make setup-cuda` alone installs them. The tests need neither.

cuda_folder="$cache/cuda"
cuda_key() { sha256sum <"$here/requirements-cuda.txt"; }

cuda_missing() { [[ ! -x "$cuda_folder/nvidia/cu13/bin/nvcc" ]] || ! stamped cuda "$(cuda_key)"; }

cuda_plan() { echo "nvcc 13.0 and CUDA's headers, into .cache/cuda: 105 MB to download, 270 MB on disk, half a minute"; }

cuda_install() {
  if ! python_ready; then python_install; fi
  rm -rf "$cuda_folder" "$cuda_folder.partial"
  logged cuda "$root/.venv/bin/python" -m pip --disable-pip-version-check install --no-deps --require-hashes --resume-retries 10 \
    --only-binary :all: --target "$cuda_folder.partial" -r "$here/requirements-cuda.txt"
  mv "$cuda_folder.partial" "$cuda_folder"
  stamp cuda "$(cuda_key)"
}
