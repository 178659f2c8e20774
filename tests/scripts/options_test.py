# SPDX-License-Identifier: Apache-2.0
# Wrong words for scripts that install, build or download: refused before any of that, by the word. What each script then does
# is not tested here: it takes minutes, or a network.
"""The options of scripts/bench, scripts/get_mpi and scripts/onetbb, and COMMTASK_JOBS."""
import unittest

import checkout


class Options(checkout.Checkout):
    def refused(self, script, *words, settings=None):
        done = self.run_script(script, *words, settings=settings)
        self.assertNotEqual(done.returncode, 0, (script, words))
        self.assertEqual(self.was_called(), "", (script, words))
        self.assertFalse((self.root / "build").exists(), (script, words))
        return done

    def test_a_benchmark_that_cannot_run_is_refused_before_anything_is_built(self):
        for words, named in ((["pots"], "pots"), (["post", "--fast"], "--fast"), (["post", "--setting", "link"], "--setting link"),
                             (["dslash", "--setting", "slow"], "slow"), (["all", "--json", "x"], "--json"), (["--quick"], "NAME"),
                             (["post", "--ranks", "4"], "--ranks"), (["post", "--mpi", "intel"], "--mpi"), (["patterns", "--ranks", "9"], "9 ranks"),
                             (["lanes", "--mpi", "other"], "other"),
                             (["post", "--json", "/no/such/folder/x"], "/no/such/folder/x"), (["post", "--json", "/"], "--json /")):
            done = self.refused("bench", *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(named, done.stderr.splitlines()[-1])

    def test_an_mpi_and_a_onetbb_that_are_not_known_are_refused(self):
        for script in ("get_mpi", "onetbb"):
            for words in ([], [""], ["other"], ["--fast"]):
                self.assertEqual(self.refused(script, *words).returncode, 2, (script, words))
        self.assertIn("'other'", self.refused("get_mpi", "mpich5", "other").stderr)

    def test_a_number_of_jobs_that_is_none_is_named(self):
        for jobs in ("many", "0", "-3", "2.5", "99999"):
            done = self.refused("demo", settings={"COMMTASK_JOBS": jobs})
            self.assertEqual(done.stderr, f"error: COMMTASK_JOBS={jobs} is not a whole number from 1 to 9999\n")


if __name__ == "__main__":
    unittest.main()
