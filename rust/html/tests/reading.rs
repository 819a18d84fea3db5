//! Tests of reading the tags and style sheets of a document.

use overthere_html::{read, read_each_tag, Attributes, Element, Namespace, Sink, DEPTH};

#[derive(Default)]
struct All(Vec<String>, Vec<(Namespace, bool, bool, usize)>);

impl Sink for All {
    fn attribute(&mut self, element: Element<'_>, name: &[u8], way: usize, value: &[u8]) {
        let text = String::from_utf8_lossy;
        let (element_name, name, value) = (text(element.name), text(name), text(value));
        self.0.push(format!("{element_name} {name} {way} {value}"));
        self.1.push((element.namespace, element.is_base, element.is_inert, element.at));
    }

    fn end_tag(&mut self) -> bool {
        self.0.last().is_some_and(|last| last == "script type 2 data")
    }

    fn style(&mut self, text: &[u8], _: Option<usize>) {
        self.0.push(format!("style: {}", String::from_utf8_lossy(text)));
    }

    fn script(&mut self, text: &[u8]) {
        self.0.push(format!("script: {}", String::from_utf8_lossy(text)));
    }

    fn no_base(&mut self) {
        self.0.push("no base".to_owned());
    }
}

fn test_attributes() -> Attributes {
    let mut attributes = Attributes::default();
    attributes.add("href", &[], 0);
    attributes.add("data", &["object".to_owned()], 1);
    attributes.add("type", &["script".to_owned()], 2);
    attributes
}

fn all(text: &str) -> Vec<String> {
    let mut sink = All::default();
    read(text.as_bytes(), &test_attributes(), &mut sink);
    sink.0
}

#[test]
fn a_frameset_takes_the_place_of_a_body_and_its_base() {
    let text = "<p><base href=b><input type=Hidden><frameset><base href=c>";
    assert_eq!(all(text), ["base href 0 b", "no base", "base href 0 c"]);
    assert_eq!(all("<base href=b><p><frameset>"), ["base href 0 b"]);
    assert_eq!(all("<p>x<base href=b><frameset>"), ["base href 0 b"]);
}

#[test]
fn attributes_are_found() {
    let text = "<A HREF='x&amp;y' href=z data=d><object data=\"o\" href></a href=n>";
    assert_eq!(all(text), ["a href 0 x&y", "object data 1 o", "object href 0 "]);
}

#[test]
fn what_is_no_markup_is_passed_over() {
    let text = "<!-- <a href=n> --><script>'<a href=n>'</script><textarea><a href=n></textarea>\
                <title><a href=n></title><style>a{b:url(c)}<a href=n></style><a href=y>";
    assert_eq!(all(text), ["style: a{b:url(c)}<a href=n>", "a href 0 y"]);
}

#[test]
fn what_is_no_raw_text_in_svg_is_markup() {
    let text = "<a href=1>b</a><svg><title/><style/><script/><path d=x /></svg><a href=2>";
    assert_eq!(all(text), ["a href 0 1", "a href 0 2"]);
    let text = "<svg><![CDATA[<a href=n>]]><style>a&amp;<!-- b --><![CDATA[c]]></style><a href=1></svg>\
                <![CDATA[<a href=2>]]>";
    assert_eq!(all(text), ["style: a&c", "a href 0 1"]);
}

#[test]
fn the_text_of_a_script_that_is_wanted() {
    let text = "<script type=data>a<!--<script></script>-->&amp;<b href=n></script><script type=x>no</script>\
                <script>no</script><style>s</style><svg><script type=data>no</script></svg><script type=data>\0";
    assert_eq!(
        all(text),
        [
            "script type 2 data",
            "script: a<!--<script></script>-->&amp;<b href=n>",
            "script type 2 x",
            "style: s",
            "script type 2 data",
            "script type 2 data",
            "script: \u{FFFD}"
        ]
    );
}

#[test]
fn no_depth_takes_more_than_its_share() {
    let mut sink = All::default();
    assert!(!read("<p>".repeat(100_000).as_bytes(), &Attributes::default(), &mut sink).is_too_deep);
    assert!(read("<svg><g>".repeat(DEPTH).as_bytes(), &Attributes::default(), &mut sink).is_too_deep);
    assert!(read(b"<!-- <a>", &Attributes::default(), &mut sink).is_unclosed);
    assert!(!read(b"<!-- <a> -->", &Attributes::default(), &mut sink).is_unclosed);
}

