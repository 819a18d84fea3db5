"use strict";
const form = document.querySelector("form");
const shown = form.querySelector("output");
const sections = [...document.querySelectorAll("section")].map((section) => {
  const source = section.querySelector("h2").textContent;
  const items = [...section.querySelectorAll("li")].map((item) => ({
    item, level: item.dataset.level, kind: item.dataset.kind, text: (source + "\n" + item.textContent).toLowerCase(),
  }));
  return { section, items };
});

function filter() {
  const text = form.elements.text.value.trim().toLowerCase();
  const level = form.elements.level.value;
  const kind = form.elements.kind.value;
  let count = 0;
  let total = 0;
  for (const { section, items } of sections) {
    let some = 0;
    for (const one of items) {
      const fits = (!level || one.level === level) && (!kind || one.kind === kind) && one.text.includes(text);
      one.item.hidden = !fits;
      some += fits;
    }
    section.hidden = some === 0;
    count += some;
    total += items.length;
  }
  shown.textContent = `${count} of ${total} findings shown`;
}

form.hidden = false;
form.addEventListener("input", filter);
form.addEventListener("submit", (event) => event.preventDefault());
filter();
