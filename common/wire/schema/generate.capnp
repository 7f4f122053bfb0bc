# Boundary `generate`, between router and verifier (docs/design/WIRE.md, section 5).
@0xc11b93f981038496;
using Cxx = import "/capnp/c++.capnp";
using import "common.capnp".Acceptance;
using import "common.capnp".LogitsParams;
using import "common.capnp".Sampling;
using import "common.capnp".SequenceId;
using import "common.capnp".Trace;
using import "common.capnp".Tuning;
$Cxx.namespace("slipstream::schema");

struct Generate {
  union {
    none @0 :Void;  # what an all-zero message reads as; it is malformed
    start @1 :Start;
    ack @2 :Ack;
    cancel @3 :Cancel;
    accepted @4 :Accepted;
    refused @5 :Refused;
    tokens @6 :Tokens;
    assign @7 :Assign;
  }
}

struct DrafterRef {
  incarnation @0 :UInt64;
  endpoint @1 :Text;
  tuning @2 :Tuning;
}

struct Start {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  choice @2 :UInt32;
  seed @3 :UInt64;
  promptLength @4 :Int32;
  outputMax @5 :Int32;
  leaseMs @6 :UInt32;
  acceptance @7 :Acceptance;
  tokens @8 :List(Int32);
  sampling @9 :Sampling;
  stopIds @10 :List(Int32);
  drafters @11 :List(DrafterRef);
  tuning @12 :Tuning;  # reserved: neither written nor read; each drafter has its own
  logitsParams @13 :LogitsParams;  # null: none
  logprobs @14 :UInt8;  # 0: none; else one more than the alternatives beside each
  tenant @15 :UInt64;  # 0: none
  draftNodesMax @16 :UInt16;
  draftDepthMax @17 :UInt16;
  grammar @18 :Grammar;  # null: none
  promptLogprobs @19 :UInt8;  # as logprobs, of the prompt's tokens
  scored @20 :Int32;
  trees @21 :UInt8;
  trace @22 :Trace;  # null: not traced
}

enum GrammarForm {
  jsonSchema @0;
  regex @1;
  lark @2;
}

struct Grammar {
  form @0 :GrammarForm;
  text @1 :Text;
}

struct Ack {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  nextIndex @2 :Int32;
  finished @3 :Bool;
}

struct Cancel {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
}

struct Accepted {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
}

struct Refused {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  retry @2 :Bool;
  reason @3 :Text;
}

enum Finish {
  none @0;
  stop @1;
  length @2;
  cancelled @3;
  error @4;
}

struct Report {
  steps @0 :UInt32;
  received @1 :UInt32;
  accepted @2 :UInt32;
  rejected @3 :UInt32;
  unreached @4 :UInt32;
  trimmed @5 :UInt32;
  late @6 :UInt32;
  stale @7 :UInt32;
  invalid @8 :UInt32;
  held @9 :UInt32;
  spent @10 :Float32;
  cachedTokens @11 :UInt32;
  merged @12 :UInt32;
  nearTies @13 :UInt32;
}

struct Tokens {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  firstIndex @2 :Int32;
  finish @3 :Finish;
  ids @4 :List(Int32);
  drafted @5 :List(Bool);
  reason @6 :Text;
  report @7 :Report;
  logprobs @8 :List(TokenLogprob);  # [ids], or empty; below firstIndex 0 of the prompt
  depths @9 :List(UInt8);
  field @10 :Text;
  trees @11 :List(TreeReport);
}

enum NodeFate {
  accepted @0;
  rejected @1;
  unreached @2;
  trimmed @3;
}

struct Proposer {
  method @0 :Text;
  model @1 :Text;
}

struct ReportedNode {
  token @0 :Int32;
  chance @1 :Float32;
  parent @2 :Int16;
  fate @3 :NodeFate;
  by @4 :UInt8;
}

struct TreeReport {
  firstIndex @0 :Int32;
  own @1 :Int32;
  proposers @2 :List(Proposer);
  nodes @3 :List(ReportedNode);
}

struct Logprob {
  id @0 :Int32;
  logprob @1 :Float32;
}

struct TokenLogprob {
  logprob @0 :Float32;
  top @1 :List(Logprob);
  rank @2 :Int32;  # 0: not told
}

struct Assign {
  sequence @0 :SequenceId;
  epoch @1 :UInt32;
  version @2 :UInt32;
  drafters @3 :List(DrafterRef);
  tuning @4 :Tuning;  # reserved: neither written nor read; each drafter has its own
}
