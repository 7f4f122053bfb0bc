"""Rules that stop drafts, replayed on a trace that fits a page."""

import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "research/specdec"))
import pareto  # noqa: E402

RIGHT, WRONG = True, False


def draft(*nodes):
    """nodes: (matched, stated confidence, prediction)"""
    return [pareto.Node(matched, list(chances), 0) for matched, *chances in nodes]


# An answer of four tokens: of the first draft two tokens are right, of the one behind the third none is.
ANSWER = [[draft((RIGHT, 0.9, 0.9), (RIGHT, 0.4, 0.9), (WRONG, 0.9, 0.2), (RIGHT, 0.9, 0.9)),
           draft((RIGHT, 0.4, 0.9), (WRONG, 0.9, 0.2), (RIGHT, 0.9, 0.9)),
           draft((WRONG, 0.9, 0.2), (RIGHT, 0.9, 0.9)),
           draft((WRONG, 0.9, 0.1))]]


class Replay(unittest.TestCase):
    def test_fixed_lengths_discard_what_was_not_accepted(self):
        # K = 1: a round of two tokens (draft 0), a round of one (draft 2), a round of one (draft 3).
        self.assertEqual(pareto.replay(ANSWER, lambda draft: 1), pareto.Rates(2 / 4, 3 / 4, 3 / 4))
        # K = 3: three tokens by draft 0, which discards one; then draft 3, of one token.
        self.assertEqual(pareto.replay(ANSWER, lambda draft: 3), pareto.Rates(2 / 4, 2 / 4, 4 / 4))

    def test_the_oracle_discards_nothing(self):
        self.assertEqual(pareto.replay(ANSWER, pareto.accepted), pareto.Rates(0, 2 / 4, 2 / 4))

    def test_confidence_stops_at_the_token_that_falls_below(self):
        self.assertEqual(pareto.confidence_rule(0.5)(ANSWER[0][0]), 2)   # 0.9, then 0.36: the pass that told it has drafted it
        self.assertEqual(pareto.confidence_rule(0.95)(ANSWER[0][0]), 4)  # the draft ends there

    def test_entropy_stops_at_the_first_pass_that_knows_too_little_whatever_came_before(self):
        wavering = [pareto.Node(RIGHT, [0.9], entropy) for entropy in (0, 1.8, 0.1, 3.2, 0)]  # sqrt(0.2 H): 0, 0.6, 0.14, 0.8, 0
        self.assertEqual(pareto.entropy_rule(0.5)(wavering), 2)
        self.assertEqual(pareto.entropy_rule(0.7)(wavering), 4)
        self.assertEqual(pareto.entropy_rule(0.9)(wavering), 5)
        self.assertEqual(pareto.entropy_rule(0.5)([pareto.Node(RIGHT, [0.9], float("nan"))] * 2), 1)

    def test_specdec_has_drafted_one_more_when_it_rejects_a_token(self):
        first = ANSWER[0][0]
        self.assertEqual(pareto.specdec_rule(1, 0.5)(first), 4)   # 0.9, 0.81, then 0.162, told by the pass that drafts the fourth
        self.assertEqual(pareto.specdec_rule(1, 0.05)(first), 2)  # 0.9 is too little
        self.assertEqual(pareto.specdec_rule(1, 0.95)(first), 4)

    def test_served_counts_what_was_read_and_the_confidence_of_the_newest(self):
        self.assertEqual(pareto.served_rule(1, 0.5)(ANSWER[0][0]), 2)  # 0.9, then 0.9 * 0.4
        self.assertEqual(pareto.served_rule(1, 0.7)(ANSWER[0][0]), 4)  # 0.36, then 0.9 * 0.9 * 0.9, then 0.162 * 0.9

    def test_a_chance_that_is_no_number_ends_a_draft(self):
        broken = draft((RIGHT, 0.9), (RIGHT, float("nan")), (RIGHT, 0.9), (RIGHT, 0.9))
        self.assertEqual(pareto.confidence_rule(0.99)(broken), 2)
        self.assertEqual(pareto.specdec_rule(0, 0.99)(broken), 3)

    def test_reads_what_the_trainer_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.tsv"
            file.write_text("chat\tfrom\tdepth\tmatched\tentropy\tconfidence\tD1w3\n0\t0\t1\t1\t1.5\t0.5000\t0.7000\n0\t0\t2\t0\t2\t0.4\t0.3\n"
                            "0\t1\t1\t0\t0\t0.2\t0.1\n1\t0\t1\t1\t0\t0.9\tnan\n")
            names, chats = pareto.read(file)
        self.assertEqual(names, ["confidence", "D1w3"])
        self.assertEqual([[len(draft) for draft in chat] for chat in chats], [[2, 1], [1]])
        self.assertEqual(chats[0][0][0], pareto.Node(True, [0.5, 0.7], 1.5))


class Frontier(unittest.TestCase):
    def test_leaves_out_what_another_point_beats(self):
        good, better, beaten = pareto.Rates(0.1, 0.8, 0), pareto.Rates(0.3, 0.6, 0), pareto.Rates(0.4, 0.7, 0)
        line = pareto.frontier([beaten, better, good])
        self.assertEqual(line, [good, better])
        self.assertAlmostEqual(pareto.below(line, pareto.Rates(0.2, 0.9, 0)), 0.7)
        self.assertIsNone(pareto.below(line, pareto.Rates(0.05, 0.9, 0)))

    def test_the_papers_time_of_a_token(self):
        options = type("Options", (), {"draft_cost": 0.2, "row_cost": 0.0})
        self.assertAlmostEqual(1 / pareto.speed_up(pareto.Rates(0.5, 0.4, 1.1), options), 0.2 + 0.2 * 0.5 + 0.8 * 0.4)


if __name__ == "__main__":
    unittest.main()
