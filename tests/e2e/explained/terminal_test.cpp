// The commands for somebody at a terminal: chat, top and doctor, in a pipe and under a
// pseudo-terminal, against real processes.
#include <csignal>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/e2e/support/cluster.h"
#include "tests/e2e/support/terminal.h"

namespace slipstream::e2e {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::filesystem::path kSlipstream = std::filesystem::path(SLIPSTREAM_BUILD_FOLDER) / "tools/slipstream/slipstream";
constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";
constexpr const char* kCtrlZ = "\x1a";
constexpr const char* kPrompt = "> ";
constexpr const char* kEdits = "\x1b[?2004h";  // the prompt is there
constexpr const char* kLeavesWindow = "\x1b[?1049l";

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

struct Ended {
  int status = -1;
  std::string out, err;
};

class TerminalCommands : public testing::Test {
 protected:
  explicit TerminalCommands(std::filesystem::path model = tiny_model()) : cluster_(std::move(model)) {}

  std::string url() const { return fmt::format("http://127.0.0.1:{}", cluster_.http_port()); }
  std::filesystem::path file(const char* name) const { return cluster_.folder() / name; }

  // Runs `slipstream WORDS` with this standard input, in a pipe.
  Ended run(const std::string& words, const std::string& input = "") {
    std::ofstream(file("in")) << input;
    const std::string line = fmt::format("{} {} < {} > {} 2> {}", kSlipstream.string(), words, file("in").string(),
                                         file("out").string(), file("err").string());
    auto shell = Process::start({"/bin/sh", {"-c", line}, {}, file("shell.log")});
    if (!shell) throw std::runtime_error(shell.error().message);
    const auto exit = shell->wait(kWaitMax);
    return {exit ? exit->status : -1, contents(file("out")), contents(file("err"))};
  }

