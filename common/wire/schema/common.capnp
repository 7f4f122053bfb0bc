# Structs that several messages contain. docs/design/WIRE.md states the meaning, unit and limit of each field.
# Fields are only ever added, at the end of a struct.
@0xb9ea6c2bb07954d3;
using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("slipstream::schema");

struct SequenceId {
  router @0 :UInt64;
  counter @1 :UInt64;
}

struct VersionRange {
  oldest @0 :UInt16;
  newest @1 :UInt16;
}

struct Fingerprint {
  tokenizer @0 :UInt64;
  weights @1 :UInt64;
  vocabulary @2 :Int32;
  eosIds @3 :List(Int32);
}

struct Needs {
  features @0 :Bool;
  probabilities @1 :Bool;  # reserved: neither written nor read
}

struct Tuning {
  version @0 :UInt32;
  threshold @1 :Float32;
  nodesMax @2 :UInt16;
  depthMax @3 :UInt16;
  deadlineUs @4 :UInt32;
  reason @5 :Text;
}

struct Sampling {
  temperature @0 :Float32;
  topK @1 :Int32;
  topP @2 :Float32;
  minP @3 :Float32;
}

struct LogitBias {
  id @0 :Int32;
  bias @1 :Float32;
}

struct LogitsParams {
  repetitionPenalty @0 :Float32 = 1;
  presencePenalty @1 :Float32;
  frequencyPenalty @2 :Float32;
  minTokens @3 :Int32;
  stopIds @4 :List(Int32);
  logitBias @5 :List(LogitBias);
  badWords @6 :List(List(Int32));
  allowedIds @7 :List(Int32);
}

enum Rule {
  greedy @0;
  coupled @1;
  ratio @2;
  traversal @3;
  lenience @4;
  pareto @5;
  uniform @6;
  typical @7;
}

struct Acceptance {
  rule @0 :Rule;
  strength @1 :Float32;
  delta @2 :Float32;
  rootChildren @3 :UInt8;
  children @4 :UInt8;
  repeats @5 :Bool;
}

struct Trace {
  high @0 :UInt64;
  low @1 :UInt64;
  parent @2 :UInt64;
}
