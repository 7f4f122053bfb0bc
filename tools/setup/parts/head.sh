# The demo model's draft head (docs/use/SERVE.md, "Drafters"), beside the model, where services find it. It is in the
# repository; tools/setup/smollm2-135m-instruct.head.md tells what it is and how it was made.

head_packed="$here/smollm2-135m-instruct.head.tar.gz"
head_folder="$root/models/smollm2-135m-instruct.gguf-head"
head_key() { sha256sum <"$head_packed"; }

head_missing() { [[ ! -s "$head_folder/model.safetensors" ]] || ! stamped head "$(head_key)"; }

head_plan() { echo "the model's draft head, into models/: nothing to download, 15 MB on disk"; }

head_install() {
  rm -rf "$head_folder"
  mkdir -p "$head_folder"
  tar -xzf "$head_packed" -C "$head_folder"
  stamp head "$(head_key)"
}
