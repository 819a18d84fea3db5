"""The views by name, in the order of the navigation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from overthere.web.model import View
from overthere.web.views import anatomy, audit, documents, editions, grammar, ladder, plan, resolution, witnesses

__all__ = ["VIEWS"]

VIEWS: Mapping[str, View] = MappingProxyType(
    {
        view.name: view
        for view in (
            anatomy.VIEW,
            editions.VIEW,
            resolution.VIEW,
            ladder.VIEW,
            plan.VIEW,
            audit.VIEW,
            documents.VIEW,
            grammar.VIEW,
            witnesses.VIEW,
        )
    }
)