  Cluster cluster_;
};

using Chat = TerminalCommands;
using Top = TerminalCommands;
using DoctorCommand = TerminalCommands;

Question of_tokens(const char* text, int tokens) {
  Question question;
  question.text = text;
  question.tokens_max = tokens;
  return question;
}

TEST_F(Chat, InAPipeSendsTheWholeConversationWithEachQuestion) {
  cluster_.start_all("ngram");
  std::string expected;
  Question question = of_tokens("", 12);
  question.system = "abc";
  for (const char* text : {"hello", "and now", "once more"}) {
    question.text = text;
    const Answer answer = cluster_.ask(question);
    expected += answer.text + "\n";
    question.history.push_back({"user", text});
    question.history.push_back({"assistant", answer.text});
  }
  const Ended chat = run("chat --max-tokens 12 --system abc --url " + url(), "hello\nand now\n\nonce more\n");
  EXPECT_EQ(chat.status, 0) << chat.err;
  EXPECT_EQ(chat.out, expected) << "answers alone, and each of the conversation before it";
  EXPECT_EQ(chat.err, "");
  const Ended forgetful = run("chat --max-tokens 12 --system abc --url " + url(), "hello\nand now\n/clear\nonce more\n");
  EXPECT_NE(forgetful.out, expected) << "/clear forgets";
}

TEST_F(Chat, InAPipeGoesOnAfterAnErrorAndTellsAtTheEnd) {
  cluster_.start_all("none");
  const std::string long_question(100'000, 'x');
  const Ended chat = run("chat --max-tokens 4 --url " + url(), "/sede 7\n" + long_question + "\nhello\n");
  EXPECT_EQ(chat.status, 1);
  EXPECT_EQ(chat.out, cluster_.ask(of_tokens("hello", 4)).text + "\n");
  EXPECT_THAT(chat.err, AllOf(HasSubstr("did you mean /seed?"), HasSubstr("/clear"), HasSubstr("2 of the lines")));
}

TEST_F(Chat, InAPipeTellsItsCommandsIfAsked) {
  cluster_.start_all("none");
  const Ended chat = run("chat --max-tokens 4 --url " + url(), "/help\n/seed 7\n");
  EXPECT_EQ(chat.status, 0) << chat.err;
  EXPECT_THAT(chat.out, AllOf(testing::StartsWith("/"), HasSubstr("/save"), Not(HasSubstr("seed 7\n")))) << "no other remark";
}

TEST_F(Chat, SaysWhatToDoWithoutAServer) {
  const Ended chat = run("chat --url http://127.0.0.1:9", "hello\n");
  EXPECT_EQ(chat.status, 1);
  EXPECT_THAT(chat.err, HasSubstr("slipstream serve"));
}

TEST_F(Chat, SavesAChatAndDoesNotWriteOverAFile) {
  cluster_.start_all("none");
  const std::string json = file("chat.json").string(), page = file("chat.md").string();
  const std::string lines = fmt::format("hello\n/save {0}\n/save {0}\n/save {1}\n/save {1}x\n", json, page);
  const Ended chat = run("chat --max-tokens 4 --url " + url(), lines);
  EXPECT_THAT(chat.err,
              AllOf(HasSubstr("is there already; write over it with /save! "), HasSubstr("neither in .md nor in .json")));
  EXPECT_EQ(nlohmann::json::parse(contents(json))["messages"][0]["content"], "hello");
  EXPECT_THAT(contents(page), HasSubstr("> hello\n"));
}

class LongChat : public TerminalCommands {
 protected:
  LongChat() : TerminalCommands(tiny_model_with_room()) {}

  // A question whose answer has no end of its own.
  std::string endless() {
    for (const std::string text : {"hello", "abc", "a", "b", "xyz", "why"}) {
      if (cluster_.ask(of_tokens(text.c_str(), kLongAnswer)).finish == "length") return text;
    }
    throw std::runtime_error("every answer of the tiny model ends");
  }
};

// The verifier stands still while Ctrl-C comes, so that the answer cannot end before it.
TEST_F(LongChat, KeepsThePartOfAnAnswerThatCtrlCStoppedAndGoesOn) {
  cluster_.start_all("ngram");
  const std::string question = endless();
  Terminal terminal(kSlipstream, {"chat", "--url", url(), "--max-tokens", std::to_string(kLongAnswer)});
  terminal.until("/help shows the commands");
  std::string shown;
  for (int look = 0; look < 20 && shown.find("[stopped]") == shown.npos; ++look) {
    terminal.until(kPrompt);
    terminal.type("/clear\r");
    terminal.until("forgotten");
    terminal.until(kPrompt);
    terminal.type(question + "\r");
    terminal.until("\x1b[?2004l");
    terminal.until("\x1b[32m");  // a drafted token: the answer has begun
    cluster_.process("verifier").signal(SIGSTOP);
    terminal.type(kCtrlC);
    shown = terminal.until(kEdits);
    cluster_.process("verifier").signal(SIGCONT);
  }
  EXPECT_THAT(shown, HasSubstr("[stopped]"));
  terminal.until(kPrompt);
  terminal.type("/sede 7\r");
  terminal.until("did you mean /seed?");
  terminal.type(fmt::format("/save {}\r", file("chat.json").string()));
  terminal.until("1 questions and their answers");
  const auto messages = nlohmann::json::parse(contents(file("chat.json")))["messages"];
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(messages[1]["cut"], "stopped");
  EXPECT_NE(messages[1]["content"], "");
  terminal.until(kPrompt);
  terminal.type(kCtrlC);
  terminal.until("Ctrl-C again or Ctrl-D ends the chat");
  terminal.until(kPrompt);
  terminal.type(kCtrlC);
  EXPECT_EQ(terminal.wait(), 0);
}

TEST_F(LongChat, StopsAnAnswerBeforeItsFirstWordAndEditsLines) {
  cluster_.start_all("none");
  Terminal terminal(kSlipstream, {"chat", "--url", url(), "--max-tokens", "4"});
  terminal.until(kPrompt);
  cluster_.process("verifier").signal(SIGSTOP);
  terminal.type("hellp\x7fo\r");
  terminal.until("hello");
  terminal.until("\x1b[?2004l");
  // The terminal gives Ctrl-C to the prompt as a key, and to an answer as a signal: it comes to the
  // answer once the question is out.
  cluster_.wait("the question at the router",
                [&] { return cluster_.metrics("router").sum("slipstream_router_requests_live") > 0; });
  terminal.type(kCtrlC);
  terminal.until("stopped before the first word");
  cluster_.process("verifier").signal(SIGCONT);
  terminal.until(kPrompt);
  terminal.type("/retry\r");
  terminal.until("4 tokens");
  terminal.until(kPrompt);
  terminal.type(kCtrlD);
  EXPECT_EQ(terminal.wait(), 0);
}

// A shell that stops and resumes what runs in it.
class Shell : public TerminalCommands {
 protected:
  Shell() : terminal_("/bin/bash", {"--norc", "--noprofile", "--noediting", "-i"}) { cluster_.start_all("none"); }
  void type(const std::string& line) { terminal_.type(line + "\n"); }

  Terminal terminal_;
};

TEST_F(Shell, StopsAChatAtCtrlZAndGoesOnWithItsLine) {
  type(fmt::format("{} chat --max-tokens 4 --url {}", kSlipstream.string(), url()));
  terminal_.until("/help shows the commands");
  terminal_.until(kEdits);
  terminal_.type("hel");
  terminal_.until("hel");
  terminal_.type(kCtrlZ);
  terminal_.until("Stopped");
  type("echo $((6 * 7))");
  terminal_.until("42");
  type("fg");
  terminal_.until(kEdits);
  terminal_.type("lo\r");
  terminal_.until("hello");
  terminal_.until("4 tokens");
  terminal_.until(kEdits);
  terminal_.type(kCtrlD);
  type("exit");
  EXPECT_EQ(terminal_.wait(), 0);
}

TEST_F(Shell, GetsItsWindowBackWhileTopIsStopped) {
  type(fmt::format("{} top --every 0.1 --url {}", kSlipstream.string(), url()));
  terminal_.until("rates of the last");
  terminal_.type(kCtrlZ);
  terminal_.until(kLeavesWindow);
  terminal_.until("Stopped");
  type("echo $((6 * 7))");
  terminal_.until("42");
  type("fg");
  terminal_.until("\x1b[?1049h");
  terminal_.until("rates of the last");
  terminal_.type("q");
  terminal_.until(kLeavesWindow);
  type("exit");
  EXPECT_EQ(terminal_.wait(), 0);
}

TEST_F(TerminalCommands, SayWhichFlagGivesTheKeyThatAServerWants) {
  std::ofstream(file("keys")) << "a-key-of-this-server\n";
  cluster_.start_router({"--api-key-file", file("keys").string()});
  for (const char* words : {"ask hello", "chat", "top --once"}) {
    for (const char* key : {"", " --api-key another"}) {
      const Ended ended = run(words + (" --url " + url()) + key, "hello\n");
      EXPECT_NE(ended.status, 0) << words;
      EXPECT_THAT(ended.err, AllOf(HasSubstr("API key"), HasSubstr("--api-key"), Not(HasSubstr("no Slipstream server"))));
    }
  }
}

TEST_F(Top, PrintsOneSnapshotOfARunningFleet) {
  cluster_.start_all("ngram");
  cluster_.ask(of_tokens("abcabcabc", 50));
  const Ended top = run("top --once --every 0.1 --url " + url());
  EXPECT_EQ(top.status, 0) << top.err;
  EXPECT_THAT(top.out,
              AllOf(HasSubstr("slipstream top   " + url()), HasSubstr("0 running, 0 waiting"), HasSubstr("since the start"),
                    HasSubstr("\nverifier "), HasSubstr("\ndrafter "), HasSubstr("ngram"), HasSubstr("\nthreshold")));
  EXPECT_THAT(top.out, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("page not reached"))));
}

