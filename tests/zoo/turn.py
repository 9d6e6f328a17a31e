# SPDX-License-Identifier: Apache-2.0
"""Chooses the part of many cases that this run tries. ASSAY_TEST_TURN is 0 to 4 by the hash of the
commit, or all, as at night (tools/choose-tests.py). By hand it is 0."""
import os

PARTS = 5


def turns():
    """Returns the turns of this run."""
    turn = os.environ.get("ASSAY_TEST_TURN", "0")
    return range(PARTS) if turn == "all" else [int(turn) % PARTS]


def mine(cases):
    """Returns the cases of these turns, in their order."""
    chosen = set(turns())
    return [case for at, case in enumerate(cases) if at % PARTS in chosen]
