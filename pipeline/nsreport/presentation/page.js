"use strict";
// Makes each heading of a table a button that sorts its rows, and shows what a cell of the calendar says.

const collator = new Intl.Collator(undefined, { numeric: true });

function readCell(row, columnIndex) {
  const cell = row.cells[columnIndex];
  if (cell.dataset.value) return Number(cell.dataset.value);
  const text = cell.textContent;
  if (text === "–") return null;
  return cell.classList.contains("n") ? Number(text.replaceAll(",", "")) : text;
}

function compareValues(first, second) {
  if (typeof first === "number" && typeof second === "number") return first - second;
  return collator.compare(String(first), String(second));
}

function sortTable(heading) {
  const isDescending = heading.getAttribute("aria-sort") === "ascending";
  for (const other of heading.parentElement.cells) other.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", isDescending ? "descending" : "ascending");
  const body = heading.closest("table").tBodies[0];
  const entries = Array.from(body.rows, (row) => [readCell(row, heading.cellIndex), row]);
  entries.sort(([first], [second]) => {
    // Cells without a value stay at the end.
    if (first === null || second === null) return (first === null) - (second === null);
    return isDescending ? compareValues(second, first) : compareValues(first, second);
  });
  body.append(...entries.map(([, row]) => row));
}

for (const heading of document.querySelectorAll(".sortable thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sortTable(heading));
  heading.append(button);
}

const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);

function showTip({ target }) {
  const cell = target.closest?.(".calendar td");
  tip.hidden = !cell;
  if (!cell) return;
  const day = cell.closest("table").tHead.rows[1].cells[cell.cellIndex - 1].firstChild.dateTime;
  tip.textContent = `${cell.parentElement.cells[0].textContent}, ${day}: ${cell.textContent}`;
  // At the left edge, the tip is as wide as its text.
  tip.style.left = "0";
  const box = cell.getBoundingClientRect();
  const left = Math.min(box.left, innerWidth - tip.offsetWidth - 8);
  const top = box.top > tip.offsetHeight + 8 ? box.top - tip.offsetHeight - 4 : box.bottom + 4;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${top}px`;
}

function moveFocus(event) {
  const cell = event.target.closest(".calendar td");
  if (event.key === "Escape") tip.hidden = true;
  const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [];
  if (!cell || down === undefined) return;
  const row = cell.closest("tbody").rows[cell.parentElement.sectionRowIndex + down];
  const next = row?.cells[cell.cellIndex + right];
  event.preventDefault();
  if (next?.tagName !== "TD") return;
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

for (const calendar of document.querySelectorAll(".calendar")) {
  // Tab reaches one cell, and arrow keys the others. The last days are the ones to see first.
  calendar.tBodies[0].rows[0].cells[1].tabIndex = 0;
  calendar.parentElement.scrollLeft = calendar.offsetWidth;
}
for (const name of ["mouseover", "focusin"]) document.addEventListener(name, showTip);
document.addEventListener("focusout", () => { tip.hidden = true; });
document.addEventListener("keydown", moveFocus);
