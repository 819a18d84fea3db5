// The search of the site: pages for maintainers come after those for users; the rest is as Sphinx has it.
"use strict";

var Scorer = {
  score: ([page, , , , score]) => (/^(decisions|conformance|map|benchmarks|mutants|design)$/.test(page) ? score - 1000 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
