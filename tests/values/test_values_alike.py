"""All public members of values: both kernels give the same result or the same error."""

from __future__ import annotations

import random
import sys
from itertools import islice

import pytest

from overthere import IRI, kernel
from support import ROOT

sys.path.append(str(ROOT / "fuzz"))

from laws import values

pytestmark = pytest.mark.skipif(kernel.name != "native", reason="the native kernel is absent or not asked for")


def test_both_kernels_agree_on_the_seeds() -> None:
    """A sample of the case files; `make fuzz` uses all."""
    shapes = [seed.decode("utf-8", "surrogateescape") for seed in islice(values.seeds(), 14 * len(values.alphabets))]
    texts = [
        seed.decode("utf-8", "surrogateescape") for seed in islice(values.seeds(), 14 * len(values.alphabets), None)
    ]
    assert values.differences([*shapes, *random.Random(25).sample(texts, 40)]) == []


def test_both_kernels_agree_on_combined_pieces() -> None:
    chance = random.Random(64)
    pieces = [word.decode() for word in values.WORDS]
    texts = ["".join(chance.choices(pieces, k=chance.randint(2, 9))) for _ in range(150)]
    assert values.differences(texts) == []


def test_every_value_type_is_tested() -> None:
    assert set(values.classes()) >= {"URI", "URIReference", "IRI", "IRIReference"}
    for kind in values.classes().values():
        assert {"port", "effective_port", "match", "span", "join", "normalize"} & set(values.members(kind)) >= {
            "port",
            "join",
        }


def test_a_difference_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IRI, "user", property(lambda self: "somebody"))
    assert any("IRI('é:').user" in one or ".user" in one for one in values.differences(["http://é/"]))


@pytest.mark.parametrize("letter", values.alphabets.values(), ids=list(values.alphabets))
def test_the_port_of_an_iri(letter: str) -> None:
    """Its offset was computed in characters, but used in bytes."""
    for digits, port in (("80", 80), ("0443", 443), ("", None), ("1" * 18, int("1" * 18)), ("1" * 19, None)):
        value = IRI(f"http://{letter}@{letter}.example:{digits}/{letter}?{letter}#{letter}")
        assert (value.port_text, value.port) == (digits, port)
        assert (value.path, value.query, value.fragment) == (f"/{letter}", letter, letter)
    assert IRI(f"http://{letter}").effective_port == 80
    assert IRI(f"http://{letter}:80").port == 80
