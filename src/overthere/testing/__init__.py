"""Test suites for authors of schemes and protocols, to subclass with pytest.

class TestFinger(SchemeSuite):
    scheme = SCHEME


class TestFingerAccess(AccessSuite):
    scheme = SCHEME
    uri = "finger://h.example/joe"
    answer = b"Login: joe\r\n"
"""

from __future__ import annotations

from overthere.testing.access import AccessSuite
from overthere.testing.laws import SchemeSuite
from overthere.testing.replay import Outcome, Recorded, Replay

__all__ = ["AccessSuite", "Outcome", "Recorded", "Replay", "SchemeSuite"]
