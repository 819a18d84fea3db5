"""The table of security findings: kind, level, paragraph, and an example of each."""

from __future__ import annotations

from typing import Literal, NamedTuple

Level = Literal["note", "warning", "error"]
LEVELS: tuple[Level, ...] = ("note", "warning", "error")
"""From the least severe to the worst.  error: deceives people or shows a secret; warning: may do so, and is rare in
honest URIs; note: common in honest URIs."""


class Concern(NamedTuple):
    """A row of the table: one kind of finding."""

    level: Level
    message: str
    """`{it}` is replaced by the text that was found, or by a count."""
    component: str
    """The component that it concerns; "any" for all of them."""
    rule: str
    """The rule of the grammar that it concerns, unless the finding names another."""
    source: str
    """Documents and paragraphs."""
    older: str
    """The same in earlier documents; "" if they say nothing about it."""
    means: str
    """The possible consequences, in a few sentences."""
    bad: str
    """A text that has it; "" for the kind "more"."""
    good: str
    """The nearest text without it."""


# The sections on security of the documents before RFC 3986 (in the draft of 1994 without a number).
_PASSWORD = "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.4"
_PORT = "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2"
_ADDRESS = "draft 2003 7.3"
_SEMANTIC = "draft 2003 7.5"

KINDS: dict[str, Concern] = {
    "password": Concern(
        "error", "the userinfo contains a password", "userinfo", "userinfo",
        "RFC 3986 7.5, 3.2.1", _PASSWORD,
        "URIs are displayed, bookmarked and logged in clear text, and the password with them. The password of "
        "anonymous FTP is public (RFC 1738 3.2.1).",
        "ftp://joe:secret@h.example/", "ftp://anonymous:guest@h.example/",
    ),
    "userinfo": Concern(
        "note", "there is userinfo before the host", "userinfo", "userinfo",
        "RFC 3986 7.5, 7.6; RFC 9110 4.2.4", _SEMANTIC,
        "A user name may be secret too, and the text before \"@\" is not the host.",
        "ftp://joe@h.example/", "ftp://h.example/",
    ),
    "userinfo-host": Concern(
        "error", "the userinfo looks like the host {it}", "userinfo", "userinfo",
        "RFC 3986 7.6; RFC 9110 4.2.4", _SEMANTIC,
        "People mistake the userinfo for the host. It differs from a name such as joe.doe in the text after it, "
        "\"www.\", a third label, or a scheme without users (http).",
        "ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm", "ftp://joe.doe@h.example/",
    ),
    "address-rare": Concern(
        "error", "{it} is not an IPv4address of the syntax, but an address to inet_aton", "host", "IPv4address",
        "RFC 3986 7.4", _ADDRESS,
        "A text filter sees a name where system routines see an address.",
        "http://0x7f.1/", "http://192.0.43.8/",
    ),
    "address-loopback": Concern(
        "warning", "the address {it}: the machine that opens the URI", "host", "host",
        "RFC 3986 7.4, 1.1; RFC 6890", _ADDRESS,
        "A server that opens it connects to itself, behind its own firewall.",
        "http://[::ffff:127.0.0.1]/", "http://192.0.43.8/",
    ),
    "address-private": Concern(
        "warning", "the address {it}: a machine in a private network", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "A server that opens it reaches an internal machine that outsiders cannot reach.",
        "http://[64:ff9b::a00:1]/", "http://11.0.0.1/",
    ),
    "address-link-local": Concern(
        "warning", "the address {it}: a machine in the local network", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "A server that opens it reaches an internal machine that outsiders cannot reach.",
        "http://169.254.1.1/", "http://169.253.1.1/",
    ),
    "address-metadata": Concern(
        "error", "the address {it}: a cloud service that hands out credentials", "host", "host",
        "RFC 3986 7.4; overthere", _ADDRESS,
        "A server that opens it can leak its own credentials. The address is a convention; no document defines it.",
        "http://2852039166/latest/meta-data/", "http://169.254.169.253/",
    ),
    "address-special": Concern(
        "note", "the address {it}", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "It is reserved for documentation, multicast, tests or future use; no Internet host has it.",
        "http://192.0.2.16/", "http://192.0.43.8/",
    ),
    "localhost": Concern(
        "warning", "{it} is the machine that opens the URI", "host", "reg-name",
        "RFC 3986 1.1; RFC 6761 6.3", "",
        "A server that opens it connects to itself, behind its own firewall. The host of a file URI may be localhost "
        "(RFC 8089 2).",
        "http://a.localhost/", "http://localhost.example/",
    ),
    "port-mail": Concern(
        "error", "port 25 is the mail port (SMTP)", "port", "port",
        "RFC 3986 7.2", _PORT,
        "The request may be read as SMTP commands and send mail in someone's name.",
        "gopher://h.example:25/0HELO", "smtp://h.example:25/",
    ),
    "port-reserved": Concern(
        "warning", "port {it} is reserved for another protocol", "port", "port",
        "RFC 3986 7.2", _PORT,
        "The request may be read as commands of that protocol. Checked for schemes with a known default port.",
        "http://h.example:22/", "http://h.example:80/",
    ),
    "port-other": Concern(
        "note", "port {it} is not the scheme's default", "port", "port",
        "RFC 3986 7.2", _PORT,
        "Users without access to the reserved ports can run a server there.",
        "http://h.example:8080/", "https://h.example:443/",
    ),
    "port-range": Concern(
        "warning", "{it} is above 65535, so it is not a TCP or UDP port", "port", "port",
        "RFC 3986 3.2.3, 7.2", "",
        "Software that keeps only 16 bits connects to a different port from the one shown.",
        "http://h.example:65616/", "http://h.example:65535/",
    ),
    "encoded-nul": Concern(
        "error", "the escape {it} is a NUL", "any", "pct-encoded",
        "RFC 3986 7.3", "",
        "Software that ends text at a NUL does not see the rest; other software does.",
        "http://h.example/a.php%00.gif", "http://h.example/a%20b",
    ),
    "encoded-line": Concern(
        "warning", "the escapes {it} end a line", "any", "pct-encoded",
        "RFC 3986 7.2, 7.3", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "If decoded too early, they start a new line of a protocol, a header field or a log. In the body of a mailto "
        "URI they are correct (RFC 6068 5).",
        "http://h.example/?q=a%0D%0AX:b", "mailto:joe@h.example?body=a%0D%0Ab",
    ),
    "encoded-line-alone": Concern(
        "note", "the escape {it} is half of a line break, which is %0D%0A", "query", "hfield",
        "RFC 3986 7.2; RFC 6068 5", "",
        "Mail programs differ on whether it ends a line, so the filter of one may miss a line that another shows.",
        "mailto:joe@h.example?body=a%0Ab", "mailto:joe@h.example?body=a%0D%0Ab",
    ),
    "command-lines": Concern(
        "error", "the escapes {it} end a command of the protocol", "any", "pct-encoded",
        "RFC 3986 7.2", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "The rest would be another command: ftp, gopher, news, nntp, telnet, rlogin and tn3270 work line by line.",
        "gopher://h.example/0a%0D%0AMAIL%20FROM:x", "gopher://h.example/7a%09b",
    ),
    "encoded-control": Concern(
        "warning", "the escapes {it} are control characters", "any", "pct-encoded",
        "RFC 3986 7.2, 7.3", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "Terminals and protocols act on them after decoding. A TAB in a gopher URI is a delimiter "
        "(RFC 1738 3.4.2).",
        "http://h.example/%1B%5B2J", "gopher://h.example/7a%09b",
    ),
    "encoded-delimiter": Concern(
        "note", "the escape {it} would be a delimiter if it were decoded", "any", "pct-encoded",
        "RFC 3986 7.3, 2.2", "",
        "Software that decodes before it splits sees other segments, or another host. In ftp, %2F is documented "
        "(RFC 1738 3.2.2).",
        "http://h.example/a%2Fb", "http://h.example/?a%2Fb",
    ),
    "encoded-host": Concern(
        "warning", "the host is written with escapes: {it}", "host", "reg-name",
        "RFC 3986 3.2.2, 7.3", "",
        "Software that compares the text sees a different host from software that decodes it. Before 2003, hosts had "
        "no escapes. `repair(text, idna=True)` and `overthere repair --idna` write the name in A-labels.",
        "http://%65xample.com/", "http://h.example/%65",
    ),
    "encoded-host-delimiter": Concern(
        "error", "the escape {it} in the host would be a delimiter if it were decoded", "host", "reg-name",
        "RFC 3986 7.3, 2.2", "",
        "Software that decodes before it splits connects to another host.",
        "http://good.example%2F@evil.example%23/", "http://h.example/%23",
    ),
    "double-encoding": Concern(
        "warning", "{it} is an escape that was encoded twice", "any", "pct-encoded",
        "RFC 3986 2.4, 7.3", "",
        "Software that decodes twice sees text that a check after the first decoding missed. In a query only control "
        "characters count, because a URI within a query is correctly encoded twice.",
        "http://h.example/%252e%252e/", "http://h.example/?u=http%3A%2F%2Fa%2Fb%2520c",
    ),
    "overlong": Concern(
        "error", "{it} is an overlong UTF-8 form of a US-ASCII character", "any", "pct-encoded",
        "RFC 3987 8; RFC 3629 10", "",
        "Tolerant decoders see \"/\" or \".\" where a check saw none.",
        "http://h.example/%C0%AE%C0%AE/", "http://h.example/%C3%BC",
    ),
    "dot-segments": Concern(
        "warning", "{it} is a dot-segment in a URI that is not relative", "path", "segment",
        "RFC 3986 6.2.2.3, 7.3", "",
        "Clients remove it; other software passes it to a file system.",
        "http://h.example/a/../b", "../b",
    ),
    "dot-segments-encoded": Concern(
        "error", "{it} becomes a dot-segment when it is decoded", "path", "segment",
        "RFC 3986 6.2.2.2, 6.2.2.3, 7.3", "",
        "A check for \"..\" before decoding misses it.",
        "http://h.example/a/%2e%2e/b", "http://h.example/a/%2eb",
    ),
    "bidi-control": Concern(
        "error", "{it} changes the direction of displayed text", "any", "ucschar",
        "RFC 3987 4.1, 8; RFC 3986 2; UAX #9 2", "",
        "People read the text in a different order from software.",
        "http://h.example/\u202egpj.exe", "http://h.example/\u05d0",
    ),
    "invisible": Concern(
        "error", "{it} is invisible when displayed", "any", "ucschar",
        "RFC 3987 8; RFC 3986 2; Unicode Default_Ignorable_Code_Point", "",
        "Two texts that look the same differ. A joiner after a letter beyond US-ASCII belongs to it "
        "(RFC 5892 A.1, A.2).",
        "http://ex\u200bample.com/", "http://h.example/\u0645\u06cc\u200c\u062e\u0648",
    ),
    "encoded-invisible": Concern(
        "warning", "the escapes stand for {it}, which is invisible or changes the direction of displayed text",
        "any", "pct-encoded", "RFC 3987 3.2, 4.1, 8", "",
        "Where escapes are decoded for display, people read something else.",
        "http://h.example/%E2%80%AEgpj.exe", "http://h.example/%E2%82%AC",
    ),
    "non-ascii": Concern(
        "note", "{it} is not a US-ASCII character", "any", "URI-reference",
        "RFC 3986 2; RFC 3987 3.1, 8", "RFC 1738 2.2",
        "An IRI may contain it, but programs encode it as different octets, and similar characters exist.",
        "http://h.example/\u00fc", "http://h.example/%C3%BC",
    ),
    "control": Concern(
        "error", "the text contains the control character {it}", "any", "URI-reference",
        "RFC 3986 2, Appendix C; URL Standard 4.4", "RFC 1738 2.2",
        "Browsers remove tabs and line ends anywhere; other software ends the text there.",
        "http://h.example/\t", "http://h.example/a",
    ),
    "space": Concern(
        "warning", "the text contains a space", "any", "URI-reference",
        "RFC 3986 2, Appendix C", "RFC 1738 2.2",
        "Some software ends the URI there; other software encodes the space and continues.",
        "http://h.example/ b", "http://h.example/%20b",
    ),
    "backslash": Concern(
        "error", "browsers read \"\\\" as \"/\"", "any", "URI-reference",
        "RFC 3986 2, 7.3; URL Standard 4.4", "RFC 1738 2.2",
        "To a browser it may end the host or begin one: /\\h is another host.",
        "/\\evil.example", "/evil.example",
    ),
    "backslash-kept": Concern(
        "warning", "a URI cannot contain \"\\\", and browsers leave it unchanged here", "any", "URI-reference",
        "RFC 3986 2; URL Standard 4.2, 4.4", "RFC 1738 2.2",
        "They read it as \"/\" only after http, https, ws, wss, ftp and file. A text that begins with a letter, a "
        "colon and \"\\\" is a Windows path, and a URI whose scheme is that letter.",
        "C:\\Users\\x", "file:///C:/Users/x",
    ),
    "invalid": Concern(
        "warning", "not a valid URI or IRI: {it}", "any", "URI-reference",
        "RFC 3986 4.1", "",
        "Software that accepts it anyway repairs it in different ways.",
        "http://h.example:8o/", "http://h.example:80/",
    ),
    "host-readings": Concern(
        "error", "software disagrees about the host: {it}", "authority", "authority",
        "RFC 3986 3.2, 7.6; URL Standard 4.4", "",
        "One program checks a host and another connects to a different one. The editions are compared, and browsers "
        "if ada is installed.",
        "ftp://joe?x@h.example/", "http://h.example?x@y",
    ),
    "host-mapped": Concern(
        "warning", "the host becomes {it} when it is looked up", "host", "reg-name",
        "RFC 3987 3.1, 8; UTS 46 4", "",
        "Letters, digits and dots of other widths and shapes become US-ASCII ones after the text was checked.",
        "http://\uff45xample.com/", "http://ex\u00e4mple.com/",
    ),
    "host-script": Concern(
        "note", "the host has non-ASCII letters: {it}", "host", "reg-name",
        "RFC 3987 7.5, 8; UTS 39 5", "",
        "They may look like letters of other scripts.",
        "http://xn--bcher-kva.example/", "http://buecher.example/",
    ),
    "host-mixed-script": Concern(
        "warning", "the host mixes scripts in one label: {it}", "host", "reg-name",
        "RFC 3987 7.5, 8; UTS 39 5.1, 5.2", "",
        "Letters of different scripts look alike. Japanese, Korean and Chinese with Latin are usual (\"highly "
        "restrictive\").",
        "http://p\u0430ypal.com/", "http://\u7231ok.example/",
    ),
    "host-confusable": Concern(
        "error", "the host looks like {it}", "host", "reg-name",
        "RFC 3987 7.5, 8; UTS 39 4", "",
        "Every letter of a label looks like a US-ASCII letter. Checked if confusable_homoglyphs is installed.",
        "http://xn--80ak6aa92e.com/", "http://xn--e1afmkfd.example/",
    ),
    "host-long": Concern(
        "warning", "the host name is too long", "host", "reg-name",
        "RFC 3986 3.2.2; RFC 1034 3.1", "",
        "A label has at most 63 octets. A name has at most 255, including the octet before each label and the last "
        "one: 253 as written. A display shows the beginning, but the end decides which host it is.",
        f"http://{'a' * 64}.example/", f"http://{'a' * 63}.example/",
    ),
    "host-name": Concern(
        "warning", "no Internet host can be named {it}", "host", "reg-name",
        "RFC 3986 3.2.2; RFC 1123 2.1; RFC 5890 2.3", "",
        "Some resolvers look it up anyway and others do not. DNS has no empty label; host labels have letters, "
        "digits and hyphens, no hyphen at either end, and the last one is not a number. Underscores occur and are "
        "not reported. Checked for schemes with a known default port.",
        "http://a..example/", "http://a.example./",
    ),
    "host-scheme": Concern(
        "warning", "the host is {it}, the name of a scheme: two URIs may have run together", "host", "reg-name",
        "RFC 3986 3.2, 4.5", "",
        "The host that people read is in the path; software contacts another one. Reported if an empty port or two "
        "slashes follow.",
        "http://https://bank.example/", "http://news/",
    ),
    "scheme-host": Concern(
        "note", "the scheme {it} looks like a host", "scheme", "scheme",
        "RFC 3986 3.1, 4.5", "",
        "The scheme is missing: http: before a host and a port, ssh: before the short form of scp and git, whose path "
        "then needs a \"/\". The URI is valid, but names something else.",
        "git.example.com:joe/project.git", "ssh://git.example.com/joe/project.git",
    ),
    "host-future": Concern(
        "warning", "the address {it} is of an undefined kind", "host", "IPvFuture",
        "RFC 3986 3.2.2", "draft 2003 3.2.2 has no such address",
        "The version flag sets how to read it, and no version is defined. Software that removes the brackets looks "
        "up a name that the URI chose.",
        "http://[v1.h.example]/", "http://[2606:2800::1]/",
    ),
    "host-zone": Concern(
        "warning", "the address {it} has a zone, and is outside fe80::/10", "host", "IP-literal",
        "RFC 6874 4; RFC 9844", "",
        "A zone names the network interface of a link-local address; other addresses have none. Some programs drop "
        "it, others use the interface that the URI chose, and a text filter does not recognise the address. A plan "
        "is refused.",
        "http://[2606:2800::1%25en0]/", "http://[fe80::1%25en0]/",
    ),
    "device-name": Concern(
        "note", "{it} is a device name of a file system", "path", "segment",
        "RFC 3986 7.3", "",
        "If the path becomes a file path, the system may hang or open something else. Windows ignores everything "
        "after the first dot or colon.",
        "http://h.example/con.txt", "http://h.example/confirm.txt",
    ),
    "script": Concern(
        "error", "the URI is a program that the browser runs", "scheme", "scheme",
        "RFC 3986 7; HTML, javascript: URLs", "",
        "It runs with the rights of the page that has the link. Browsers ignore tabs and line ends in the scheme.",
        "java\tscript:alert(1)", "about:blank",
    ),
    "data": Concern(
        "note", "the URI contains its content", "scheme", "scheme",
        "RFC 2397 6", "",
        "It has no accountable source, and address filters do not see it.",
        "data:,hello", "about:blank",
    ),
    "data-script": Concern(
        "error", "the URI contains its content, which is or contains a program: {it}", "path", "path",
        "RFC 2397 6", "",
        "It may run where it is displayed.",
        "data:text/html,%3Cscript%3E", "data:text/html,%3Cb%3E",
    ),
    "file-host": Concern(
        "warning", "the file is on another host: {it}", "host", "host",
        "RFC 8089 2, 5, E.3", "",
        "Windows connects to that host by SMB and sends the user's credentials.",
        "file://h.example/share/a", "file:///share/a",
    ),
    "secret-parameter": Concern(
        "warning", "the parameter {it} has a value", "query", "query",
        "RFC 3986 7.5; RFC 9110 17.9; RFC 6750 2.3", "",
        "URIs are displayed, bookmarked and logged in clear text, and the value with them. The list of names is our "
        "choice.",
        "http://h.example/?access_token=x", "http://h.example/?access_token=",
    ),
    "long": Concern(
        "note", "the text has {it} characters", "any", "URI-reference",
        "RFC 9110 4.1", "",
        "Only 8000 octets are sure to work everywhere; a part cut off is not checked.",
        f"http://h.example/{'a' * 8000}", "http://h.example/a",
    ),
    "more": Concern(
        "note", "{it} further findings are not listed", "any", "URI-reference", "RFC 3986 7", "",
        "A text can have as many findings as characters.", "", "http://h.example/",
    ),
}  # fmt: skip
"""All kinds of findings of `audit`."""
