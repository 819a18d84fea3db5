"""The JSON of the views agrees with its OpenAPI document: requests are generated from it, answers validated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
import pytest
import schemathesis
from hypothesis import HealthCheck, settings

from explainer import Explainer, explainer
from overthere.web.openapi import document
from overthere.web.views import VIEWS

EXAMPLES = [(view.name, example) for view in VIEWS.values() for example in view.examples]
# A too long input is rejected with 413, and texts that match the schema may be rejected with 400: a schema cannot
# express which rules a document has or what a valid URI is.
REFUSED = {
    "checks": {
        "negative_data_rejection": {"expected-statuses": ["400", "405", "413", "415"]},
        "positive_data_acceptance": {"expected-statuses": ["200", "400"]},
    }
}
schema = schemathesis.openapi.from_dict(document(), config=schemathesis.Config.from_dict(REFUSED))


@pytest.fixture(scope="module")
def served() -> Iterator[Explainer]:
    with explainer() as running:
        yield running


def test_every_view_is_documented(served: Explainer) -> None:
    assert sorted(served.ask("/openapi.json").data["paths"]) == sorted(f"/{name}.json" for name in VIEWS)
    assert served.ask("/openapi.json").data == document()


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[f"{n}: {e.title}" for n, e in EXAMPLES])
def test_an_answer_matches_its_schema(name: str, example: object) -> None:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document()["components"]}
    jsonschema_rs.validator_for(schema).validate(VIEWS[name].data(example.inputs))  # type: ignore[attr-defined]


@schema.parametrize()
@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_generated_requests_get_valid_answers(case: schemathesis.Case[Any], served: Explainer) -> None:
    case.call_and_validate(base_url=served.root)