#[test]
fn attributes_without_number_take_no_stack() {
    for value in ["\"c\"", "\"\"", "\"&amp;\"", "'c'", "c"] {
        let text = format!("<a {} href={value}>", format!(" b={value}").repeat(300_000));
        let count = std::thread::Builder::new()
            .stack_size(1 << 20)
            .spawn(move || all(&text).len())
            .expect("a thread")
            .join()
            .expect("its answer");
        assert_eq!(count, 1);
    }
}

#[test]
fn a_tag_that_does_not_end_is_none() {
    assert_eq!(all("<a href=x"), [""; 0]);
    assert_eq!(all("<a href=x href"), [""; 0]);
    assert_eq!(all("<style>a"), ["style: a"]);
}

const PIECES: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "/",
    "=",
    "\"",
    "'",
    " ",
    "\n",
    "\r",
    "\r\n",
    "\t",
    "\u{c}",
    "\0",
    "&",
    "&amp;",
    "&lt",
    "é",
    "x",
    "<!--",
    "-->",
    "--!>",
    "<!",
    "<?",
    "<![CDATA[",
    "]]>",
    "<!doctype html>",
    "<a href=1>",
    "<a href='2' b>",
    "<A HREF=3>",
    "<p>",
    "</p>",
    "<P class=\"c\">",
    "<br/>",
    "<br>",
    "<div id=d>",
    "</div>",
    "<b a=b c = 'd' e>",
    "</b>",
    "<i a=\"",
    "<u a='",
    "<svg>",
    "</svg>",
    "<math>",
    "</math>",
    "<mi>",
    "<mtext>",
    "<foreignObject>",
    "</foreignObject>",
    "<title>",
    "</title>",
    "<style>",
    "</style>",
    "<script>",
    "<script type=data>",
    "</script>",
    "<textarea>",
    "</textarea>",
    "<template>",
    "</template>",
    "<base href=b>",
    "<frameset>",
    "<frame>",
    "<body>",
    "</body>",
    "<html>",
    "<head>",
    "<table>",
    "<td>",
    "</table>",
    "<input type=hidden>",
    "<input>",
    "<font color=c>",
    "<annotation-xml encoding=text/html>",
    "<plaintext>",
    "<iframe>",
    "</iframe>",
    "<noframes>",
    "<xmp>",
    "</xmp>",
    "<object data=o>",
    "<li>",
    "<span =href href==a>",
    "<q / href>",
    "<o:p>",
    "<a-b c>",
    "<abcdefghijklmnopqrst>",
    "<h1 a=b/>",
    "</h1 href=x>",
    "<s a=\"b\"c=d/e>",
    "shadowrootmode",
    "<a\0b c>",
];

/// Numbers that follow from a first one (Marsaglia's xorshift).
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// `read` agrees with reading each tag, on random documents; OVERTHERE_SECONDS is the duration.
#[test]
fn tags_that_say_nothing_are_passed_over() {
    let seconds = std::env::var("OVERTHERE_SECONDS").ok().and_then(|text| text.parse().ok());
    let began = std::time::Instant::now();
    let attributes = test_attributes();
    let mut state = 20_261_128;
    let mut tried = 0u64;
    while seconds.map_or(tried < 40_000, |seconds: u64| began.elapsed().as_secs() < seconds) {
        let count = 1 + next(&mut state) % 24;
        let mut text = String::new();
        for _ in 0..count {
            let at = usize::try_from(next(&mut state)).unwrap_or_default() % PIECES.len();
            text.push_str(PIECES.get(at).copied().unwrap_or_default());
        }
        if tried % 97 == 0 {
            text = text.repeat(DEPTH); // deeper elements are forgotten
        }
        let document = format!(
            "{}{text}",
            ["", "<body>", "x<svg><desc>"][usize::try_from(tried % 3).unwrap_or_default()]
        );
        let (mut quick, mut slow) = (All::default(), All::default());
        let notes = read(document.as_bytes(), &attributes, &mut quick);
        let slow_notes = read_each_tag(document.as_bytes(), &attributes, &mut slow);
        assert_eq!((&quick.0, &quick.1), (&slow.0, &slow.1), "{document:?}");
        assert_eq!(
            (notes.is_too_deep, notes.is_unclosed),
            (slow_notes.is_too_deep, slow_notes.is_unclosed),
            "{document:?}"
        );
        tried += 1;
    }
    if seconds.is_some() {
        println!("{tried} documents");
    }
}
