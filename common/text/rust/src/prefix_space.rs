//! Takes the step out of a tokenizer that puts a space before a text. What is left tokenizes the
//! middle of a text.

use tokenizers::normalizers::{self, NormalizerWrapper};
use tokenizers::pre_tokenizers::metaspace::PrependScheme;
use tokenizers::pre_tokenizers::sequence::Sequence;
use tokenizers::PreTokenizerWrapper;

pub fn normalizer_without(normalizer: &NormalizerWrapper) -> Option<NormalizerWrapper> {
    match normalizer {
        NormalizerWrapper::Prepend(_) => None,
        NormalizerWrapper::Sequence(steps) => {
            let left = steps.as_ref().iter().filter_map(normalizer_without).collect();
            Some(NormalizerWrapper::Sequence(normalizers::Sequence::new(left)))
        }
        other => Some(other.clone()),
    }
}

pub fn pre_tokenizer_without(pre_tokenizer: &PreTokenizerWrapper) -> PreTokenizerWrapper {
    match pre_tokenizer {
        PreTokenizerWrapper::Metaspace(metaspace) => {
            let mut metaspace = metaspace.clone();
            metaspace.set_prepend_scheme(PrependScheme::Never);
            PreTokenizerWrapper::Metaspace(metaspace)
        }
        PreTokenizerWrapper::ByteLevel(byte_level) => {
            PreTokenizerWrapper::ByteLevel(byte_level.add_prefix_space(false))
        }
        PreTokenizerWrapper::Sequence(steps) => {
            PreTokenizerWrapper::Sequence(Sequence::new(steps.as_ref().iter().map(pre_tokenizer_without).collect()))
        }
        other => other.clone(),
    }
}
