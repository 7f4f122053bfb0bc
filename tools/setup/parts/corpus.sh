# The corpus of the demo model's own answers, in which look-up may find drafts (docs/use/SERVE.md, "Corpora"). It is in the repository.

corpus_packed="$here/smollm2-135m-instruct.corpus.gz"
corpus_file="$root/models/smollm2-135m-instruct.corpus"
corpus_key() { sha256sum <"$corpus_packed"; }

corpus_missing() { [[ ! -f "$corpus_file" ]] || ! stamped corpus "$(corpus_key)"; }

corpus_plan() { echo "a corpus of the model's own answers, into models/: nothing to download, 2 MB on disk"; }

corpus_install() {
  mkdir -p "$root/models"
  gzip -dc "$corpus_packed" >"$corpus_file"
  stamp corpus "$(corpus_key)"
}
