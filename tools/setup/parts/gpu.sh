# libtorch for a GPU and NVIDIA's libraries that it names, for an image or an installation with `cuda:N`: `make setup-gpu` alone
# installs it. Compiling for a GPU (parts/cuda.sh) needs none of it.

gpu_folder="$cache/torch-gpu"
gpu_key() { cat "$here/requirements-torch-gpu.txt" "$here/unpack_torch.py" | sha256sum; }

gpu_missing() { [[ ! -d "$gpu_folder" ]] || ! stamped gpu "$(gpu_key)"; }

gpu_plan() { echo "libtorch 2.11 for a GPU, into .cache/torch-gpu: 2.5 GB to download, 3.4 GB on disk, 2 minutes"; }

gpu_install() {
  wheels_unpacked "$gpu_folder" "$here/requirements-torch-gpu.txt" --gpu
  stamp gpu "$(gpu_key)"
}
