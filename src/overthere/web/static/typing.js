// The answer while one types: the same piece of HTML that the server puts into the page, asked for again.
// In a folder without a server a worker with the library in it is asked instead.
"use strict";

(() => {
  const form = document.querySelector("form[data-view]");
  if (!form) return;
  const answer = document.getElementById("answer");
  const status = document.getElementById("status");
  const offline = document.documentElement.hasAttribute("data-offline");
  const view = form.dataset.view;
  const PAUSE = 160; // milliseconds after the last key
  let timer, asked, last = inputs().toString();

  function inputs() {
    const given = new URLSearchParams();
    for (const [name, value] of new FormData(form)) given.append(name, value);
    return given;
  }

  async function fromServer(given, signal) {
    const response = await fetch(`/${view}.part`, { method: "POST", body: given, signal });
    if (!response.ok) throw new Error(`the server answers ${response.status}`);
    return response.text();
  }

  let worker, waiting = new Map(), number = 0;
  function fromWorker(given, signal) {
    if (!worker) {
      const size = document.documentElement.dataset.offline;
      status.textContent = `Python (WebAssembly) and the library are being loaded into this page: ${size}, once. What you type stays here.`;
      worker = new Worker("static/worker.js", { type: "module" });
      worker.onmessage = ({ data }) => {
        const [resolve, reject] = waiting.get(data.number) || [];
        waiting.delete(data.number);
        if (resolve) data.error === undefined ? resolve(data.html) : reject(new Error(data.error));
      };
      worker.onerror = (event) => { for (const [, reject] of waiting.values()) reject(new Error(event.message || "the worker failed")); };
    }
    return new Promise((resolve, reject) => {
      const own = number++;
      waiting.set(own, [resolve, reject]);
      signal.addEventListener("abort", () => { waiting.delete(own); reject(new DOMException("aborted", "AbortError")); });
      worker.postMessage({ number: own, view, given: Object.fromEntries(given) });
    });
  }

  // The same in Python or as a command: the templates of `View`, with the inputs quoted.
  const QUOTES = {
    python: (text) => JSON.stringify(text),
    command: (text) => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`),
  };

  function fill(template, kind) {
    const given = inputs();
    if (![...given.values()].some((value) => value.startsWith("-"))) template = template.replace(" -- ", " ");
    return template
      .replace(/\[([^\]{]*\{(\w+)\}[^\]]*)\]/g, (_, optional, name) => (given.get(name) ? optional : ""))
      .replace(/\{(\w+)\}/g, (_, name) => QUOTES[kind](given.get(name) ?? ""));
  }

  function copyText(title, written) {
    const made = button(title, "", async () => {
      const text = written();
      try {
        await navigator.clipboard.writeText(text);
        status.textContent = made.textContent = title.replace("Copy", "Copied");
      } catch { // no clipboard outside of this machine
        status.textContent = `The browser denies the clipboard. Copy this: ${text}`;
      }
    });
    return made;
  }

  function button(title, label, work) {
    const made = document.createElement("button");
    made.type = "button";
    made.className = "copy";
    made.textContent = title;
    if (label) made.setAttribute("aria-label", label);
    made.addEventListener("click", work);
    return made;
  }

  // A field in place of what a cell shows.
  function putField(cell, label, change) {
    const shown = cell.querySelector("code, .none");
    const field = document.createElement("input");
    field[shown.matches("code") ? "value" : "placeholder"] = shown.textContent;
    field.dir = "ltr";
    field.spellcheck = false;
    field.setAttribute("aria-label", label);
    field.addEventListener("input", () => change(field.value.replace(/\p{Surrogate}/gu, "\ufffd")));
    shown.replaceWith(field);
  }

  function write(text) {
    form.elements.text.value = text;
    form.elements.text.dispatchEvent(new Event("input", { bubbles: true }));
  }

  // What would end the component is escaped: it stays data of it (RFC 3986 2.2).
  const ENDS = { host: /[/?#@\\]|:(?![^[]*\])/g, path: /[?#]/g };

  // What needs this script: buttons that copy, and fields for host, path and the parameters of the query.
  function equip() {
    for (const cell of answer.querySelectorAll("[data-edit]")) {
      const { edit: name, start } = cell.dataset;
      let end = Number(cell.dataset.end);
      putField(cell, `text of the ${name}`, (given) => {
        const whole = given.replace(ENDS[name], encodeURIComponent);
        const text = form.elements.text.value;
        write(text.slice(0, start) + whole + text.slice(end));
        end = cell.dataset.end = Number(start) + whole.length;
      });
    }
    const links = answer.querySelector("[data-link]");
    if (links?.dataset.python) {
      for (const [kind, title] of [["python", "Copy as Python"], ["command", "Copy as command"]]) {
        links.append(copyText(title, () => fill(links.dataset[kind], kind)));
      }
    }
    for (const cell of answer.querySelectorAll("[data-part]")) {
      const { piece, name } = cell.parentElement.dataset;
      const { part } = cell.dataset;
      putField(cell, part === "name" ? `name of parameter ${Number(piece) + 1}` : `value of ${name}`, (given) => edit((pieces) => {
        if (piece >= pieces.length) return;
        const whole = encodeURIComponent(given);
        const at = `${pieces[piece]}=`.indexOf("=");
        pieces[piece] = part === "name" ? (whole + pieces[piece].slice(at) || "=") : `${pieces[piece].slice(0, at)}=${whole}`;
      }));
    }
    for (const row of answer.querySelectorAll("tr[data-piece]")) {
      const piece = Number(row.dataset.piece);
      row.insertCell().append(button("Remove", `Remove ${row.dataset.name || `parameter ${piece + 1}`}`, () => {
        edit((pieces) => pieces.splice(piece, 1));
        wanted = [piece, piece - 1].map((place) => `tr[data-piece="${place}"] button`);
      }));
    }
    for (const one of answer.querySelectorAll("[data-copy]")) one.append(" ", copyText("Copy", () => one.dataset.copy));
    answer.querySelector(".parameters thead tr")?.insertCell();
    answer.querySelector("[data-add]")?.append(button("Add a parameter", "", () => {
      edit((pieces) => { wanted = [`tr[data-piece="${pieces.push("=") - 1}"] [data-part="name"] input`]; });
    }));
  }

  let wanted; // what gets the focus when the answer is there: the first of these that is in it

  // The pieces of the query are changed; what is not changed stays as it is written.
  function edit(change) {
    const [, before, query, after] = /^([^?#]*)(\?[^#]*)?(.*)$/s.exec(form.elements.text.value);
    const pieces = query && query !== "?" ? query.slice(1).split("&") : [];
    change(pieces);
    write(before + (pieces.length ? `?${pieces.join("&")}` : "") + after);
  }

  function sameButtons(wanted) {
    const label = (one) => one.getAttribute("aria-label") || one.textContent;
    return [...answer.querySelectorAll("button")].filter((one) => label(one) === label(wanted));
  }

  // What is shown is busy from the first key on until the answer to the last one is there.
  function showBusy() {
    answer.setAttribute("aria-busy", String(Boolean(timer || asked)));
  }

  function put(html) {
    const made = new DOMParser().parseFromString(html, "text/html");
    if (offline) {
      for (const link of made.querySelectorAll('a[href^="/"]')) {
        const [, name, query] = /^\/([a-z]+)(?:\.json)?(\?.*)?$/s.exec(link.getAttribute("href")) || [];
        if (/\.json(\?|$)/.test(link.getAttribute("href"))) link.remove();
        else link.setAttribute("href", `${name}.html${(query || "").replace("?", "#/")}`);
      }
    }
    const old = answer.querySelector("[data-part] input:focus, [data-edit] input:focus");
    const focused = answer.querySelector("button:focus");
    const position = focused && sameButtons(focused).indexOf(focused);
    const selection = old && [old.selectionStart, old.selectionEnd];
    const { edit: component, part } = old ? old.parentElement.dataset : {};
    const place = component ? `[data-edit="${component}"]` : old && `[data-piece="${old.closest("tr").dataset.piece}"] [data-part="${part}"]`;
    answer.replaceChildren(...made.body.childNodes);
    equip();
    if (wanted) {
      [...wanted, "[data-add] button"].map((one) => answer.querySelector(one)).find(Boolean)?.focus();
      wanted = undefined;
      return;
    }
    if (focused) sameButtons(focused)[position]?.focus({ preventScroll: true });
    const field = old && answer.querySelector(`${place} input`);
    if (component && !field) { // the text is not valid while one types it
      form.elements.text.focus({ preventScroll: true });
      form.elements.text.setSelectionRange(...Array(2).fill(old.parentElement.dataset.end));
    }
    if (field) { // whoever types there goes on typing
      field.value = old.value;
      field.focus({ preventScroll: true });
      field.setSelectionRange(...selection);
    }
  }

  async function ask(remember) {
    const given = inputs();
    asked?.abort();
    const mine = asked = new AbortController();
    answer.classList.add("waiting");
    showBusy();
    try {
      const html = await (offline ? fromWorker : fromServer)(given, mine.signal);
      // Places in an answer to less than what stands there now are not those of the text: the next answer has them.
      if (mine.signal.aborted || given.toString() !== inputs().toString()) return;
      last = given.toString();
      put(html);
      const told = answer.querySelector("[data-summary]");
      status.textContent = told ? told.dataset.summary : "";
      const link = answer.querySelector("[data-link]")?.dataset.link;
      if (remember && link) {
        history.replaceState(null, "", offline ? `${view}.html#/${given}` : link);
        if (form.dataset.title) document.title = form.dataset.title;
      }
      carry(given);
    } catch (error) {
      if (error.name === "AbortError") return;
      status.textContent = `No answer: ${error.message}`;
    } finally {
      if (asked === mine) {
        asked = undefined;
        answer.classList.remove("waiting");
        showBusy();
      }
    }
  }

  // The links to other views take along the text in question.
  function carry(given) {
    const text = given.get("text") || given.get("reference") || given.get("a");
    if (!text || text.length > 4000) return;
    const first = { anatomy: "text", editions: "text", plan: "text", audit: "text", resolution: "reference", ladder: "a" };
    for (const link of document.querySelectorAll("[data-view-link]")) {
      const name = link.dataset.viewLink;
      if (!(name in first)) continue;
      const own = new URLSearchParams({ [first[name]]: text });
      if (first[name] === "a") own.set("b", given.get("b") || text);
      if (given.get("base") && (name === "editions" || name === "resolution")) own.set("base", given.get("base"));
      link.setAttribute("href", `${offline ? `${name}.html#/` : `/${name}?`}${own}`);
    }
  }

  form.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      timer = undefined;
      if (inputs().toString() !== last) ask(true);
      else showBusy();
    }, PAUSE);
    showBusy();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    clearTimeout(timer);
    timer = undefined;
    ask(true);
  });

  equip();
  // Inputs stand behind "#/": no browser sends a fragment.
  function read() {
    const given = new URLSearchParams(location.hash.slice(2));
    let some = false;
    for (const field of form.elements) {
      if (field.name && given.has(field.name)) { field.value = given.get(field.name); some = true; }
    }
    if (some || !form.querySelector("input[value=''], textarea:empty")) {
      ask(false);
    }
  }
  if (offline) {
    addEventListener("hashchange", read);
    read();
  }
})();
