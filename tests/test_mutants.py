"""The list of mutants fits the package: one that is not in its file changes nothing."""

from __future__ import annotations

from tests.mutant_list import GROUPS
from tests.mutants import Mutant, stale


def test_every_mutant_is_in_its_file():
    mutants = [Mutant(group, old, new) for group in GROUPS for old, new in group.mutants]
    assert len(mutants) > 100
    assert stale(mutants) == []


def test_a_mutant_that_is_nowhere_is_told():
    gone = Mutant(GROUPS[0], "no such text", "another")
    assert len(stale([gone])) == 1
