"""The host name of each row: problems for the DNS, and its parts by the list of publicsuffix.org."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from overthere.columns.work import ArrowColumn, count_of, engine


def public_suffix(column: Any, *, private: bool = True, threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The public suffix of each row's host (publicsuffix.org), the same as from `hosts.domains.SuffixList.split`."""
    return _domain(column, "public_suffix", private, threads, views)


def registrable_domain(
    column: Any, *, private: bool = True, threads: int | None = None, views: bool = True
) -> ArrowColumn:
    """The public suffix of each row's host with one label more; null for addresses and for bare public suffixes.

    >>> import pyarrow as pa
    >>> pa.array(registrable_domain(pa.array(["http://www.bbc.co.uk/", "http://[::1]/", "a"]))).to_pylist()
    ['bbc.co.uk', None, None]
    """
    return _domain(column, "registrable_domain", private, threads, views)


def subdomain(column: Any, *, private: bool = True, threads: int | None = None, views: bool = True) -> ArrowColumn:
    """The part of each row's host before the registrable domain."""
    return _domain(column, "subdomain", private, threads, views)


def _domain(column: Any, name: str, private: bool, threads: int | None, views: bool) -> ArrowColumn:
    return engine().domain(column, name, private=private, threads=count_of(threads), views=views)  # type: ignore[no-any-return]


def check_host_name(column: Any, *, threads: int | None = None) -> ArrowColumn:
    """Whether each row's host is valid in the DNS, by `hosts.dns.check_host_name`: a struct of `valid`, and `error`
    and `error_at` (code points in the row) of the first finding; null without a host.

    Needs pyarrow.

    >>> import pyarrow as pa
    >>> check_host_name(pa.array(["http://my_host/", "http://h/", "a"])).to_pylist()[:2]
    [{'valid': False, 'error': 'label-char', 'error_at': 9}, {'valid': True, 'error': None, 'error_at': None}]
    """
    return import_module("overthere.columns.rowwise").host_names(column, count_of(threads))  # type: ignore[no-any-return]
