"""The views by name, in the order of the navigation."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from overthere.web.model import View
from overthere.web.views import anatomy, audit, documents, editions, grammar, ladder, plan, resolution, witnesses

__all__ = ["VIEWS"]

_MODULES = (anatomy, editions, resolution, ladder, plan, audit, documents, grammar, witnesses)
VIEWS: Mapping[str, View] = MappingProxyType({module.VIEW.name: module.VIEW for module in _MODULES})
