"""No password is in a report, wherever it was written."""

from __future__ import annotations

import io

import pytest

from overthere.broken import report
from overthere.broken.model import Broken

_URIS = ("http://joe:geheim@h/a", "http://h/?u=http%3A%2F%2Fjoe%3Ageheim%40h%2F", "http://h/#http://joe:geheim@h/")


@pytest.mark.parametrize("uri", _URIS)
@pytest.mark.parametrize("field", ["source", "reference", "suggestion", "why"])
@pytest.mark.parametrize("form", [report.sarif, report.junit])
def test_no_password_in_a_report(uri: str, field: str, form: object) -> None:
    row = dict.fromkeys(Broken._fields) | {"source": "a.html", "level": "error", "kind": "not-found", "why": "none"}
    file = io.StringIO()
    assert callable(form)
    form([Broken(**{**row, field: uri})], file)  # type: ignore[arg-type]
    assert "geheim" not in file.getvalue()
