"use strict";
// Makes each heading of a table a button that sorts its rows: up at first, down the next time.

const collator = new Intl.Collator(undefined, { numeric: true });

function readCell(row, columnIndex) {
  const cell = row.cells[columnIndex];
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

for (const heading of document.querySelectorAll("thead th")) {
  const button = document.createElement("button");
  button.type = "button";
  button.append(...heading.childNodes);
  button.addEventListener("click", () => sortTable(heading));
  heading.append(button);
}
