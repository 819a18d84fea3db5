"""The laws of a scheme: locators round-trip, and no delimiter in data reaches a command."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from itertools import chain
from typing import Any, ClassVar

from overthere.access.planning import plan
from overthere.access.steps import Interact, Send, Step
from overthere.editions import NAMES, edition
from overthere.ground.errors import InvalidURI, NotSpecified, PlanRefused, Unwritable
from overthere.kernel.reference import split
from overthere.schemes.field_types import check_types
from overthere.schemes.locator import Locator, reading
from overthere.schemes.model import Scheme
from overthere.schemes.registry import Registry
from overthere.values.uri import URI

__all__ = ["SchemeSuite"]

_HOSTILE = ("zq\r\nQZ", "zq\nQZ", "zq\rQZ", "zq\tQZ", "zq\0QZ")


class SchemeSuite:
    """The laws of a scheme as tests: subclass it, name the scheme, and let pytest collect the subclass.

    The laws: its facts are stated, with their paragraphs; every text that its grammar derives is read, and written
    unchanged; a locator that is written anew is read back as the same; the normal form is a fixed point; no octet of
    data can end a line or a field of a command; no password is shown.
    """

    scheme: ClassVar[Scheme]
    counted: ClassVar[frozenset[str]] = frozenset()
    """Parts that the protocol sends with their length, so that none of their octets is a delimiter."""
    narrower: ClassVar[frozenset[str]] = frozenset()
    """Sections by which a protocol rejects octets that an older edition could send."""
    count: ClassVar[int] = 200
    """The number of texts to sample from each rule."""

    @property
    def registry(self) -> Registry:
        """The default registry, with the scheme added if necessary."""
        registry = Registry.default()
        return registry if self.scheme.name in registry else registry.with_(self.scheme)

    def texts(self) -> Iterator[str]:
        """Valid URIs of the scheme: its examples, and samples of its grammar (RFC 3986 and the scheme's document)."""
        samples = (
            self.scheme.grammar.automaton(rule).sample(self.count)
            for rule in (self.scheme.rules.get("rfc3986", ()) if self.scheme.syntax else ())
        )
        examples = [example.text for example in self.scheme.examples]
        return (text for text in chain(examples, *samples) if edition().is_valid(text))

    def locators(self) -> Iterator[Locator]:
        """The locators of the texts, without the record of how they were written."""
        return (replace(self.registry.locator(text), written=None) for text in self.texts())

    def test_it_is_found_under_its_name(self) -> None:
        assert self.registry.scheme(self.scheme.name.upper()) == self.scheme

    def test_documents_and_paragraphs_are_stated(self) -> None:
        assert self.scheme.title
        assert all(self.scheme.documents.values())
        assert all(rule.what and rule.source for rule in self.scheme.normal)
        assert all(example.source for example in self.scheme.examples)

    def test_examples_are_valid_and_of_the_scheme(self) -> None:
        assert self.scheme.examples
        for example in self.scheme.examples:
            assert edition().is_valid(example.text), example
            assert URI(example.text).scheme.lower() == self.scheme.name, example
            assert not self.scheme.syntax or self.scheme.is_valid(example.text), self.scheme.check(example.text)

    def test_what_was_read_is_written_as_it_was(self) -> None:
        for text in self.texts():
            assert str(self.registry.locator(text).uri(registry=self.registry)) == text

    def test_what_is_written_anew_is_read_back(self) -> None:
        for locator in self.locators():
            text = str(locator.uri(registry=self.registry))
            assert self.registry.locator(text) == locator
            assert not self.scheme.syntax or self.scheme.is_valid(text), (text, self.scheme.check(text))

    def test_older_editions_are_read_and_written_back(self) -> None:
        for name, rules in self.scheme.rules.items():
            if name == "rfc3986":
                continue
            for text in chain.from_iterable(edition(name).grammar.automaton(r).sample(self.count) for r in rules):
                locator = self.registry.locator(text, name)
                assert locator.uri(name, registry=self.registry) == text
                try:
                    rewritten = replace(locator, written=None).uri(name, registry=self.registry)
                except Unwritable:  # a letter of the document that its prose forbids
                    continue
                assert self.registry.locator(str(rewritten), name) == locator

    def test_every_edition_keeps_the_octets(self) -> None:
        """Reading in one edition and writing in another keeps the octets and the dialogue (RFC 3986 2.5)."""
        for name, text in self._sample_texts():
            with suppress(InvalidURI):  # derivable from the grammar, but not a valid URI of the scheme
                locator = self.registry.locator(text, name)
                for target in NAMES:
                    with suppress(Unwritable):
                        rewritten = replace(locator, written=None).uri(target, registry=self.registry)
                        reread = self.registry.locator(str(rewritten), target)
                        assert reread.says(locator), (name, text, target, rewritten)
                        dialogues = [self._dialogue(item) for item in (locator, reread)]
                        assert None in dialogues or dialogues[0] == dialogues[1], (name, text, target, rewritten)

    def _sample_texts(self) -> Iterator[tuple[str, str]]:
        """Yield edition and text: samples of the scheme's rules in that edition, or in its document of today."""
        for name in NAMES:
            key = reading(name)
            rules = edition(name).grammar if key != "rfc3986" else self.scheme.grammar if self.scheme.syntax else None
            for rule in self.scheme.rules.get(key, ()):
                if rules is None:
                    break
                yield from ((name, text) for text in rules.automaton(rule).sample(self.count // 5))

    def _dialogue(self, locator: Locator) -> list[Step] | str | None:
        """Return the bare steps, or the name of the error; None if a rule of `narrower` rejects the locator."""
        try:
            steps = [replace(step, source="", note="") for step in plan(locator, registry=self.registry)]
            # "~" is always escaped in RFC 1738 (2.2), and the same octet today (RFC 3986 2.3).
            return [
                replace(step, data=step.data.replace(b"%7E", b"~").replace(b"%7e", b"~"))
                if isinstance(step, Send)
                else step
                for step in steps
            ]
        except (PlanRefused, NotSpecified) as error:
            return None if any(rule in str(error) for rule in self.narrower) else type(error).__name__

    def test_the_normal_form_is_a_fixed_point_and_valid(self) -> None:
        for text in self.texts():
            parts = split(URI(text).normalize().__str__())
            form = self.scheme.normalize(parts)
            assert self.scheme.normalize(form) == form, text
            assert all(rule.apply(form) == form for rule in self.scheme.normal), text

    def test_no_delimiter_comes_out_of_data_into_a_command(self) -> None:
        for locator in chain(self.locators(), self._hostile()):
            try:
                steps = plan(locator, registry=self.registry).steps
            except (PlanRefused, NotSpecified, Unwritable):
                continue
            for step in steps:
                command_text = step.data.decode("latin-1") if isinstance(step, Send) else ""
                command_text += f"{step.user}{step.password}{step.host}" if isinstance(step, Interact) else ""
                assert not any(hostile in command_text for hostile in _HOSTILE), (locator, step)

    def _hostile(self) -> Iterator[Locator]:
        """Every part of every example with line ends, tabs and NUL in it."""
        for example in self.scheme.examples:
            locator = replace(self.registry.locator(example.text), written=None)
            for part in fields(locator):
                value = getattr(locator, part.name)
                if part.name in ("written", "scheme", *self.counted):
                    continue
                for hostile in _HOSTILE:
                    changes = [hostile, hostile.encode(), *([(*value, hostile)] if isinstance(value, tuple) else [])]
                    for changed in changes:
                        with suppress(TypeError, ValueError):  # a value of the wrong type for that part
                            variant = _replace_part(locator, part.name, changed)
                            check_types(variant)
                            yield variant

    def test_a_password_is_not_shown(self) -> None:
        for locator in self.locators():
            if "password" in {part.name for part in fields(locator)}:
                secret = _replace_part(locator, "password", "s3cr3t!")
                assert "s3cr3t" not in repr(secret)
                try:
                    secret_plan = plan(secret, registry=self.registry)
                except (PlanRefused, NotSpecified, Unwritable):
                    continue
                assert "s3cr3t" not in f"{secret_plan}{secret_plan!r}{secret_plan.to_dict()}{secret_plan.steps!r}"

    def test_locators_are_values(self) -> None:
        for locator in self.locators():
            assert pickle.loads(pickle.dumps(locator)) == locator
            assert hash(replace(locator)) == hash(locator)


def _replace_part(locator: Locator, name: str, value: object) -> Locator:
    change: dict[str, Any] = {name: value}
    return replace(locator, **change)
