"""A store for all tests of this folder: each has a bucket of its own."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

pytest.importorskip("obstore", reason="obstore is absent")
pytest.importorskip("moto", reason="moto is absent")

from overthere.stores import by_http, by_obstore
from overthere.stores.opening import store_of
from servers.s3 import Store, moto_server

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server() -> Iterator[Store]:
    with moto_server() as store:
        yield store


@pytest.fixture
def store(server: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """The server, named in the environment."""
    yield from use(server, monkeypatch)


def use(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setitem(by_obstore.RETRY, "max_retries", 3)
    monkeypatch.setattr(by_http, "_BACK_OFF", 0.01)
    store_of.cache_clear()
    yield store
    store_of.cache_clear()


@pytest.fixture
def bucket(store: Store) -> str:
    name = f"bucket-{next(_NUMBERS)}"
    store.make_bucket(name)
    return name