TEST_F(Top, SaysWhatToDoWithoutAServer) {
  const Ended top = run("top --every 0.1 --url http://127.0.0.1:9");
  EXPECT_EQ(top.status, 1);
  EXPECT_THAT(top.err, HasSubstr("slipstream serve"));
}

TEST_F(Top, DrawsInPlaceAndGivesTheWindowBack) {
  cluster_.start_all("none");
  for (const char* end : {"q", kCtrlC}) {
    Terminal terminal(kSlipstream, {"top", "--url", url(), "--every", "0.1"});
    terminal.until("\x1b[?1049h");
    terminal.until("first look");
    terminal.until("rates of the last");
    terminal.type(end);
    EXPECT_EQ(terminal.wait(), 0);
    EXPECT_THAT(terminal.rest(), testing::EndsWith(kLeavesWindow));
  }
}

TEST_F(DoctorCommand, FindsNothingWrongWhereServeWorksAndLooksAtARunningServer) {
  cluster_.start_all("ngram");
  const Ended doctor = run(fmt::format("doctor --model {} --port 0 --url {}", tiny_model().string(), url()));
  EXPECT_EQ(doctor.status, 0) << doctor.out;
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("OK    model"), HasSubstr("OK    template"), HasSubstr("OK    router"),
                                HasSubstr("OK    verifier"), HasSubstr("OK    drafter"), HasSubstr("1 verifier, 1 drafter"),
                                HasSubstr("nothing fails")));
}

