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
boxes.forEach((box) => box.addEventListener("change", chooseFindings));
document.querySelector("form")?.removeAttribute("hidden");
