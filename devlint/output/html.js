// Shows the findings whose rule and severity are both ticked. Without scripts, the page shows all findings.
"use strict";
const boxes = [...document.querySelectorAll("input[data-kind]")];
const counter = document.querySelector("#shown");
function chooseFindings() {
  const ticked = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  let count = 0;
  for (const section of document.querySelectorAll("section")) {
    let here = 0;
    for (const one of section.querySelectorAll("article")) {
      one.hidden = !(ticked.has(one.dataset.rule) && ticked.has(one.dataset.severity));
      here += one.hidden ? 0 : 1;
    }
    section.hidden = here === 0;
    count += here;
  }
  counter.textContent = `${count} shown`;
}
function tick(chosen, ticked) {
  boxes.filter(chosen).forEach((box) => {
    box.checked = ticked;
  });
  chooseFindings();
}
// A link to a finding that is not shown has its rule and its severity ticked, or it would lead nowhere.
function reveal(link) {
  const one = document.querySelector(link.hash);
  if (one.hidden) tick((box) => [one.dataset.rule, one.dataset.severity].includes(box.value), true);
}
boxes.forEach((box) => box.addEventListener("change", chooseFindings));
document.querySelectorAll("button").forEach((button) => {
  button.addEventListener("click", () => tick((box) => box.dataset.kind === "rule", button.value === "all"));
});
document.querySelectorAll("td a").forEach((link) => link.addEventListener("click", () => reveal(link)));
document.querySelector("form")?.removeAttribute("hidden");
