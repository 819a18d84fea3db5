"""The table of security findings: kind, level, paragraph, and an example of each."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["KINDS", "LEVELS", "Concern", "Level"]

Level = Literal["note", "warning", "error"]
LEVELS: tuple[Level, ...] = ("note", "warning", "error")
"""From the least to the worst.  error: somebody is deceived or a secret is shown; warning: it may be so, and honest
URIs seldom have it; note: honest URIs have it often."""


class Concern(NamedTuple):
    """A row of the table: one thing to be careful about."""

    level: Level
    message: str
    """`{it}` stands for what was found."""
    component: str
    """The component it concerns; "any" if it can be found in all of them."""
    rule: str
    source: str
    """Document and paragraph; RFC 3986 first."""
    older: str
    """The same in the documents before it; "" where they do not have it."""
    means: str
    """What can come of it, in a sentence."""
    bad: str
    """A text that has it."""
    good: str
    """The nearest text that has not."""


# Where the documents before RFC 3986 speak of security, by their own numbers (the draft of 1994 has none).
_PASSWORD = "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.4"
_PORT = "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2"
_ADDRESS = "draft 2003 7.3"
_SEMANTIC = "draft 2003 7.5"

KINDS: dict[str, Concern] = {
    "password": Concern(
        "error", "there is a password in the userinfo", "userinfo", "userinfo",
        "RFC 3986 7.5, 3.2.1", _PASSWORD,
        "URIs are displayed, bookmarked and logged in clear text, and the password with them. The password of "
        "anonymous FTP is public (RFC 1738 3.2.1).",
        "ftp://joe:secret@h.example/", "ftp://anonymous:guest@h.example/",
    ),
    "userinfo": Concern(
        "note", "there is userinfo before the host", "userinfo", "userinfo",
        "RFC 3986 7.5, 7.6; RFC 9110 4.2.4", _SEMANTIC,
        "A name may be secret too, and what stands before \"@\" is no host.",
        "ftp://joe@h.example/", "ftp://h.example/",
    ),
    "userinfo-host": Concern(
        "error", "the userinfo looks like the host {it}", "userinfo", "userinfo",
        "RFC 3986 7.6; RFC 9110 4.2.4", _SEMANTIC,
        "A person takes the userinfo for the host. It is told from a name such as joe.doe by what follows it, by "
        "\"www.\", by a third label, or by a scheme that has no users (http).",
        "ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm", "ftp://joe.doe@h.example/",
    ),
    "address-rare": Concern(
        "error", "{it} is no IPv4address of the syntax, but an address to inet_aton", "host", "IPv4address",
        "RFC 3986 7.4", _ADDRESS,
        "A filter of texts sees a name, the system's routines an address.",
        "http://0x7f.1/", "http://192.0.43.8/",
    ),
    "address-loopback": Concern(
        "warning", "the address {it}: the machine of whoever opens it", "host", "host",
        "RFC 3986 7.4, 1.1; RFC 6890", _ADDRESS,
        "A server that opens it asks itself, past its own walls.",
        "http://[::ffff:127.0.0.1]/", "http://192.0.43.8/",
    ),
    "address-private": Concern(
        "warning", "the address {it}: another machine in every network", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "A server that opens it asks a neighbour that strangers cannot reach.",
        "http://[64:ff9b::a00:1]/", "http://11.0.0.1/",
    ),
    "address-link-local": Concern(
        "warning", "the address {it}: a machine on the same wire", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "A server that opens it asks a neighbour that strangers cannot reach.",
        "http://169.254.1.1/", "http://169.253.1.1/",
    ),
    "address-metadata": Concern(
        "error", "the address {it}: where clouds tell a machine its credentials", "host", "host",
        "RFC 3986 7.4; overthere", _ADDRESS,
        "A server that opens it hands out its own credentials. The address itself is custom and in no document.",
        "http://2852039166/latest/meta-data/", "http://169.254.169.253/",
    ),
    "address-special": Concern(
        "note", "the address {it}", "host", "host",
        "RFC 3986 7.4; RFC 6890", _ADDRESS,
        "It is set aside for documentation, multicast, tests or nothing yet, and no host of the Internet has it.",
        "http://192.0.2.16/", "http://192.0.43.8/",
    ),
    "localhost": Concern(
        "warning", "{it} is the machine of whoever opens it", "host", "reg-name",
        "RFC 3986 1.1; RFC 6761 6.3", "",
        "A server that opens it asks itself, past its own walls. The host of a file URI may be localhost "
        "(RFC 8089 2).",
        "http://a.localhost/", "http://localhost.example/",
    ),
    "port-mail": Concern(
        "error", "port 25 is that of mail", "port", "port",
        "RFC 3986 7.2", _PORT,
        "What is sent may be read as commands of SMTP, and send mail in somebody's name.",
        "gopher://h.example:25/0HELO", "smtp://h.example:25/",
    ),
    "port-reserved": Concern(
        "warning", "port {it} is reserved for another protocol than the scheme's", "port", "port",
        "RFC 3986 7.2", _PORT,
        "What is sent may be read as commands of the protocol that is spoken there. Known for schemes that have a "
        "default port here.",
        "http://h.example:22/", "http://h.example:80/",
    ),
    "port-other": Concern(
        "note", "port {it} is not the scheme's default", "port", "port",
        "RFC 3986 7.2", _PORT,
        "Whoever has no right to the reserved ports may offer something there.",
        "http://h.example:8080/", "https://h.example:443/",
    ),
    "port-range": Concern(
        "warning", "{it} is above 65535: no port of TCP or UDP", "port", "port",
        "RFC 3986 3.2.3, 7.2", "",
        "Readers that keep 16 bits of it ask another port than is shown.",
        "http://h.example:65616/", "http://h.example:65535/",
    ),
    "encoded-nul": Concern(
        "error", "the escape {it} is a NUL", "any", "pct-encoded",
        "RFC 3986 7.3", "",
        "Where texts end at a NUL, what follows is not seen by one reader and is by another.",
        "http://h.example/a.php%00.gif", "http://h.example/a%20b",
    ),
    "encoded-line": Concern(
        "warning", "the escapes {it} end a line", "any", "pct-encoded",
        "RFC 3986 7.2, 7.3", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "Decoded too early, they begin another line of a protocol, a header field or a log. In the body of a "
        "mailto URI they are what they should be (RFC 6068 5).",
        "http://h.example/?q=a%0D%0AX:b", "mailto:joe@h.example?body=a%0D%0Ab",
    ),
    "encoded-line-alone": Concern(
        "note", "the escape {it} is half of a line break, which is %0D%0A", "query", "hfield",
        "RFC 3986 7.2; RFC 6068 5", "",
        "Mail programs differ on whether it ends a line, and a filter of one may miss a line that another has.",
        "mailto:joe@h.example?body=a%0Ab", "mailto:joe@h.example?body=a%0D%0Ab",
    ),
    "command-lines": Concern(
        "error", "the escapes {it} end a command of the protocol", "any", "pct-encoded",
        "RFC 3986 7.2", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "What follows would be another command: ftp, gopher, news, nntp, telnet, rlogin and tn3270 speak in lines.",
        "gopher://h.example/0a%0D%0AMAIL%20FROM:x", "gopher://h.example/7a%09b",
    ),
    "encoded-control": Concern(
        "warning", "the escapes {it} are control characters", "any", "pct-encoded",
        "RFC 3986 7.2, 7.3", "draft 1994 Security; RFC 1738 6; draft 1997 7; draft 2003 7.2",
        "Terminals and protocols act on them once they are decoded. A TAB in a gopher URI is a delimiter "
        "(RFC 1738 3.4.2).",
        "http://h.example/%1B%5B2J", "gopher://h.example/7a%09b",
    ),
    "encoded-delimiter": Concern(
        "note", "the escape {it} would be a delimiter if it were decoded", "any", "pct-encoded",
        "RFC 3986 7.3, 2.2", "",
        "A reader that decodes before it splits sees other segments, or another host. In ftp, %2F is documented "
        "(RFC 1738 3.2.2).",
        "http://h.example/a%2Fb", "http://h.example/?a%2Fb",
    ),
    "encoded-host": Concern(
        "warning", "the host is written with escapes: {it}", "host", "reg-name",
        "RFC 3986 3.2.2, 7.3", "",
        "Readers that compare texts see another host than those that decode; before 2003 no host had escapes.",
        "http://%65xample.com/", "http://h.example/%65",
    ),
    "encoded-host-delimiter": Concern(
        "error", "the escape {it} in the host would be a delimiter if it were decoded", "host", "reg-name",
        "RFC 3986 7.3, 2.2", "",
        "A reader that decodes before it splits asks another host.",
        "http://good.example%2F@evil.example%23/", "http://h.example/%23",
    ),
    "double-encoding": Concern(
        "warning", "{it} is an escape that was encoded once more", "any", "pct-encoded",
        "RFC 3986 2.4, 7.3", "",
        "A reader that decodes twice sees what a check after the first time did not. In a query only control "
        "characters count: a URI in a URI's query is encoded twice by right.",
        "http://h.example/%252e%252e/", "http://h.example/?u=http%3A%2F%2Fa%2Fb%2520c",
    ),
    "overlong": Concern(
        "error", "{it} is a longer form of a US-ASCII character than UTF-8 has", "any", "pct-encoded",
        "RFC 3987 8; RFC 3629 10", "",
        "Tolerant decoders see \"/\" or \".\" where a check saw none.",
        "http://h.example/%C0%AE%C0%AE/", "http://h.example/%C3%BC",
    ),
    "dot-segments": Concern(
        "warning", "{it} is a dot-segment in a URI that is not relative", "path", "segment",
        "RFC 3986 6.2.2.3, 7.3", "",
        "Clients remove it, others take it to a file system.",
        "http://h.example/a/../b", "../b",
    ),
    "dot-segments-encoded": Concern(
        "error", "{it} becomes a dot-segment when it is decoded", "path", "segment",
        "RFC 3986 6.2.2.2, 6.2.2.3, 7.3", "",
        "A check for \"..\" that comes before decoding does not see it.",
        "http://h.example/a/%2e%2e/b", "http://h.example/a/%2eb",
    ),
    "bidi-control": Concern(
        "error", "{it} changes the direction of what is displayed", "any", "ucschar",
        "RFC 3987 4.1, 8; RFC 3986 2; UAX #9 2", "",
        "What a person reads is in another order than what is opened.",
        "http://h.example/\u202egpj.exe", "http://h.example/\u05d0",
    ),
    "invisible": Concern(
        "error", "{it} is not seen when it is displayed", "any", "ucschar",
        "RFC 3987 8; RFC 3986 2; Unicode Default_Ignorable_Code_Point", "",
        "Two texts that look the same are not. A joiner after a letter beyond US-ASCII belongs to it "
        "(RFC 5892 A.1, A.2).",
        "http://ex\u200bample.com/", "http://h.example/\u0645\u06cc\u200c\u062e\u0648",
    ),
    "encoded-invisible": Concern(
        "warning", "the escapes stand for {it}, which is not seen or changes the direction when it is displayed",
        "any", "pct-encoded", "RFC 3987 3.2, 4.1, 8", "",
        "Where escapes are decoded to be displayed, a person reads something else.",
        "http://h.example/%E2%80%AEgpj.exe", "http://h.example/%E2%82%AC",
    ),
    "non-ascii": Concern(
        "note", "{it} is not a US-ASCII character", "any", "URI-reference",
        "RFC 3986 2; RFC 3987 3.1, 8", "RFC 1738 2.2",
        "An IRI may have it; which octets it becomes, and what looks like it, is for each reader to know.",
        "http://h.example/\u00fc", "http://h.example/%C3%BC",
    ),
    "control": Concern(
        "error", "the control character {it} stands in the text", "any", "URI-reference",
        "RFC 3986 2, Appendix C; URL Standard 4.4", "RFC 1738 2.2",
        "Browsers take tabs and line ends out, wherever they stand; others end the text there.",
        "http://h.example/\t", "http://h.example/a",
    ),
    "space": Concern(
        "warning", "a space stands in the text", "any", "URI-reference",
        "RFC 3986 2, Appendix C", "RFC 1738 2.2",
        "One reader ends the URI there, another encodes it and goes on.",
        "http://h.example/ b", "http://h.example/%20b",
    ),
    "backslash": Concern(
        "error", "browsers read \"\\\" as \"/\"", "any", "URI-reference",
        "RFC 3986 2, 7.3; URL Standard 4.4", "RFC 1738 2.2",
        "For a browser it may end the host, or begin one: /\\h is another host.",
        "/\\evil.example", "/evil.example",
    ),
    "backslash-kept": Concern(
        "warning", "no URI holds \"\\\", and browsers leave it as it is here", "any", "URI-reference",
        "RFC 3986 2; URL Standard 4.2, 4.4", "RFC 1738 2.2",
        "They read it as \"/\" behind http, https, ws, wss, ftp and file only. What begins with a letter, a colon and "
        "\"\\\" is a path of Windows, and a URI of the scheme of that letter.",
        "C:\\Users\\x", "file:///C:/Users/x",
    ),
    "invalid": Concern(
        "warning", "no URI, and no IRI: {it}", "any", "URI-reference",
        "RFC 3986 4.1", "",
        "Readers that go on nevertheless repair it differently.",
        "http://h.example:8o/", "http://h.example:80/",
    ),
    "host-readings": Concern(
        "error", "readers disagree about the host: {it}", "authority", "authority",
        "RFC 3986 3.2, 7.6; URL Standard 4.4", "",
        "One reader judges a host and another asks a different one. The editions are compared, and browsers where "
        "ada is installed.",
        "ftp://joe?x@h.example/", "http://h.example?x@y",
    ),
    "host-mapped": Concern(
        "warning", "the host becomes {it} when it is looked up", "host", "reg-name",
        "RFC 3987 3.1, 8; UTS 46 4", "",
        "Letters, digits and dots of other widths and shapes become those of US-ASCII, after the text was judged.",
        "http://\uff45xample.com/", "http://ex\u00e4mple.com/",
    ),
    "host-script": Concern(
        "note", "the host has letters beyond US-ASCII: {it}", "host", "reg-name",
        "RFC 3987 7.5, 8; UTS 39 5", "",
        "They may look like others.",
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
        "Every letter of a label has one of US-ASCII that looks the same. Told where confusable_homoglyphs is "
        "installed.",
        "http://xn--80ak6aa92e.com/", "http://xn--e1afmkfd.example/",
    ),
    "host-long": Concern(
        "warning", "the host is longer than a name can be", "host", "reg-name",
        "RFC 3986 3.2.2; RFC 1034 3.1", "",
        "A label has 63 octets, a name 255 with the octet before each label and the last: 253 as it is written. A "
        "display shows the beginning, and the end says who is asked.",
        f"http://{'a' * 64}.example/", f"http://{'a' * 63}.example/",
    ),
    "host-name": Concern(
        "warning", "no host of the Internet is called {it}", "host", "reg-name",
        "RFC 3986 3.2.2; RFC 1123 2.1; RFC 5890 2.3", "",
        "One resolver asks for it all the same and another does not. DNS has no empty label; hosts have letters, "
        "digits and hyphens, no hyphen at the ends of a label and no last label of digits. The underscore is met, "
        "and not told. Known for schemes that have a default port here.",
        "http://a..example/", "http://a.example./",
    ),
    "host-scheme": Concern(
        "warning", "the host is {it}, the name of a scheme: two URIs may have run together", "host", "reg-name",
        "RFC 3986 3.2, 4.5", "",
        "The host that a person reads stands in the path, and another is asked. It is told where an empty port or "
        "two slashes follow.",
        "http://https://bank.example/", "http://news/",
    ),
    "scheme-host": Concern(
        "note", "the scheme {it} looks like a host", "scheme", "scheme",
        "RFC 3986 3.1, 4.5", "",
        "Somebody has left the scheme out: of a host and a port, http:; of a place as scp and git write it, ssh:, "
        "where \"/\" stands before the path. The URI is valid, and names something else.",
        "git.example.com:joe/project.git", "ssh://git.example.com/joe/project.git",
    ),
    "host-future": Concern(
        "warning", "the address {it} is of a kind that nobody knows", "host", "IPvFuture",
        "RFC 3986 3.2.2", "draft 2003 3.2.2 has no such address",
        "The version flag says how it is to be read, and none has been given a meaning. Who takes off the brackets "
        "asks a name of the URI's choosing.",
        "http://[v1.h.example]/", "http://[2606:2800::1]/",
    ),
    "host-zone": Concern(
        "warning", "the address {it} has a zone, and is outside fe80::/10", "host", "IP-literal",
        "RFC 6874 4; RFC 9844", "",
        "A zone says which wire of this machine an address is on; others have none. One program drops it, another "
        "asks by a wire of the URI's choosing, and a filter of texts does not know the address again. A plan is "
        "refused.",
        "http://[2606:2800::1%25en0]/", "http://[fe80::1%25en0]/",
    ),
    "device-name": Concern(
        "note", "{it} is a device of a file system", "path", "segment",
        "RFC 3986 7.3", "",
        "Where a path becomes one of files, the system may pause, or open something else. On Windows whatever "
        "follows the first dot or colon does not count.",
        "http://h.example/con.txt", "http://h.example/confirm.txt",
    ),
    "script": Concern(
        "error", "what follows is a program for the browser that opens it", "scheme", "scheme",
        "RFC 3986 7; HTML, javascript: URLs", "",
        "It runs in the name of the page that has the link. Browsers see the scheme through tabs and line ends.",
        "java\tscript:alert(1)", "about:blank",
    ),
    "data": Concern(
        "note", "the content stands in the URI itself", "scheme", "scheme",
        "RFC 2397 6", "",
        "Nobody answers for it, and what filters addresses does not see it.",
        "data:,hello", "about:blank",
    ),
    "data-script": Concern(
        "error", "the content stands in the URI, and is a program or holds one: {it}", "path", "path",
        "RFC 2397 6", "",
        "It may run where it is shown.",
        "data:text/html,%3Cscript%3E", "data:text/html,%3Cb%3E",
    ),
    "file-host": Concern(
        "warning", "a file on another host: {it}", "host", "host",
        "RFC 8089 2, 5, E.3", "",
        "Windows asks that host by SMB, and presents the user's credentials.",
        "file://h.example/share/a", "file:///share/a",
    ),
    "secret-parameter": Concern(
        "warning", "the parameter {it} has a value", "query", "query",
        "RFC 3986 7.5; RFC 9110 17.9; RFC 6750 2.3", "",
        "URIs are displayed, bookmarked and logged in clear text, and the value with them. Which names are meant is "
        "our choice.",
        "http://h.example/?access_token=x", "http://h.example/?access_token=",
    ),
    "long": Concern(
        "note", "the text has {it} characters", "any", "URI-reference",
        "RFC 9110 4.1", "",
        "No more than 8000 octets are sure to be understood everywhere; what is cut off is not judged.",
        f"http://h.example/{'a' * 8000}", "http://h.example/a",
    ),
    "more": Concern(
        "note", "{it} further findings are not listed", "any", "URI-reference", "RFC 3986 7", "",
        "A text can have as many as it has characters.", "", "http://h.example/",
    ),
}  # fmt: skip
"""All that `audit` can say, by kind."""
