"""An object store for the tests of this folder; each test has its own bucket."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

pytest.importorskip("obstore", reason="obstore is not installed")
pytest.importorskip("moto", reason="moto is not installed")

from overthere.files.stores import by_http, by_obstore
from overthere.files.stores.opening import store_of
from servers.s3 import Store, moto_server

_NUMBERS = itertools.count()
served = moto_server


@contextmanager
def use(store: Store) -> Iterator[Store]:
    """Set the environment for this store, with short timeouts."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in store.environment.items():
            patch.setenv(name, value)
        patch.setitem(by_obstore.RETRY, "max_retries", 3)
        patch.setattr(by_http, "_FIRST_WAIT", 0.01)
        store_of.cache_clear()
        yield store
        store_of.cache_clear()


def new_bucket(store: Store) -> str:
    name = f"bucket-{next(_NUMBERS)}"
    store.make_bucket(name)
    return name
