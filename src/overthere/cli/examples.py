"""Examples of every verb, for its help, its page and its man page; tests/cli/test_cli_help.py runs them.

They are typed beside the folder `examples/`, and read it, their own words, or text on a pipe.
"""

from __future__ import annotations

from typing import NamedTuple

import click

from overthere.cli.help_format import Context


class Example(NamedTuple):
    """A shell command, its exit status, and the reason if no test runs it."""

    line: str
    status: int = 0
    not_run: str = ""


_SITE = "http://harbour.example/"

EXAMPLES: dict[str, tuple[Example, ...]] = {
    "explain": (
        Example("overthere explain 'http://joe@example.com:80/a/../b?q=1#top'"),
        Example("overthere explain --base http://a/b/c/d ../g"),
        Example("echo 'http://example.com/%zz' | overthere explain", 1),
    ),
    "check": (
        Example("overthere check http://example.com/ 'http://example.com/a b'", 1),
        Example("overthere check --reference ../g '#top'"),
        Example("overthere check --edition url-1994 http://[::1]/", 1),
        Example("overthere check --scheme http:/example.com", 1),
    ),
    "split": (
        Example("overthere split 'http://joe@example.com:8080/a?q=1#top'"),
        Example("printf 'http://a/\\nhttp://b/c\\n' | overthere split --component host"),
        Example("printf 'http://a/b/c\\nhttp://b/\\n' | overthere split --component segment:-1"),
        Example("overthere split --format jsonl mailto:joe@example.com"),
    ),
    "resolve": (
        Example("overthere resolve --base http://a/b/c/d ../g '?y' '#s'"),
        Example("overthere resolve --base http://a/b/c/d --edition url-1997 ../../../g"),
    ),
    "repair": (
        Example("overthere repair 'http://example.com/a b' 'http://example.com/100%'"),
        Example("overthere repair --scheme https www.example.com/x"),
    ),
    "relate": (
        Example("overthere relate --base http://a/b/c/d http://a/b/g http://a/b/c/d?y"),
        Example("overthere relate --form absolute-path --base http://a/b/c/d http://a/b/g"),
    ),
    "normalize": (
        Example("overthere normalize 'HTTP://Example.COM/%7ejoe/./a/../b'"),
        Example("overthere normalize --rung scheme --changes http://example.com:80"),
        Example("printf 'url\\nHTTP://a/\\n' | overthere normalize --column url -"),
    ),
    "canonical": (
        Example("overthere canonical --form surt --key http://www.example.com/a"),
        Example("overthere canonical --form tracking --changes 'http://h/?utm_source=x&id=1'"),
    ),
    "compare": (
        Example("overthere compare http://example.com/%7Ejoe http://EXAMPLE.com/~joe"),
        Example("echo 'http://a http://a:80/' | overthere compare"),
    ),
    "encode": (
        Example("overthere encode 'salt & pepper' 50%"),
        Example("overthere encode --component query --keep / 'a/b c'"),
    ),
    "decode": (Example("overthere decode salt%20%26%20pepper"), Example("overthere decode --charset latin-1 caf%E9")),
    "parameters": (
        Example("overthere parameters 'http://h/?a=1&b=salt+%26+pepper'"),
        Example("overthere parameters --get b 'http://h/?a=1&b=two'"),
        Example("overthere parameters --remove 'utm_*' --set a=2 'http://h/?a=1&utm_source=x'"),
    ),
    "build": (
        Example("overthere build --scheme http --host example.com --segment a/b --pair q='x & y'"),
        Example("overthere build --path ../g --fragment top"),
    ),
    "template": (
        Example("overthere template expand 'http://h/{user}{?q,lang}' user=joe q='a b'"),
        Example("overthere template match 'http://h/{user}{?q}' 'http://h/joe?q=x'"),
    ),
    "template expand": (
        Example("overthere template expand 'http://h{/path*}' path=a path=b"),
        Example("echo '{\"user\": \"joe\"}' | overthere template expand --json 'http://h/{user}'"),
    ),
    "template match": (
        Example("overthere template match 'http://h/{user}{?q}' 'http://h/joe?q=x'"),
        Example("echo http://h/ann | overthere template match 'http://h/{user}' --format jsonl"),
    ),
    "schemes": (Example("overthere schemes gopher"), Example("overthere schemes --format jsonl mailto")),
    "plan": (
        Example("overthere plan ftp://ftp.example.org/pub/charts/tide.txt"),
        Example("overthere plan gopher://gopher.example.org/1/ships"),
    ),
    "get": (
        Example("overthere get data:,ahoy%0A"),
        Example("overthere get --safe http://127.0.0.1/", 1),
        Example("overthere get https://www.example.org/", not_run="it needs a network"),
    ),
    "editions": (
        Example("overthere editions"),
        Example("overthere editions diff url-1997 rfc3986 --rule scheme"),
        Example("overthere editions matrix http://[::1]/ 'http://h/a|b'"),
    ),
    "editions diff": (
        Example("overthere editions diff url-1997 rfc3986 --rule scheme"),
        Example("overthere editions diff uri-2003 rfc3986 --rule port --format jsonl"),
    ),
    "editions matrix": (
        Example("overthere editions matrix http://[::1]/ 'http://h/a|b'"),
        Example("echo http://h:/ | overthere editions matrix"),
    ),
    "find": (
        Example("overthere find examples/post/letter.txt"),
        Example("overthere find --edition rfc1738 examples/post/letter.txt"),
        Example("echo 'See www.w3.org/Addressing/ for more.' | overthere find --abbreviated"),
    ),
    "links": (
        Example(f"overthere links --base {_SITE} examples/site/manual"),
        Example(f"overthere links --base {_SITE} --distinct examples/site"),
        Example(f"overthere links --base {_SITE} --only external --format csv examples/site"),
        Example(f"overthere links --base {_SITE} -o links.csv --plot links.svg examples"),
    ),
    "broken": (
        Example(f"overthere broken --base {_SITE} examples/site", 1),
        Example(f"overthere broken --base {_SITE} --only invalid --format csv examples/site", 1),
        Example("overthere broken --online --cache asked.sqlite examples/site", not_run="it needs a network"),
    ),
    "audit": (
        Example("overthere audit http://joe:secret@127.0.0.1/", 1),
        Example("overthere audit --file examples/post/letter.txt", 1),
    ),
    "serve": (
        Example("overthere serve", not_run="it ends with Ctrl-C"),
        Example("overthere serve --port 0", not_run="it ends with Ctrl-C"),
    ),
    "completion": (
        Example("overthere completion bash > overthere-completion.bash"),
        Example('eval "$(overthere completion bash)"'),
        Example("overthere completion fish > overthere.fish"),
    ),
}


def with_examples(command: click.Command, path: str) -> click.Command:
    """The command and its subcommands, with the examples at the end of their help."""
    lines = [f"  {example.line}" for example in EXAMPLES[path]]
    command.epilog = "\n".join(["\b", "Examples:", *lines])
    command.context_class = Context
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            with_examples(below, f"{path} {name}")
    return command