TEST_F(DoctorCommand, SaysWhatFailsAndWhatToDo) {
  cluster_.start_router();
  const Ended doctor =
      run(fmt::format("doctor --model no/such/folder --port {} --keys {}", cluster_.http_port(), file("keys").string()));
  EXPECT_EQ(doctor.status, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("FAIL  model"), HasSubstr("make setup"), HasSubstr("FAIL  ports"),
                                HasSubstr("is in use"), HasSubstr("FAIL  keys"), HasSubstr("slipstream keys new")));
}

TEST_F(DoctorCommand, LetsEachServiceJudgeItsSettings) {
  std::ofstream(file("api-keys")) << "# no key\n";
  const Ended doctor =
      run(fmt::format("doctor --model {} --port 0 --api-key-file {}", tiny_model().string(), file("api-keys").string()));
  EXPECT_EQ(doctor.status, 1);
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("FAIL  router"), HasSubstr("api-keys"), HasSubstr("OK    verifier"), HasSubstr("1 of ")));
}

TEST_F(DoctorCommand, LooksAtTheFileOfAnswersAndAtADraftModelThatNobodyUses) {
  std::ofstream(file("letter")) << "Dear all,";
  const Ended doctor = run(fmt::format("doctor --model {0} --draft-model {0} --port 0 --look-up-file {1}",
                                       tiny_model().string(), file("letter").string()));
  EXPECT_EQ(doctor.status, 1);
  EXPECT_THAT(doctor.out, AllOf(HasSubstr("FAIL  drafting     --draft-model"), HasSubstr("has no use with --drafter ngram"),
                                HasSubstr("FAIL  look-up file"), HasSubstr("letter: it is no file of remembered answers"),
                                HasSubstr("OK    verifier"), HasSubstr("OK    drafter"), HasSubstr("2 of ")));
}

// Beside these programs lies no library of torch, and the verifier says so.
TEST_F(DoctorCommand, LoadsTheModelOnAnotherDevice) {
  const Ended doctor = run(fmt::format("doctor --model {} --port 0 --device torch-cpu", tiny_model().string()));
  EXPECT_EQ(doctor.status, 1);
  EXPECT_THAT(doctor.out,
              AllOf(HasSubstr("OK    memory"), HasSubstr("OK    verifier     "),
                    HasSubstr("FAIL  load         the devices of torch need libslipstream_torch.so"), HasSubstr("1 of ")));
}

// The service that has the file may be the one that is looked at.
TEST_F(DoctorCommand, SaysWhoHasTheFileOfAnswers) {
  const std::string answers = file("answers").string();
  cluster_.start_router();
  cluster_.start_verifier({"--resident", "ngram", "--look-up-file", answers});
  cluster_.wait_ready();
  const std::string doctor = fmt::format("doctor --model {} --look-up-file {}", tiny_model().string(), answers);
  const Ended apart = run(doctor + " --port 0");
  EXPECT_EQ(apart.status, 1);
  EXPECT_THAT(apart.out,
              AllOf(HasSubstr("FAIL  look-up file"), HasSubstr(answers + ": a process that runs uses it"), HasSubstr("1 of ")));
  const Ended beside = run(fmt::format("{} --port {} --url {}", doctor, cluster_.http_port(), url()));
  EXPECT_EQ(beside.status, 0) << beside.out;
  EXPECT_THAT(beside.out, HasSubstr(answers + ": the running server has it"));
}

TEST_F(DoctorCommand, RefusesFlagsAsServeDoes) {
  const Ended doctor = run("doctor --prot 1");
  EXPECT_EQ(doctor.status, 2);
  EXPECT_THAT(doctor.err, HasSubstr("did you mean --port?"));
}

}  // namespace
}  // namespace slipstream::e2e
