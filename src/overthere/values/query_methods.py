"""Methods of values for the parameters of the query: unchanged parameters stay byte for byte."""

from __future__ import annotations

from overthere.kernel import Components, front, front_property

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Self

    from overthere.forms import Pairs, Parameters
    from overthere.values.form_pairs import NameOrPair


class QueryMethods(Components):
    """The part of every value type that works on parameters."""

    __slots__ = ()

    if TYPE_CHECKING:

        def replace(self, *, path: str = ..., query: str | None = ..., fragment: str | None = ...) -> Self: ...

    @front_property
    def parameters(self) -> Parameters:
        """The pairs of the query (3.4), separated by `&`; `forms.Parameters` reads others.

        "+" is a space, as in forms, unless the scheme's document says otherwise, as for mailto.

        >>> from overthere import URI
        >>> u = URI("http://h/?q=a+b&utm_source=x")
        >>> u.parameters["q"], "page" in u.parameters, dict(u.parameters)
        ('a b', False, {'q': 'a b', 'utm_source': 'x'})
        """
        return self._parameters("&", None)

    @front
    def with_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with these parameters set: a name keeps its first place and loses its other pairs; new names follow.

        pairs: a mapping or pairs of data, as `forms.encode` takes them.
        separator, plus: as `forms.Parameters` takes them; None is the scheme's rule.  The lines of a mail text are
        separated by CR LF (RFC 6068 5).

        >>> from overthere import URI
        >>> str(URI("mailto:a@b").with_parameters({"subject": "a b", "body": "1+1\\n2"}))
        'mailto:a@b?subject=a%20b&body=1%2B1%0D%0A2'
        >>> str(URI("http://h/?X=attachment%3B%20a&page=1").with_parameters({"page": 2}))
        'http://h/?X=attachment%3B%20a&page=2'
        """
        from overthere.values.scheme_query import pairs_of

        return self._with_parameters(self._parameters(separator, plus).set(pairs_of(self.scheme, pairs)))

    @front
    def add_parameters(self, pairs: Pairs, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with more parameters at the end.

        >>> from overthere import URI
        >>> str(URI("http://h/?a=1").add_parameters([("a", "2")]))
        'http://h/?a=1&a=2'
        """
        from overthere.values.scheme_query import pairs_of

        return self._with_parameters(self._parameters(separator, plus).add(pairs_of(self.scheme, pairs)))

    @front
    def without_parameters(self, *names: NameOrPair, separator: str = "&", plus: bool | None = None) -> Self:
        """A value without the parameters of these names, in which "*" stands for any characters; octets are exact.

        A pair of a name and a value takes out only the parameters with that value.

        >>> from overthere import URI
        >>> str(URI("http://h/?utm_source=x&q=%7e&utm_medium=y#f").without_parameters("utm_*"))
        'http://h/?q=%7e#f'
        >>> str(URI("http://h/?t=a&t=b&t=%63").without_parameters(("t", "b"), ("t", "c")))
        'http://h/?t=a'
        """
        return self._with_parameters(self._parameters(separator, plus).without(*names))

    def only_parameters(self, *names: NameOrPair, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with the parameters of these names alone, as `without_parameters` takes them.

        >>> from overthere import URI
        >>> str(URI("http://h/?utm_source=x&id=%7e&qq=1").only_parameters("id", "q*"))
        'http://h/?id=%7e&qq=1'
        """
        return self._with_parameters(self._parameters(separator, plus).only(*names))

    @front
    def sort_parameters(self, *, separator: str = "&", plus: bool | None = None) -> Self:
        """A value with its parameters sorted by the octets of their names; those of one name keep their order.

        >>> from overthere import URI
        >>> str(URI("http://h/?b=1&a=2&b=0").sort_parameters())
        'http://h/?a=2&b=1&b=0'
        """
        return self._with_parameters(self._parameters(separator, plus).sorted())

    def _parameters(self, separator: str, plus: bool | None) -> Parameters:
        from overthere.forms import Parameters
        from overthere.values.scheme_query import plus_of

        return Parameters(self.query, separator=separator, plus=plus_of(self.scheme) if plus is None else plus)

    def _with_parameters(self, parameters: Parameters) -> Self:
        return self if parameters.query == self.query else self.replace(query=parameters.query)
